import { type ReactNode, useRef, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import styles from './pause-dialog.module.css'
import { PauseForm } from './pause-form.tsx'
import { texts } from './texts.ts'

/** Asks which reminders are paused, how long and why. */
export function PauseDialog({ invoice, onClose }: { invoice: Invoice | null; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  // What it is about stays readable while the dialog fades.
  const last = useRef(invoice)
  if (invoice) last.current = invoice
  const shown = invoice ?? last.current
  return (
    <Dialog
      opened={invoice !== null}
      onClose={busy ? () => undefined : onClose}
      title={shown?.pause ? texts.pause.change : texts.pause.title}
      size={520}
    >
      {shown && (
        <>
          <p className={styles.about}>{texts.pause.about(shown.reference, shown.clientName)}</p>
          <PauseForm invoice={shown} onBusy={setBusy} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}
