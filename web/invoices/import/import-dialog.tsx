import '@mantine/core/styles/Progress.layer.css'
import { Button, Group, Progress } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import type { FileRow } from '#contract/import/csv.ts'
import type { CheckedRow } from '#contract/import/lines.ts'
import { type BulkChange, type ImportedLine, invoiceCalls, mostAtOnce, type UndoneImport } from '#contract/invoices.ts'
import { pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { Allowed } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { newKey, patiently, send, sendIdempotent } from '#web/platform/send.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { FileDrop } from '#web/ui/file-import.tsx'
import type { SheetsOfFile } from '#web/ui/file-sheets.tsx'
import styles from './import.module.css'
import { ImportPreview } from './import-preview.tsx'
import { ImportFileReader } from './import-reading.ts'
import { ImportResult } from './import-result.tsx'
import { Sources } from './sources-panel.tsx'
import { texts } from './texts.ts'

/** Imports invoices from a file: choose it, preview each row, confirm, see the result. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const narrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [busy, setBusy] = useState(false)
  // Back must not close the dialog before the result has been shown.
  const [resultSeen, setResultSeen] = useState(true)
  const onBusy = useCallback((running: boolean) => {
    setBusy(running)
    setResultSeen(false)
  }, [])
  const close = () => {
    setResultSeen(true)
    onClose()
  }
  return (
    <Dialog
      opened={opened || !resultSeen}
      onClose={busy ? () => undefined : close}
      title={texts.title}
      size={980}
      fullScreen={narrow}
      radius={narrow ? 0 : 14}
      closeOnClickOutside={false}
    >
      <Steps onBusy={onBusy} onClose={close} />
    </Dialog>
  )
}

function Steps({ onBusy, onClose }: { onBusy: (busy: boolean) => void; onClose: () => void }): ReactNode {
  const invoices = useApiQuery(invoiceCalls.list)
  const [file, setFile] = useState<ImportFile | null>(null)
  useEffect(() => () => file?.reader.close(), [file])
  const [looking, setLooking] = useState(false)
  const running = useImport()
  if (running.state === 'running') return <ImportRunning running={running} onBusy={onBusy} />
  if (running.state !== 'idle' && file) return <ImportResult running={running} onClose={onClose} />
  if (!file)
    return (
      <>
        {!looking && (
          <Allowed by="member" says>
            <Choose onOpen={setFile} />
          </Allowed>
        )}
        <Allowed by="admin" says>
          <Sources onLook={setLooking} />
        </Allowed>
      </>
    )
  return (
    <ImportPreview file={file} invoices={invoices.data ?? []} onImport={running.start} onOther={() => setFile(null)} onCancel={onClose} />
  )
}

/** A list of invoices that was opened, and what reads it. */
export interface ImportFile extends SheetsOfFile {
  reader: ImportFileReader
}

function Choose({ onOpen }: { onOpen: (file: ImportFile) => void }): ReactNode {
  const [reading, setReading] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  /** The last file wins, also over one that is still being opened; null once the frame is gone. */
  const latest = useRef<ImportFileReader | null>(null)
  useEffect(
    () => () => {
      latest.current = null
    },
    [],
  )
  const read = async (file: File) => {
    latest.current?.close()
    const reader = new ImportFileReader()
    latest.current = reader
    setProblem(null)
    setReading(true)
    const opened = await reader.open(file)
    if (latest.current !== reader) return reader.close()
    setReading(false)
    if (opened.kind === 'opened') return onOpen({ ...opened, name: file.name, reader })
    reader.close()
    setProblem(texts.unread[opened.why])
  }
  return (
    <FileDrop hint={texts.dropHint} columns={texts.columnsHint} reading={reading} problem={problem} onFile={(file) => void read(file)} />
  )
}

function ImportRunning({ running, onBusy }: { running: Import; onBusy: (busy: boolean) => void }): ReactNode {
  const [stopping, setStopping] = useState(false)
  useEffect(() => {
    onBusy(true)
    return () => onBusy(false)
  }, [onBusy])
  const { sent, total, stop } = running
  return (
    <>
      <p className={styles.progress} role="status">
        {texts.progress(sent, total)}
      </p>
      <Progress
        value={total === 0 ? 0 : (100 * sent) / total}
        size={8}
        radius="xl"
        classNames={{ root: styles.track ?? '' }}
        aria-label={texts.title}
      />
      <Group justify="flex-end" mt={24}>
        <Button
          variant="default"
          data-autofocus
          onClick={() => {
            setStopping(true)
            stop()
          }}
        >
          {stopping ? texts.stopping : texts.stop}
        </Button>
      </Group>
    </>
  )
}

/** A line of the file that was not imported, and why. */
export interface NotImported {
  row: FileRow
  message: string
}

/** What is imported: the lines, and those that are not, with the names of their columns. */
export interface Upload {
  rows: CheckedRow[]
  keepDuplicates: boolean
  /** Whether invoices that are here already are updated. */
  update: boolean
  source: string
  notImported: NotImported[]
  head: string[] | null
}

/** What happens to the held invoices: they are held until resumed, reminded from tomorrow on, or paid. */
export type LateChoice = 'hold' | 'remind' | 'paid'

/** Small enough that the progress bar moves, large enough that thousands of rows do not take minutes. */
const batchSize = 200

interface ImportProgress {
  state: 'idle' | 'running' | 'broken' | 'stopped' | 'done'
  total: number
  sent: number
  created: string[]
  /** null where invoices that are here already stay as they are. */
  again: { updated: number; unchanged: number } | null
  /** Lines whose invoices stay although the file has them differently. */
  noted: NotImported[]
  /** Those of the created ones whose reminders are held, because they were past due while daily reminders were on. */
  held: string[]
  notImported: NotImported[]
  head: string[] | null
  problem: string | null
  /** How many rows may or may not be saved, because the connection broke before their answer came. */
  unsure: number
}

const idle: ImportProgress = {
  state: 'idle',
  total: 0,
  sent: 0,
  created: [],
  again: null,
  noted: [],
  held: [],
  notImported: [],
  head: null,
  problem: null,
  unsure: 0,
}

export interface Import extends ImportProgress {
  start: (upload: Upload) => void
  /** Continues where the import was interrupted or stopped. */
  resume: () => void
  stop: () => void
  /** Deletes the imported invoices, and takes back what was updated. */
  undo: () => Promise<UndoneImport>
  /** Ends the hold of the held invoices; `today`: the account's date. */
  settle: (choice: LateChoice, today: string) => Promise<void>
}

interface Running extends Pick<Upload, 'rows' | 'keepDuplicates' | 'update' | 'source'> {
  key: string
  /** The keys of the parts that were sent. */
  parts: string[]
  /** The invoices of answered batches. */
  confirmed: Created[]
  /** The invoices of the interrupted batch. */
  recovered: Created[]
  undone: Set<string>
}

type Created = Pick<ImportedLine, '_id' | 'held'>

const noUpload: Running = {
  key: '',
  parts: [],
  rows: [],
  keepDuplicates: false,
  update: false,
  source: '',
  confirmed: [],
  recovered: [],
  undone: new Set(),
}

/**
 * Sends the rows of a file in batches. Each batch has its own Idempotency-Key, so a batch sent again after an interruption is answered with
 * the invoices that it created the first time.
 */
function useImport(): Import {
  const queries = useQueryClient()
  const [shown, setShown] = useState(idle)
  const progress = useRef(idle)
  const upload = useRef(noUpload)
  const stopping = useRef(false)
  const show = useCallback((change: Partial<ImportProgress>) => {
    const { confirmed, recovered, undone } = upload.current
    const created = [...confirmed, ...recovered].filter(({ _id }) => !undone.has(_id))
    const held = created.filter((one) => one.held)
    progress.current = { ...progress.current, ...change, created: created.map(({ _id }) => _id), held: held.map(({ _id }) => _id) }
    setShown(progress.current)
  }, [])
  // Once unmounted, no more batches are sent: their result could not be shown.
  useEffect(() => {
    stopping.current = false
    return () => {
      stopping.current = true
    }
  }, [])
  const refresh = () => invalidate(queries, pauseInvalidates)
  const batchKey = () => `import-${upload.current.key}-${progress.current.sent}`

  const run = async () => {
    const { rows, keepDuplicates, update, source, confirmed, parts } = upload.current
    stopping.current = false
    show({ state: 'running', problem: null })
    try {
      while (progress.current.sent < rows.length && !stopping.current) {
        const batch = rows.slice(progress.current.sent, progress.current.sent + batchSize)
        if (parts.at(-1) !== batchKey()) parts.push(batchKey())
        const onExisting = update ? ('update' as const) : ('refuse' as const)
        const body = { lines: batch.map(({ draft }) => draft), keepDuplicates, onExisting, source }
        const answer = await patiently(() => sendIdempotent(invoiceCalls.import, { body }, batchKey()))
        const { lines: results } = answer
        const refused = results.flatMap((result) => {
          const row = batch[result.line - 1]
          return 'message' in result && row ? [{ row, message: result.message }] : []
        })
        const noted = results.flatMap((result) => {
          const row = batch[result.line - 1]
          return 'note' in result && result.note !== null && row ? [{ row, message: result.note }] : []
        })
        confirmed.push(...results.flatMap((result) => ('_id' in result && result.outcome === 'created' ? result : [])))
        upload.current.recovered = []
        const { again } = progress.current
        show({
          sent: progress.current.sent + batch.length,
          again: again && { updated: again.updated + answer.updated, unchanged: again.unchanged + answer.unchanged },
          noted: [...progress.current.noted, ...noted],
          notImported: [...progress.current.notImported, ...refused],
          unsure: 0,
        })
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
      return await send(invoiceCalls.imported, { params: { key: batchKey() } })
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return []
      throw error
    }
  }

  const showRecovered = (recovered: Created[]) => {
    upload.current.recovered = recovered
    show({ unsure: 0 })
  }

  /** The latest first, so that each finds what it changed. */
  const undoParts = async () => {
    const all: UndoneImport = { deleted: 0, restored: 0, kept: [] }
    for (const id of [...upload.current.parts].reverse()) {
      const part = await patiently(() => send(invoiceCalls.undoImport, { params: { id } })).catch((error: unknown) => {
        // The server never got it.
        if (error instanceof Problem && error.code === 'not_found') return null
        throw error
      })
      all.deleted += part?.deleted ?? 0
      all.restored += part?.restored ?? 0
      all.kept.push(...(part?.kept ?? []))
    }
    await refresh()
    return all
  }

  const change = async (ids: string[], change: BulkChange, done: (part: string[]) => void = () => undefined) => {
    for (let start = 0; start < ids.length; start += mostAtOnce) {
      const part = ids.slice(start, start + mostAtOnce)
      await patiently(() => send(invoiceCalls.bulkChange, { body: { ids: part, change } }))
      done(part)
    }
  }

  return {
    ...shown,
    start: ({ rows, keepDuplicates, update, source, notImported, head }) => {
      upload.current = { ...noUpload, key: newKey(), parts: [], rows, keepDuplicates, update, source, confirmed: [], undone: new Set() }
      progress.current = { ...idle, again: update ? { updated: 0, unchanged: 0 } : null, total: rows.length, notImported, head }
      void run()
    },
    resume: () => void run(),
    stop: () => {
      stopping.current = true
    },
    undo: async () => {
      if (upload.current.update) return undoParts()
      if (progress.current.state === 'broken') showRecovered(await fetchInterrupted())
      const { undone } = upload.current
      const { created } = progress.current
      await change(created, { do: 'delete' }, (part) => {
        for (const id of part) undone.add(id)
        show({})
      })
      await refresh()
      return { deleted: undone.size, restored: 0, kept: [] }
    },
    settle: async (choice, today) => {
      const { held } = progress.current
      // Today's run may be yet to come: a pause through today leaves it out. Paid first, so that nothing is resumed while it is owed.
      if (choice === 'remind') await change(held, { do: 'pause', until: today, note: '', promised: false })
      if (choice === 'paid') {
        await change(held, { do: 'mark', status: 'paid' })
        await change(held, { do: 'resume' })
      }
      if (choice !== 'hold') await refresh()
    },
  }
}
