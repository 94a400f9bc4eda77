import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { type ReactNode, Suspense, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { texts } from './texts.ts'

const load = async () => (await import('./open-invoice-menu.tsx')).OpenInvoiceMenu
const OpenInvoiceMenu = lazyDialog(load)

interface InvoiceMenuProps {
  invoice: Invoice
  className?: string | undefined
}

/** The three dots of an invoice, and what can be done with it. A menu that nobody has opened is a button only: hundreds of them scroll by. */
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
      // Who points at it will soon want it.
      onPointerEnter={prepare}
      onFocus={prepare}
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

function prepare(): void {
  load().catch(() => undefined)
}
