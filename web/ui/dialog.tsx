import '@mantine/core/styles/ScrollArea.layer.css'
import { Button, Group, Modal, type ModalProps, ScrollArea } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { formatMoney } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { BusyButton } from './buttons.tsx'
import styles from './controls.module.css'
import { lateness } from './dates.ts'
import panelStyles from './panel.module.css'
import { texts } from './texts.ts'

/** A modal that returns the focus to what opened it. */
export function Dialog(modal: ModalProps): ReactNode {
  useReturnedFocus(modal.opened)
  return <Modal {...modal} />
}

/** Also for a modal that is mounted open, or unmounted to close it: Mantine returns the focus only where `opened` changes. */
export function useReturnedFocus(opened: boolean): void {
  useEffect(() => {
    if (!opened) return
    const opener = document.activeElement
    return () => {
      const now = document.activeElement
      const isFree = now === null || now === document.body || now.closest('[role="dialog"]') !== null
      if (isFree && opener instanceof HTMLElement && opener !== document.body) opener.focus({ preventScroll: true })
    }
  }, [opened])
}

/** What a dialog is about, kept after it became null: the content stays while the dialog fades out. */
export function useKept<T>(about: T | null): T | null {
  const last = useRef(about)
  if (about !== null) last.current = about
  return last.current
}

export interface ConfirmDialogProps {
  opened: boolean
  title: string
  children: ReactNode
  /** The verb on the confirming button, and its label while busy. */
  confirm: string
  confirmBusy: string
  cancel?: string
  busy: boolean
  /** `danger` where something is lost. */
  tone: 'plain' | 'danger'
  onConfirm: () => void
  onCancel: () => void
}

/** A confirmation, above any dialog that opened it. Cancel comes first and has the focus, so that a hasty Enter does no harm. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { opened, title, children, confirm, confirmBusy, cancel = texts.cancel, busy, tone, onConfirm, onCancel } = props
  return (
    <Dialog opened={opened} onClose={busy ? () => undefined : onCancel} title={title} zIndex={201}>
      {children}
      <div className={styles.foot}>
        <Group justify="flex-end" gap={12} mt={16}>
          <Button variant="default" onClick={onCancel} disabled={busy} data-autofocus>
            {cancel}
          </Button>
          <BusyButton busy={busy} busyText={confirmBusy} onClick={onConfirm} {...(tone === 'danger' ? { color: 'coral' } : {})}>
            {confirm}
          </BusyButton>
        </Group>
      </div>
    </Dialog>
  )
}

/** The invoices that would be reminded, in `mails` emails. */
export function DueList({ label, lines, mails }: { label: string; lines: PreviewLine[]; mails: number }): ReactNode {
  const several = mails < lines.length ? 0 : clientsWithSeveral(lines)
  return (
    <>
      <ScrollList label={label}>
        {lines.map((line) => (
          <li key={line.invoiceId} className={panelStyles.due}>
            <span className={panelStyles.dueName}>{line.clientName}</span>
            <span className={panelStyles.dueAmount}>{formatMoney(line.amount, line.currency)}</span>
            <span className={panelStyles.dueDetail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
            <span className={panelStyles.dueLate}>{lateness(line.daysOverdue)}</span>
          </li>
        ))}
      </ScrollList>
      {several > 0 && <p className={panelStyles.several}>{texts.dueList.several(several)}</p>}
    </>
  )
}

function clientsWithSeveral(lines: PreviewLine[]): number {
  const once = new Set<string>()
  const several = new Set<string>()
  for (const { clientEmail, currency, language } of lines) {
    const client = `${clientEmail.toLowerCase()} ${currency} ${language}`
    if (once.has(client)) several.add(client)
    once.add(client)
  }
  return several.size
}

/** A long list that scrolls in a frame; its children are the `<li>`. */
export function ScrollList({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <ScrollArea.Autosize
      className={panelStyles.scroll ?? ''}
      mah="min(320px, 40vh)"
      type="auto"
      // Scrollable content must be reachable by keyboard.
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
    >
      <ul className={panelStyles.scrollList}>{children}</ul>
    </ScrollArea.Autosize>
  )
}
