import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import { type Payment, paymentCalls } from '#contract/payments.ts'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-cache.ts'
import { useInvoiceActing } from '#web/invoices/use-invoice-acting.tsx'
import { useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './payments.module.css'
import { paymentTexts as texts } from './texts.ts'

interface PaymentsPanelProps {
  invoice: Invoice
  /** Newest first; undefined until they are loaded. */
  payments: Payment[] | undefined
}

/** What was paid of an invoice, and what is left. */
export function PaymentsPanel({ invoice, payments = [] }: PaymentsPanelProps): ReactNode {
  const { record, dialogs } = useInvoiceActing()
  const takeBack = useTakeBack(invoice)
  const { amountPaid } = invoice
  return (
    <Panel title={texts.title}>
      <Sum invoice={invoice} />
      {payments.length > 0 && (
        <ul className={styles.rows}>
          {payments.map((payment) => (
            <PaymentRow key={payment._id} payment={payment} onTakeBack={() => takeBack(payment)} />
          ))}
        </ul>
      )}
      <div className={styles.actions}>
        <Button variant="default" leftSection={<IconPlus size={18} stroke={1.7} />} onClick={() => record(invoice)}>
          {texts.record}
        </Button>
        {amountPaid > 0 && (
          <Button variant="default" onClick={() => record(invoice, 'refund')}>
            {texts.refund}
          </Button>
        )}
      </div>
      {dialogs}
    </Panel>
  )
}

function Sum({ invoice }: { invoice: Invoice }): ReactNode {
  const { amount, amountPaid, balance, overpaid, currency } = invoice
  const show = (sum: number) => formatMoney(sum, currency)
  if (amountPaid === 0) return <p className={styles.none}>{texts.none}</p>
  return (
    <>
      <p className={styles.sum}>{balance > 0 ? texts.left(show(balance), show(amount)) : texts.paidInFull(show(amountPaid))}</p>
      {overpaid > 0 && <p className={styles.overpaid}>{texts.overpaid(show(overpaid))}</p>}
      <div className={styles.bar} aria-hidden>
        <div style={{ width: `${Math.min(100, (amountPaid / amount) * 100)}%` }} />
      </div>
    </>
  )
}

function PaymentRow({ payment, onTakeBack }: { payment: Payment; onTakeBack: () => void }): ReactNode {
  const { zone } = useToday()
  const { kind, amount, currency, paidOn, voidedAt, origin, note } = payment
  const shown = `${kind === 'refund' ? '−' : ''}${formatMoney(amount, currency)}`
  const about = [texts.about(payment), voidedAt === null ? '' : texts.takenBack(showDate(dateIn(zone, new Date(voidedAt))))]
  return (
    <li className={styles.row} data-void={voidedAt !== null || undefined}>
      <span className={styles.date}>{voidedAt === null ? showDate(paidOn) : <s>{showDate(paidOn)}</s>}</span>
      <span className={styles.about}>
        {about.filter((part) => part !== '').join(' · ')}
        {note !== '' && <span className={styles.note}>{note}</span>}
      </span>
      <span className={styles.amount}>{voidedAt === null ? shown : <s>{shown}</s>}</span>
      {voidedAt === null && origin !== 'razorpay' && (
        <Button
          variant="subtle"
          className={styles.takeBack ?? ''}
          aria-label={texts.takeBackOf(shown, showDate(paidOn))}
          onClick={onTakeBack}
        >
          {texts.takeBack.action}
        </Button>
      )}
    </li>
  )
}

/** Asks first. */
function useTakeBack(invoice: Invoice): (payment: Payment) => void {
  const { mutateAsync } = useApiMutation(paymentCalls.takeBack, {
    invalidates: changeInvalidates,
    update: (cache, { invoice: after }) => writeInvoice(cache, after),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  const t = texts.takeBack
  return (payment) => {
    const { _id: id, reference, status, currency } = invoice
    const show = (sum: number) => formatMoney(sum, currency)
    const left = balanceWithout(invoice, payment)
    const body = left === 0 ? t.covered(reference) : status === 'paid' ? t.opens(reference, show(left)) : t.asks(reference, show(left))
    void confirm({
      title: payment.kind === 'refund' ? t.refundTitle : t.title,
      body,
      action: t.action,
      busy: t.busy,
      onConfirm: async () => {
        const { invoice: after } = await mutateAsync({ params: { id, pid: payment._id } })
        const amount = show(payment.amount)
        toast('good', after.status === 'paid' ? t.donePaid(amount, reference) : t.done(amount, show(after.balance)))
      },
    })
  }
}

/** What is left to pay once a payment is taken back. */
function balanceWithout({ amount, amountPaid, currency }: Invoice, payment: Payment): number {
  const minor = (sum: number) => toMinor(sum, currency) ?? 0
  const paid = minor(amountPaid) - (payment.kind === 'refund' ? -1 : 1) * minor(payment.amount)
  return fromMinor(Math.max(0, minor(amount) - paid), currency)
}
