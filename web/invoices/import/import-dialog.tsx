import '@mantine/core/styles/Progress.layer.css'
import { Button, Group, Progress } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { type FileRow, readCsv } from './csv.ts'
import styles from './import.module.css'
import { ImportPreview } from './import-preview.tsx'
import { ImportResult } from './import-result.tsx'
import { texts } from './texts.ts'
import { type Import, useImport } from './use-import.ts'

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
  const [file, setFile] = useState<{ name: string; rows: FileRow[] } | null>(null)
  const running = useImport()
  if (running.state === 'running') return <ImportRunning running={running} onBusy={onBusy} />
  if (running.state !== 'idle' && file) return <ImportResult running={running} onClose={onClose} />
  if (!file) return <ImportDrop onFile={(name, rows) => setFile({ name, rows })} />
  return (
    <ImportPreview
      key={file.name}
      file={file}
      invoices={invoices.data ?? []}
      onImport={running.start}
      onOther={() => setFile(null)}
      onCancel={onClose}
    />
  )
}

const maxBytes = 10 * 1024 * 1024
const maxRows = 20_000

function ImportDrop({ onFile }: { onFile: (name: string, rows: FileRow[]) => void }): ReactNode {
  // Touch screens cannot drop a file.
  const isTouch = useMediaQuery('(hover: none), (max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [over, setOver] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > maxBytes) return setProblem(texts.tooBig)
    const bytes = await file.arrayBuffer().catch(() => null)
    const table = bytes ? readCsv(bytes) : { kind: 'unreadable' as const }
    switch (table.kind) {
      case 'rows':
        return table.rows.length > maxRows ? setProblem(texts.tooLong(maxRows.toLocaleString('en-IN'))) : onFile(file.name, table.rows)
      case 'not-csv':
        return setProblem(texts.notCsv)
      case 'unknown-encoding':
        return setProblem(texts.unknownEncoding)
      case 'unreadable':
        return setProblem(texts.unreadable)
      case 'empty':
        return setProblem(texts.empty)
    }
  }
  const latestRead = useRef(read)
  latestRead.current = read
  // On the whole window: dropped beside the frame, the file would replace the page.
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      void latestRead.current(event.dataTransfer?.files[0])
    }
    const listening = new AbortController()
    window.addEventListener('dragover', over, listening)
    window.addEventListener('dragleave', leave, listening)
    window.addEventListener('drop', drop, listening)
    return () => listening.abort()
  }, [])
  return (
    <>
      <button type="button" className={styles.drop} data-over={over || undefined} data-autofocus onClick={() => input.current?.click()}>
        <IconFileUpload size={34} stroke={1.4} aria-hidden />
        <strong className={styles.dropTitle}>{isTouch ? texts.choose : texts.drop}</strong>
        <span className={styles.dim}>{texts.dropHint}</span>
      </button>
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        hidden
        aria-label={texts.choose}
        onChange={(event) => {
          void read(event.currentTarget.files?.[0])
          // Without this, choosing the same file again after correcting it would do nothing.
          event.currentTarget.value = ''
        }}
      />
      <FormError message={problem} />
      <p className={styles.columnsHint}>{texts.columnsHint}</p>
    </>
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
