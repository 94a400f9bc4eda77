import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { invoiceCalls, mostAtOnce } from '#contract/invoices.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { patiently, send, sendIdempotent } from '#web/platform/send.ts'
import type { CheckedRow } from './import-rows.ts'

/** Small enough that the progress bar moves, large enough that thousands of rows do not take minutes. */
const batchSize = 200

interface Progress {
  state: 'idle' | 'running' | 'broken' | 'stopped' | 'done'
  total: number
  sent: number
  created: string[]
  skipped: { row: CheckedRow; message: string }[]
  problem: string | null
  /** How many rows may or may not be saved, because the connection broke before their answer came. */
  unsure: number
}

const idle: Progress = { state: 'idle', total: 0, sent: 0, created: [], skipped: [], problem: null, unsure: 0 }

export interface Import extends Progress {
  start: (rows: CheckedRow[], keepDuplicates: boolean) => void
  /** Continues where the import was interrupted or stopped. */
  resume: () => void
  stop: () => void
  /** Deletes the imported invoices; returns how many there were. */
  undo: () => Promise<number>
}

interface Upload {
  key: string
  rows: CheckedRow[]
  keepDuplicates: boolean
  /** The invoices of answered batches. */
  confirmed: string[]
  /** The invoices of the interrupted batch. */
  recovered: string[]
  undone: Set<string>
}

const noUpload: Upload = { key: '', rows: [], keepDuplicates: false, confirmed: [], recovered: [], undone: new Set() }

/**
 * Sends the rows of a file in batches. Each batch has its own Idempotency-Key, so a batch sent again after an interruption is answered with
 * the invoices that it created the first time.
 */
export function useImport(): Import {
  const queries = useQueryClient()
  const [shown, setShown] = useState(idle)
  const progress = useRef(idle)
  const upload = useRef(noUpload)
  const stopping = useRef(false)
  const show = useCallback((change: Partial<Progress>) => {
    const { confirmed, recovered, undone } = upload.current
    progress.current = { ...progress.current, ...change, created: [...confirmed, ...recovered].filter((id) => !undone.has(id)) }
    setShown(progress.current)
  }, [])
  // Once unmounted, no more batches are sent: their result could not be shown.
  useEffect(() => {
    stopping.current = false
    return () => {
      stopping.current = true
    }
  }, [])
  const refresh = () => invalidate(queries, [invoiceCalls.list])
  const batchKey = () => `import-${upload.current.key}-${progress.current.sent}`

  const run = async () => {
    const { rows, keepDuplicates, confirmed } = upload.current
    stopping.current = false
    show({ state: 'running', problem: null })
    try {
      while (progress.current.sent < rows.length && !stopping.current) {
        const batch = rows.slice(progress.current.sent, progress.current.sent + batchSize)
        const body = { lines: batch.map(({ draft }) => draft), keepDuplicates }
        const { lines: results } = await patiently(() => sendIdempotent(invoiceCalls.import, { body }, batchKey()))
        const skipped = results.flatMap((result) => {
          const row = batch[result.line - 1]
          return 'message' in result && row ? [{ row, message: result.message }] : []
        })
        confirmed.push(...results.flatMap((result) => ('_id' in result ? result._id : [])))
        upload.current.recovered = []
        show({ sent: progress.current.sent + batch.length, skipped: [...progress.current.skipped, ...skipped], unsure: 0 })
      }
      await refresh()
      show({ state: progress.current.sent < rows.length ? 'stopped' : 'done' })
    } catch (error) {
      show({ state: 'broken', problem: errorMessage(error), unsure: Math.min(batchSize, rows.length - progress.current.sent) })
      const broken = progress.current
      const recovered = await fetchInterrupted().catch(() => null)
      // The import may have been resumed meanwhile.
      if (recovered && progress.current === broken) showRecovered(recovered)
      await refresh()
    }
  }

  const fetchInterrupted = async () => {
    try {
      return (await send(invoiceCalls.imported, { params: { key: batchKey() } })).map(({ _id }) => _id)
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return []
      throw error
    }
  }

  const showRecovered = (ids: string[]) => {
    upload.current.recovered = ids
    show({ unsure: 0 })
  }

  return {
    ...shown,
    start: (rows, keepDuplicates) => {
      const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('')
      upload.current = { key, rows, keepDuplicates, confirmed: [], recovered: [], undone: new Set() }
      progress.current = { ...idle, total: rows.length }
      void run()
    },
    resume: () => void run(),
    stop: () => {
      stopping.current = true
    },
    undo: async () => {
      if (progress.current.state === 'broken') showRecovered(await fetchInterrupted())
      const { undone } = upload.current
      const { created } = progress.current
      for (let start = 0; start < created.length; start += mostAtOnce) {
        const ids = created.slice(start, start + mostAtOnce)
        await patiently(() => send(invoiceCalls.bulkChange, { body: { ids, change: { do: 'delete' } } }))
        for (const id of ids) undone.add(id)
        show({})
      }
      await refresh()
      return undone.size
    },
  }
}
