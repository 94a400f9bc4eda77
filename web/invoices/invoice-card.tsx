import { ActionIcon, Menu } from '@mantine/core'
import { IconCircleCheck, IconDots, IconPencil, IconRotate, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees } from '#contract/money.ts'
import { dateIn } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/pill.tsx'
import { useCardActions } from './card-actions.tsx'
import { dueWords, footWords } from './card-words.ts'
import look from './invoice-card.module.css'
import { texts } from './texts.ts'

interface InvoiceCardProps {
  invoice: Invoice
  zone: string | undefined
  now: Date
  position: number
  of: number
}

/** One invoice: who, how much, when, what happened last, and what can be done. */
export function InvoiceCard({ invoice, zone, now, position, of }: InvoiceCardProps): ReactNode {
  const { markAs, askToDelete } = useCardActions()
  const { card } = texts
  const edit = { to: `/dashboard/edit-invoice/${invoice._id}`, state: { invoice } }
  const paid = invoice.status === 'paid'
  return (
    <li aria-posinset={position} aria-setsize={of} className={look.card}>
      <div className={look.head}>
        <Link {...edit} className={look.client} title={invoice.clientName}>
          {invoice.clientName}
        </Link>
        <Pill tone={invoice.status}>{texts.status[invoice.status]}</Pill>
      </div>
      <div className={look.under}>
        <span className={look.email} title={invoice.clientEmail}>
          {invoice.clientEmail}
        </span>
        <span className={look.reference} title={invoice.reference}>
          {invoice.reference}
        </span>
      </div>
      <div className={look.amount}>{formatRupees(invoice.amount)}</div>
      <div className={look.due}>{dueWords(invoice, dateIn(zone, now))}</div>
      <div className={look.foot}>
        <span>{footWords(invoice, zone, now)}</span>
        <Menu position="bottom-end" width={200}>
          <Menu.Target>
            <ActionIcon className={look.menu ?? ''} aria-label={card.menu(invoice.reference, invoice.clientName)}>
              <IconDots size={20} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component={Link} {...edit} leftSection={<IconPencil size={18} stroke={1.7} />}>
              {card.edit}
            </Menu.Item>
            <Menu.Item
              leftSection={paid ? <IconRotate size={18} stroke={1.7} /> : <IconCircleCheck size={18} stroke={1.7} />}
              onClick={() => markAs(invoice, paid ? 'unpaid' : 'paid')}
            >
              {paid ? card.markUnpaid : card.markPaid}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item
              className={look.danger ?? ''}
              leftSection={<IconTrash size={18} stroke={1.7} />}
              onClick={() => askToDelete(invoice)}
            >
              {card.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
    </li>
  )
}
