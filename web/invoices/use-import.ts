import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { invoiceCalls, mostAtOnce } from '#contract/invoices.ts'
import { inWords } from '#web/platform/problem.ts'
import { queryKey } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import type { Judged } from './import-lines.ts'

/** Few enough that the bar moves, many enough that thousands do not take minutes; far below what a call may weigh. */
const atOnce = 200

export interface LeftOut {
  line: Judged
  message: string
}

export interface Import {
  state: 'idle' | 'running' | 'broken' | 'stopped' | 'done'
  total: number
  sent: number
  created: string[]
  leftOut: LeftOut[]
  problem: string | null
}

const idle: Import = { state: 'idle', total: 0, sent: 0, created: [], leftOut: [], problem: null }

export interface Importing extends Import {
  start: (lines: Judged[], keepDuplicates: boolean) => void
  /** Goes on where it broke off or was stopped. */
  goOn: () => void
  stop: () => void
  /** Deletes what was imported. */
  undo: () => Promise<void>
}

/** Sends the lines of a file, part by part, and keeps what became of each. */
export function useImport(): Importing {
  const queries = useQueryClient()
  const [shown, setShown] = useState(idle)
  const now = useRef(idle)
  const lines = useRef<{ list: Judged[]; keep: boolean }>({ list: [], keep: false })
  const stopping = useRef(false)
  const show = useCallback((change: Partial<Import>) => {
    now.current = { ...now.current, ...change }
    setShown(now.current)
  }, [])
  const refresh = () => queries.invalidateQueries({ queryKey: queryKey(invoiceCalls.list) })

  const run = async (from: 'start' | 'stop' | 'break') => {
    const { list, keep } = lines.current
    stopping.current = false
    show({ state: 'running', problem: null })
    // Of the part that broke off, some may have been written down: its duplicates are most likely these.
    let keepDuplicates = keep && from !== 'break'
    try {
      while (now.current.sent < list.length && !stopping.current) {
        const part = list.slice(now.current.sent, now.current.sent + atOnce)
        const { lines: said } = await send(invoiceCalls.import, { body: { lines: part.map(({ draft }) => draft), keepDuplicates } })
        keepDuplicates = keep
        const created = said.flatMap((one) => ('_id' in one ? one._id : []))
        const leftOut = said.flatMap((one): LeftOut[] => {
          const line = part[one.line - 1]
          return 'message' in one && line ? [{ line, message: one.message }] : []
        })
        show({
          sent: now.current.sent + part.length,
          created: [...now.current.created, ...created],
          leftOut: [...now.current.leftOut, ...leftOut],
        })
      }
      await refresh()
      show({ state: now.current.sent < list.length ? 'stopped' : 'done' })
    } catch (error) {
      await refresh()
      show({ state: 'broken', problem: inWords(error) })
    }
  }

  return {
    ...shown,
    start: (list, keep) => {
      lines.current = { list, keep }
      now.current = { ...idle, total: list.length }
      void run('start')
    },
    goOn: () => void run(now.current.state === 'broken' ? 'break' : 'stop'),
    stop: () => {
      stopping.current = true
    },
    undo: async () => {
      const { created } = now.current
      for (let start = 0; start < created.length; start += mostAtOnce)
        await send(invoiceCalls.changeMany, { body: { ids: created.slice(start, start + mostAtOnce), change: { do: 'delete' } } })
      await refresh()
    },
  }
}
