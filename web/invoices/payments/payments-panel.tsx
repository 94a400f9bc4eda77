import { Button } from '@mantine/core'
import { IconDownload, IconFileTypePdf, IconLink, IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import type { Invoice } from '#contract/invoices.ts'
import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import { invoiceFileCalls, largestFile, payLinkCalls } from '#contract/pay-links.ts'
import { type Payment, paymentCalls } from '#contract/payments.ts'
import styles from '#web/invoices/form/form.module.css'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useInvoiceActing } from '#web/invoices/use-invoice-acting.tsx'
import { Allowed, useToday } from '#web/platform/account.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { fetchFile, saveFile, sendFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { paymentTexts as texts } from './texts.ts'

interface PaymentsPanelProps {
  invoice: Invoice
  /** Newest first; undefined until they are loaded. */
  payments: Payment[] | undefined
}

/** What was paid of an invoice, and what is left. */
export function PaymentsPanel({ invoice, payments = [] }: PaymentsPanelProps): ReactNode {
  const { record, copyPayLink, dialogs } = useInvoiceActing()
  const takeBack = useTakeBack(invoice)
  const { amountPaid } = invoice
  return (
    <Panel title={texts.title}>
      <Sum invoice={invoice} />
      <Allowed by="member">
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
        <PayLink invoice={invoice} onCopy={() => copyPayLink(invoice)} />
      </Allowed>
      <InvoiceFile invoice={invoice} />
      {dialogs}
    </Panel>
  )
}

const icon = { size: 18, stroke: 1.7 }
const quiet = { variant: 'subtle', className: styles.quiet ?? '' } as const

/** The link to the pay page of the invoice, where clients can reach this server. */
function PayLink({ invoice: { _id: id, reference }, onCopy }: { invoice: Invoice; onCopy: () => void }): ReactNode {
  const t = texts.payLink
  const server = useApiQuery(accountCalls.server)
  const { mutateAsync: revoke } = useApiMutation(payLinkCalls.revoke)
  const replace = () =>
    confirm({
      title: t.title(reference),
      body: t.body,
      action: t.action,
      busy: t.busy,
      onConfirm: () => revoke({ params: { id } }),
    })
  if (server.data?.payLinks === false) return <p className={styles.why}>{invoiceTexts.acting.payLink.noAddress}</p>
  return (
    <div className={styles.links}>
      <Button {...quiet} leftSection={<IconLink {...icon} />} onClick={onCopy}>
        {invoiceTexts.acting.payLink.copy}
      </Button>
      <Button {...quiet} onClick={() => void replace().then((replaced) => replaced && toast('good', t.replaced))}>
        {t.replace}
      </Button>
    </div>
  )
}

/** The PDF of the invoice: what the client downloads, or has attached. */
function InvoiceFile({ invoice: { _id: id, reference, hasFile } }: { invoice: Invoice }): ReactNode {
  const t = texts.file
  const queries = useQueryClient()
  const picker = useRef<HTMLInputElement>(null)
  const changed = { onError: (error: Error) => toast('bad', errorMessage(error)), onSettled: () => invalidate(queries, changeInvalidates) }
  const add = useMutation({
    mutationFn: (file: File) => {
      if (file.size > largestFile) throw new Problem('too_large', t.tooLarge)
      return sendFile(invoiceFileCalls.save, { params: { id }, query: { name: file.name } }, new Blob([file], { type: 'application/pdf' }))
    },
    onSuccess: ({ name }) => toast('good', t.added(name)),
    ...changed,
  })
  const remove = useApiMutation(invoiceFileCalls.remove, { invalidates: changeInvalidates })
  const download = useMutation({
    mutationFn: () => fetchFile(invoiceFileCalls.read, { params: { id } }),
    onSuccess: ({ bytes, name }) => saveFile(bytes, name),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  const askToRemove = () =>
    confirm({
      title: t.removeTitle(reference),
      body: t.removeBody,
      action: t.remove,
      busy: t.removing,
      onConfirm: () => remove.mutateAsync({ params: { id } }),
    })
  return (
    <div className={styles.links}>
      {hasFile && (
        <BusyButton
          {...quiet}
          leftSection={<IconDownload {...icon} />}
          busy={download.isPending}
          busyText={t.downloading}
          onClick={() => download.mutate()}
        >
          {t.download}
        </BusyButton>
      )}
      <Allowed by="member">
        <BusyButton
          {...quiet}
          {...(hasFile ? {} : { leftSection: <IconFileTypePdf {...icon} /> })}
          busy={add.isPending}
          busyText={t.adding}
          onClick={() => picker.current?.click()}
        >
          {hasFile ? t.replace : t.add}
        </BusyButton>
        {hasFile && (
          <Button {...quiet} onClick={() => void askToRemove().then((removed) => removed && toast('good', t.removed))}>
            {t.remove}
          </Button>
        )}
      </Allowed>
      <input
        ref={picker}
        type="file"
        accept="application/pdf,.pdf"
        aria-label={t.add}
        hidden
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (file) add.mutate(file)
        }}
      />
    </div>
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
      title: { payment: t.title, refund: t.refundTitle, credit: t.creditTitle }[payment.kind],
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
