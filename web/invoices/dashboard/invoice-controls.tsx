import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { type MouseEvent, type ReactNode, Suspense, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import styles from './dashboard.module.css'
import { texts } from './texts.ts'

const load = async () => (await import('./open-menus.tsx')).OpenInvoiceMenu
const OpenInvoiceMenu = lazyDialog(load)

interface InvoiceMenuProps {
  invoice: Invoice
  className?: string | undefined
}

/** Only a button until it is first used: a menu for each of hundreds of cards would slow down scrolling. */
export function InvoiceMenu({ invoice, className = '' }: InvoiceMenuProps): ReactNode {
  const [wanted, setWanted] = useState(false)
  const label = texts.card.menu(invoice.reference, invoice.clientName)
  const button = (
    <ActionIcon
      className={className}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      // Preloads the menu.
      onPointerEnter={preload}
      onFocus={preload}
    >
      <IconDots size={20} />
    </ActionIcon>
  )
  if (!wanted) return button
  return (
    <Suspense fallback={button}>
      <OpenInvoiceMenu invoice={invoice} label={label} className={className} onClose={() => setWanted(false)} />
    </Suspense>
  )
}

function preload(): void {
  load().catch(() => undefined)
}

interface SelectBoxProps {
  invoice: Invoice
  selected: boolean
  onToggle: (id: string, range: boolean) => void
}

/** Selects an invoice for a bulk action; with Shift, everything since the last one toggled. */
export function SelectBox({ invoice, selected, onToggle }: SelectBoxProps): ReactNode {
  return (
    <span className={styles.selectTarget}>
      <input
        type="checkbox"
        className={styles.selectBox}
        aria-label={texts.list.select(invoice.reference, invoice.clientName)}
        checked={selected}
        onChange={() => undefined}
        onClick={(event: MouseEvent) => onToggle(invoice._id, event.shiftKey)}
      />
    </span>
  )
}
