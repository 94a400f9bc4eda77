import '@mantine/core/styles/Progress.layer.css'
import { Button, Group, Progress } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { type ChosenFile, FileDrop } from '#web/ui/file-import.tsx'
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
  const [file, setFile] = useState<ChosenFile | null>(null)
  const running = useImport()
  if (running.state === 'running') return <ImportRunning running={running} onBusy={onBusy} />
  if (running.state !== 'idle' && file) return <ImportResult running={running} onClose={onClose} />
  if (!file) return <FileDrop hint={texts.dropHint} columns={texts.columnsHint} onFile={setFile} />
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
