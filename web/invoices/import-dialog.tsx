import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useCallback, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { ImportDrop } from './import-drop.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportResult } from './import-result.tsx'
import { ImportRunning } from './import-running.tsx'
import { importTexts } from './import-texts.ts'
import type { FileLine } from './read-table.ts'
import { useImport } from './use-import.ts'

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
      title={importTexts.title}
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
  const [file, setFile] = useState<{ name: string; lines: FileLine[] } | null>(null)
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
