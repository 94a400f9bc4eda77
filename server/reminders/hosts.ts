import { systemTimers } from '#server/platform/clock.ts'

/** Allows one mailbox to connect. Must be answered by exactly one of these; only the first one counts. */
export interface ConnectPass {
  connected(): void
  /** The host could not be reached: no TCP, TLS or greeting. `reply`: why, in words. */
  failed(reply: string): void
  /** Nothing was learned. */
  leave(): void
}

/** `down`: it did not answer others, in these words. `busy`: too many wait already. */
export type Entry = { pass: ConnectPass } | { down: string } | { busy: true }

export interface Hosts {
  /** Waits until a mailbox at this host may connect, or answers why it may not now. */
  enter(host: string): Promise<Entry>
  /** What is known of each host. */
  state(): { name: string; down: boolean; waiting: number }[]
  /** Ends all waiting: the process stops. */
  close(): void
}

/** The first connections to a host that was not used before; each one that is ready admits one more (as Postfix does). */
const firstWindow = 5
/** After so many failed connections in a row, one mailbox at a time asks again, so often in ms: at most ten tries in the first minute. */
const failuresInARow = 3
const probeEveryMs = 15_000
/** Mailboxes that wait for one host. */
const mostWaiting = 1_000
/** A host without use for so many ms is forgotten. */
const remembered = 600_000

interface Host {
  connecting: number
  window: number
  failures: number
  /** The words of the last failure. */
  reply: string
  probeAt: number
  waiting: ((entry: Entry) => void)[]
  usedAt: number
}

/**
 * What this process knows of mail hosts, from every mailbox there: one that is down is not discovered by each of its mailboxes, and one that
 * is unknown does not get a thousand connections at once. `onUp` is called when a host that was down answers again.
 */
export function openHosts(onUp: (host: string) => void, timers = systemTimers): Hosts {
  const hosts = new Map<string, Host>()
  let closed = false

  const passOf = (name: string, host: Host): ConnectPass => {
    let open = true
    const end = (change: () => void) => {
      if (!open) return
      open = false
      host.connecting -= 1
      change()
      admit(name, host)
    }
    host.connecting += 1
    return {
      connected: () =>
        end(() => {
          const wasDown = host.failures >= failuresInARow
          host.failures = 0
          host.window += 1
          if (wasDown) onUp(name)
        }),
      failed: (reply) =>
        end(() => {
          host.failures += 1
          host.reply = reply
          host.window = host.failures === 1 ? Math.ceil(host.window / 2) : Math.min(host.window, firstWindow)
          if (host.failures < failuresInARow) return
          host.probeAt = timers.elapsed() + probeEveryMs
          for (const go of host.waiting.splice(0)) go({ down: reply })
        }),
      leave: () => end(() => undefined),
    }
  }
  const admit = (name: string, host: Host): void => {
    while (host.connecting < host.window && host.waiting.length > 0) host.waiting.shift()?.({ pass: passOf(name, host) })
  }

  return {
    async enter(name) {
      const now = timers.elapsed()
      for (const [other, { connecting, waiting, usedAt }] of hosts)
        if (connecting === 0 && waiting.length === 0 && now - usedAt > remembered) hosts.delete(other)
      const host = hosts.get(name) ?? { connecting: 0, window: firstWindow, failures: 0, reply: '', probeAt: 0, waiting: [], usedAt: now }
      hosts.set(name, host)
      host.usedAt = now
      if (host.failures >= failuresInARow) {
        if (host.connecting > 0 || now < host.probeAt) return { down: host.reply }
        return { pass: passOf(name, host) }
      }
      if (host.connecting < host.window) return { pass: passOf(name, host) }
      if (closed || host.waiting.length >= mostWaiting) return { busy: true }
      return new Promise((go) => host.waiting.push(go))
    },
    state: () => [...hosts].map(([name, { failures, waiting }]) => ({ name, down: failures >= failuresInARow, waiting: waiting.length })),
    close() {
      closed = true
      for (const { waiting } of hosts.values()) for (const go of waiting.splice(0)) go({ busy: true })
    },
  }
}
