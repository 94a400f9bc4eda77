import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { invoiceCalls, mostAtOnce } from '#contract/invoices.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { send, sendOnce } from '#web/platform/send.ts'
import type { CheckedRow } from './import-rows.ts'

/** Few enough that the bar moves, many enough that thousands do not take minutes; far below what a call may weigh. */
const atOnce = 200

export interface LeftOut {
  line: CheckedRow
  message: string
}

export interface Import {
  state: 'idle' | 'running' | 'broken' | 'stopped' | 'done'
  total: number
  sent: number
  created: string[]
  leftOut: LeftOut[]
  problem: string | null
  /** Of so many lines it is not known whether they arrived: the connection broke before their answer came. */
  unsure: number
}

const idle: Import = { state: 'idle', total: 0, sent: 0, created: [], leftOut: [], problem: null, unsure: 0 }

export interface Importing extends Import {
  start: (lines: CheckedRow[], keepDuplicates: boolean) => void
  /** Goes on where it broke off or was stopped. */
  goOn: () => void
  stop: () => void
  /** Deletes what was imported, and answers how many invoices that were. */
  undo: () => Promise<number>
}

/** A file on its way. `whole` became of the parts that were answered, `half` of the one that broke off. */
interface Sending {
  key: string
  list: CheckedRow[]
  keepDuplicates: boolean
  whole: string[]
  half: string[]
  undone: Set<string>
}

const nothing: Sending = { key: '', list: [], keepDuplicates: false, whole: [], half: [], undone: new Set() }

/**
 * Sends the lines of a file, part by part, and keeps what became of each. Each part has a key of its own, by which the server knows it again: sent
 * once more after the connection broke, it is answered with the invoices that it has become already.
 */
export function useImport(): Importing {
  const queries = useQueryClient()
  const [shown, setShown] = useState(idle)
  const now = useRef(idle)
  const sending = useRef(nothing)
  const stopping = useRef(false)
  const show = useCallback((change: Partial<Import>) => {
    const { whole, half, undone } = sending.current
    now.current = { ...now.current, ...change, created: [...whole, ...half].filter((id) => !undone.has(id)) }
    setShown(now.current)
  }, [])
  // Nobody is told any more what becomes of the rest.
  useEffect(() => {
    stopping.current = false
    return () => {
      stopping.current = true
    }
  }, [])
  const refresh = () => invalidate(queries, [invoiceCalls.list])
  const keyOfPart = () => `import-${sending.current.key}-${now.current.sent}`

  const run = async () => {
    const all = sending.current
    stopping.current = false
    show({ state: 'running', problem: null })
    try {
      while (now.current.sent < all.list.length && !stopping.current) {
        const part = all.list.slice(now.current.sent, now.current.sent + atOnce)
        const body = { lines: part.map(({ draft }) => draft), keepDuplicates: all.keepDuplicates }
        const { lines: said } = await sendOnce(invoiceCalls.import, { body }, keyOfPart())
        const leftOut = said.flatMap((one): LeftOut[] => {
          const line = part[one.line - 1]
          return 'message' in one && line ? [{ line, message: one.message }] : []
        })
        all.whole.push(...said.flatMap((one) => ('_id' in one ? one._id : [])))
        all.half = []
        show({ sent: now.current.sent + part.length, leftOut: [...now.current.leftOut, ...leftOut], unsure: 0 })
      }
      await refresh()
      show({ state: now.current.sent < all.list.length ? 'stopped' : 'done' })
    } catch (error) {
      show({ state: 'broken', problem: errorMessage(error), unsure: Math.min(atOnce, all.list.length - now.current.sent) })
      const broken = now.current
      const half = await readHalf().catch(() => null)
      // Meanwhile it may have been told to go on.
      if (half && now.current === broken) learn(half)
      await refresh()
    }
  }

  const readHalf = async () => {
    try {
      return (await send(invoiceCalls.imported, { params: { key: keyOfPart() } })).map(({ _id }) => _id)
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return []
      throw error
    }
  }

  const learn = (half: string[]) => {
    sending.current.half = half
    show({ unsure: 0 })
  }

  return {
    ...shown,
    start: (list, keepDuplicates) => {
      const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('')
      sending.current = { key, list, keepDuplicates, whole: [], half: [], undone: new Set() }
      now.current = { ...idle, total: list.length }
      void run()
    },
    goOn: () => void run(),
    stop: () => {
      stopping.current = true
    },
    undo: async () => {
      if (now.current.state === 'broken') learn(await readHalf())
      const { undone } = sending.current
      const { created } = now.current
      for (let start = 0; start < created.length; start += mostAtOnce) {
        const ids = created.slice(start, start + mostAtOnce)
        await send(invoiceCalls.bulkChange, { body: { ids, change: { do: 'delete' } } })
        for (const id of ids) undone.add(id)
        show({})
      }
      await refresh()
      return undone.size
    },
  }
}
