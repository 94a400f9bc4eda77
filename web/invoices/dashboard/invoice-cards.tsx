import { IconCalendarX, IconCircleCheck, IconClock, IconMail, IconMailExclamation, IconMailOff, IconPlayerPause } from '@tabler/icons-react'
import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { describePause, type InvoiceState, isPaused, type Known, stateOf } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useInvoiceActions } from '#web/invoices/use-invoice-acting.tsx'
import { Pill } from '#web/ui/panel.tsx'
import styles from './dashboard.module.css'
import { InvoiceMenu, SelectBox } from './invoice-controls.tsx'
import { dueLabel } from './list-data.ts'
import type { Selection } from './list-state.ts'
import { texts } from './texts.ts'
import { useGridNavigation } from './use-grid-navigation.ts'

const gap = 16
const narrowest = 290
const cardHeight = 258
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceCardsProps {
  invoices: Invoice[]
  known: Known
  today: string
  selection: Selection
}

export function InvoiceCards({ invoices, known, today, selection }: InvoiceCardsProps): ReactNode {
  const rows = useGridNavigation<HTMLUListElement>({
    items: invoices.length,
    columns: (width) => Math.floor((width + gap) / (narrowest + gap)),
    height: () => cardHeight,
    gap,
    last,
  })
  return (
    <ul
      ref={rows.frame}
      className={styles.grid}
      aria-label={texts.dashboard.invoices}
      data-invoices
      style={{
        height: rows.total,
        paddingTop: rows.start,
        gridAutoRows: cardHeight,
        gridTemplateColumns: `repeat(${rows.columns}, minmax(0, 1fr))`,
      }}
    >
      {invoices.slice(rows.from, rows.to).map((invoice, index) => (
        <InvoiceCard
          key={invoice._id}
          invoice={invoice}
          known={known}
          today={today}
          index={rows.from + index}
          of={invoices.length}
          selected={selection.isSelected(invoice._id)}
          onToggle={selection.toggle}
        />
      ))}
    </ul>
  )
}

interface InvoiceCardProps {
  invoice: Invoice
  known: Known
  today: string
  index: number
  of: number
  selected: boolean
  onToggle: (id: string, range: boolean) => void
}

const icons = {
  paid: IconCircleCheck,
  address: IconMailOff,
  broken: IconCalendarX,
  failing: IconMailExclamation,
  paused: IconPlayerPause,
  reminded: IconMail,
  new: IconClock,
} as const satisfies Record<InvoiceState['kind'], typeof IconMail>

export const InvoiceCard = memo(function InvoiceCard(props: InvoiceCardProps): ReactNode {
  const { invoice, known, today, index, of, selected, onToggle } = props
  const state = stateOf(invoice, known)
  const Icon = icons[state.kind]
  return (
    <li aria-posinset={index + 1} aria-setsize={of} className={styles.card} data-index={index} data-selected={selected || undefined}>
      <div className={styles.cardHead}>
        <SelectBox invoice={invoice} selected={selected} onToggle={onToggle} />
        <Link to={screens.invoice(invoice._id)} state={{ invoice }} className={styles.cardClient} title={invoice.clientName} data-open>
          {invoice.clientName}
        </Link>
        <Pill tone={invoice.status}>{invoiceTexts.status[invoice.status]}</Pill>
      </div>
      <div className={styles.cardContact}>
        <span className={styles.cardEmail} title={invoice.clientEmail}>
          {invoice.clientEmail}
        </span>
        <span className={styles.cardReference} title={invoice.reference}>
          {invoice.reference}
        </span>
      </div>
      <div className={styles.cardAmount}>{formatMoney(owedAmount(invoice), invoice.currency)}</div>
      <div className={styles.cardDue}>{dueLabel(invoice, today)}</div>
      <p className={styles.cardState} data-tone={state.tone} title={titleOf(invoice, state)}>
        <Icon size={18} stroke={1.7} aria-hidden />
        <span>{state.text}</span>
      </p>
      <div className={styles.cardFoot}>
        <CardActions invoice={invoice} kind={state.kind} />
        <InvoiceMenu invoice={invoice} className={styles.cardMenu} />
      </div>
    </li>
  )
})

/** The mail server's words, or the whole of a pause: what the line has no room for. */
function titleOf(invoice: Invoice, { kind, text, reply }: InvoiceState): string {
  return kind === 'paused' ? describePause(invoice).join('\n') : (reply ?? text)
}

/** The two actions that fit the state; the others are in the menu. */
function CardActions({ invoice, kind }: { invoice: Invoice; kind: InvoiceState['kind'] }): ReactNode {
  const { markAs, remind, resume, refused } = useInvoiceActions()
  const { card } = texts
  // Not the library's buttons: a card has two, and a list scrolls through thousands.
  const style = { className: styles.cardAction } as const
  const button = { ...style, type: 'button', disabled: refused !== undefined, title: refused } as const
  const about = (action: string) => card.about(action, invoice.reference, invoice.clientName)
  if (invoice.status === 'paid')
    return refused !== undefined ? (
      <button {...button} aria-label={about(card.duplicate)}>
        {card.duplicate}
      </button>
    ) : (
      <Link to={screens.newInvoice} state={{ copy: invoice }} {...style} aria-label={about(card.duplicate)}>
        {card.duplicate}
      </Link>
    )
  return (
    <>
      {kind === 'address' ? (
        <Link to={screens.invoice(invoice._id)} state={{ invoice, field: 'clientEmail' }} {...style} aria-label={about(card.correct)}>
          {card.correct}
        </Link>
      ) : isPaused(invoice) && kind === 'paused' ? (
        <button {...button} aria-label={about(card.resume)} onClick={() => resume(invoice)}>
          {card.resumeShort}
        </button>
      ) : (
        <button {...button} aria-label={about(card.remind)} onClick={() => remind([invoice])}>
          {card.remind}
        </button>
      )}
      <button {...button} aria-label={about(card.markPaid)} onClick={() => markAs(invoice, 'paid')}>
        {card.markPaid}
      </button>
    </>
  )
}
