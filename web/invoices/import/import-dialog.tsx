import { Button, Group, Progress } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { type FileRow, readTable } from './csv.ts'
import styles from './import.module.css'
import { ImportPreview } from './import-preview.tsx'
import { ImportResult } from './import-result.tsx'
import { texts } from './texts.ts'
import { type Importing, useImport } from './use-import.ts'

/** Invoices from a file: choose it, look at what would become of each line, confirm, and see what became of it. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const narrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [busy, setBusy] = useState(false)
  // Going back does not take the dialog away once there is something to tell.
  const [told, setTold] = useState(true)
  const onBusy = useCallback((now: boolean) => {
    setBusy(now)
    setTold(false)
  }, [])
  const close = () => {
    setTold(true)
    onClose()
  }
  return (
    <Dialog
      opened={opened || !told}
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
  const [file, setFile] = useState<{ name: string; lines: FileRow[] } | null>(null)
  const running = useImport()
  if (running.state === 'running') return <ImportRunning running={running} onBusy={onBusy} />
  if (running.state !== 'idle' && file) return <ImportResult running={running} onClose={onClose} />
  if (!file) return <ImportDrop onFile={(name, lines) => setFile({ name, lines })} />
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

const largest = 10 * 1024 * 1024
const mostLines = 20_000

/** Where a file is dropped or chosen. */
export function ImportDrop({ onFile }: { onFile: (name: string, lines: FileRow[]) => void }): ReactNode {
  // Nothing is dropped with a finger.
  const touched = useMediaQuery('(hover: none), (max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [over, setOver] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > largest) return setProblem(texts.tooBig)
    const bytes = await file.arrayBuffer().catch(() => null)
    const table = bytes ? readTable(bytes) : { kind: 'unreadable' as const }
    switch (table.kind) {
      case 'lines':
        return table.lines.length > mostLines
          ? setProblem(texts.tooLong(mostLines.toLocaleString('en-IN')))
          : onFile(file.name, table.lines)
      case 'not-csv':
        return setProblem(texts.notCsv)
      case 'unknown-coding':
        return setProblem(texts.unknownCoding)
      case 'unreadable':
        return setProblem(texts.unreadable)
      case 'empty':
        return setProblem(texts.empty)
    }
  }
  const reading = useRef(read)
  reading.current = read
  // Wherever in the window it is dropped: beside the frame, the browser would leave the page to show the file.
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
      void reading.current(event.dataTransfer?.files[0])
    }
    const heard = new AbortController()
    window.addEventListener('dragover', over, heard)
    window.addEventListener('dragleave', leave, heard)
    window.addEventListener('drop', drop, heard)
    return () => heard.abort()
  }, [])
  return (
    <>
      <button type="button" className={styles.drop} data-over={over || undefined} data-autofocus onClick={() => input.current?.click()}>
        <IconFileUpload size={34} stroke={1.4} aria-hidden />
        <strong className={styles.dropTitle}>{touched ? texts.choose : texts.drop}</strong>
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
          // The same file, mended, can be chosen again.
          event.currentTarget.value = ''
        }}
      />
      <FormError message={problem} />
      <p className={styles.needs}>{texts.needs}</p>
    </>
  )
}

/** How far the import is. */
export function ImportRunning({ running, onBusy }: { running: Importing; onBusy: (busy: boolean) => void }): ReactNode {
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
