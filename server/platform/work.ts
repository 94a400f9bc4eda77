import { AsyncLocalStorage, createHook } from 'node:async_hooks'

/** What a call takes from all others: the thread that answers them. */
export interface Work {
  /** Milliseconds of CPU of this thread, as far as they were measured. */
  ms: number
}

const working = new AsyncLocalStorage<Work>()
let measured = 0
let running: Work | undefined
let since = 0

/** CPU and not time: a stretch also lasts while other programs of the machine run. Waiting uses none. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** What ran until now worked for `running`; `next` is what runs from now on. */
function switchTo(next: Work | undefined): void {
  if (next === running) return
  const now = cpuMs()
  if (running) running.ms += now - since
  since = now
  running = next
}

/** Slows each `await` of the process by a fraction of a microsecond, so it is on only while a call is measured. */
const switches = createHook({ before: () => switchTo(working.getStore()) })

/** Runs a call whose work can be measured, from here to the end of its answer. */
export function asWork<T>(work: () => T): T {
  return working.run({ ms: 0 }, work)
}

/** The work of the running call. */
export function ownWork(): Work {
  return working.getStore() ?? { ms: 0 }
}

/** Measures from now on what each stretch of the running call takes; answers how to end that, once. */
export function measureWork(): () => void {
  if (measured === 0) switches.enable()
  measured += 1
  switchTo(working.getStore())
  let ended = false
  return () => {
    if (ended) return
    ended = true
    switchTo(undefined)
    measured -= 1
    if (measured === 0) switches.disable()
  }
}
