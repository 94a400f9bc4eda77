import { Button } from '@mantine/core'
import { IconCheck, IconCopy, IconMailOff, IconPlayerPause, IconPlayerPlay, IconRotate, IconSend2, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { noticeCalls } from '#contract/notices.ts'
import type { Payment } from '#contract/payments.ts'
import { type InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { isBuiltIn } from '#contract/sequence-choice.ts'
import { planDays, sequenceCalls } from '#contract/sequences.ts'
import styles from '#web/invoices/form/form.module.css'
import { summaryTexts as texts } from '#web/invoices/form/texts.ts'
import { NextReminder } from '#web/invoices/history/history-panel.tsx'
import { changeInvalidates, describePause, isPartPaid, isPaused, pausePill, stateOf } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useInvoiceActing } from '#web/invoices/use-invoice-acting.tsx'
import { Allowed, LinkButton, useRefusal, useToday } from '#web/platform/account.tsx'
import { useBrokenPromises } from '#web/platform/attention.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { nameAndSteps, sequenceTexts } from '#web/platform/sequences/texts.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, daysBetween, lateness, showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { type InvoiceDates, InvoiceLine } from './invoice-line.tsx'

interface InvoiceSummaryProps {
  invoice: Invoice
  /** Undefined until it is loaded. */
  history: InvoiceHistory | undefined
}

/** Above the form: what is owed, how late, what comes next, and what can be done. */
export function InvoiceSummary({ invoice, history }: InvoiceSummaryProps): ReactNode {
  const { zone, now, today } = useToday()
  const { reference, clientName, amount, currency, status, dueDate, paidOn } = invoice
  const paid = status === 'paid'
  const broken = useBrokenPromises()
  const days = daysBetween(dueDate, today)
  const state = stateOf(invoice, { zone, now, broken, next: undefined })
  const failing = state.tone === 'bad' || state.tone === 'warn'
  return (
    <section className={styles.summary} aria-label={texts.label}>
      <div className={styles.body}>
        <div className={styles.what}>
          <strong className={styles.reference}>{reference}</strong>
          <span className={styles.client}>{clientName}</span>
          <span className={styles.pills}>
            <Pill tone={status}>{invoiceTexts.status[status]}</Pill>
            {isPartPaid(invoice) && <Pill tone="quiet">{texts.part}</Pill>}
            {isPaused(invoice) && invoice.pause && <Pill tone="quiet">{pausePill(invoice.pause)}</Pill>}
          </span>
        </div>
        <p className={styles.owed}>
          <strong>{formatMoney(owedAmount(invoice), currency)}</strong>{' '}
          <span>
            {paid
              ? texts.paid(paidOn && showDate(paidOn))
              : isPartPaid(invoice)
                ? texts.stillToPay(formatMoney(amount, currency))
                : texts.toPay}
          </span>
        </p>
        <div className={styles.when}>
          {!paid && (
            <span className={styles.late} data-late={days > 0 || undefined}>
              {lateness(days)}
            </span>
          )}
          {!paid && <NextReminder history={history} zone={zone} now={now} />}
        </div>
        {!paid && history && <InvoiceSequence invoice={invoice} history={history} />}
        {failing && (
          <div className={styles.problem} data-tone={state.tone}>
            <IconMailOff size={18} stroke={1.7} aria-hidden />
            <div>
              <p>{state.text}</p>
              {state.reply !== null && <p className={styles.reply}>{texts.reply(state.reply)}</p>}
              {invoice.addressHold && (
                <Allowed by="member">
                  <TryAddress email={invoice.clientEmail} />
                </Allowed>
              )}
            </div>
          </div>
        )}
        {isPaused(invoice) && (
          <div className={styles.pause}>
            {describePause(invoice).map((line) => (
              <p key={line}>{line}</p>
            ))}
            {invoice.pause?.because !== 'owner' && <Link to={screens.gettingPaid}>{invoiceTexts.pause.seeAnswer}</Link>}
          </div>
        )}
        <InvoiceLine dates={useDates(invoice, history, zone, today)} />
      </div>
      <Allowed by="member">
        <Actions invoice={invoice} />
      </Allowed>
    </section>
  )
}

/** The payments, newest first. Where something was refunded, the newest names what is left of all of them. */
function partsOf(payments: Payment[], { amountPaid, currency }: Invoice): InvoiceDates['parts'] {
  const live = payments.filter(({ voidedAt }) => voidedAt === null)
  const hasRefund = live.some(({ kind }) => kind === 'refund')
  return live.flatMap(({ kind, paidOn: date, amount }) =>
    kind === 'payment' ? [{ date, amount: formatMoney(hasRefund ? amountPaid : amount, currency) }] : [],
  )
}

function useDates(invoice: Invoice, history: InvoiceHistory | undefined, zone: string | undefined, today: string): InvoiceDates {
  return useMemo(() => {
    const { createdAt, dueDate, paidOn, status, amountPaid } = invoice
    return {
      created: dateIn(zone, new Date(createdAt)),
      due: dueDate.slice(0, 10),
      today,
      paid: status === 'paid' ? paidOn : null,
      parts: status === 'paid' || amountPaid === 0 ? [] : partsOf(history?.payments ?? [], invoice),
      reminders: history?.mails.flatMap(({ sentAt }) => (sentAt === null ? [] : [dateIn(zone, new Date(sentAt))])) ?? [],
      next: history?.nextAt ? dateIn(zone, new Date(history.nextAt)) : null,
    }
  }, [invoice, history, zone, today])
}

/** Ends the hold of a refused address: it may exist by now. */
function TryAddress({ email }: { email: string }): ReactNode {
  const { mutate, isPending } = useApiMutation(reminderCalls.tryAddress, {
    invalidates: [...changeInvalidates, reminderCalls.status, noticeCalls.list],
    onSuccess: ({ failed, failures: [first] }) => (failed > 0 && first ? toast('bad', first.words) : toast('good', texts.tried(email))),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <BusyButton variant="default" mt={10} busy={isPending} busyText={texts.trying} onClick={() => mutate({ body: { clientEmail: email } })}>
      {texts.tryAddress}
    </BusyButton>
  )
}

function Actions({ invoice }: { invoice: Invoice }): ReactNode {
  const navigate = useNavigate()
  const { markAs, remove, askToPause, resume, remind, dialogs } = useInvoiceActing()
  const paid = invoice.status === 'paid'
  useRemindAddress(() => remind([invoice]))
  const icon = { size: 18, stroke: 1.7 }
  return (
    <div className={styles.summaryActions}>
      {!paid && (
        <Button leftSection={<IconSend2 {...icon} />} onClick={() => remind([invoice])}>
          {texts.remind}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={paid ? <IconRotate {...icon} /> : <IconCheck {...icon} />}
        onClick={() => markAs(invoice, paid ? 'unpaid' : 'paid')}
      >
        {paid ? texts.markUnpaid : texts.markPaid}
      </Button>
      <div className={styles.more}>
        {isPaused(invoice) ? (
          <>
            <Button variant="subtle" color="gray" leftSection={<IconPlayerPlay {...icon} />} onClick={() => resume(invoice)}>
              {texts.resume}
            </Button>
            <Button variant="subtle" color="gray" leftSection={<IconPlayerPause {...icon} />} onClick={() => askToPause(invoice)}>
              {texts.changePause}
            </Button>
          </>
        ) : (
          !paid && (
            <Button variant="subtle" color="gray" leftSection={<IconPlayerPause {...icon} />} onClick={() => askToPause(invoice)}>
              {texts.pause}
            </Button>
          )
        )}
        <LinkButton
          by="member"
          to={screens.newInvoice}
          state={{ copy: invoice }}
          variant="subtle"
          color="gray"
          leftSection={<IconCopy {...icon} />}
        >
          {texts.duplicate}
        </LinkButton>
        <Button
          variant="subtle"
          className={styles.danger ?? ''}
          leftSection={<IconTrash {...icon} />}
          onClick={() =>
            void remove(invoice).then(async (deleted) => {
              if (deleted) await navigate(screens.dashboard)
            })
          }
        >
          {texts.remove}
        </Button>
      </div>
      {dialogs}
    </div>
  )
}

/** `?remind` opens the preview, so that any link can. */
function useRemindAddress(open: () => void): void {
  const [address, setAddress] = useSearchParams()
  const wanted = address.has('remind')
  const latest = useRef(open)
  latest.current = open
  useEffect(() => {
    if (!wanted) return
    latest.current()
    setAddress(
      (before) => {
        const after = new URLSearchParams(before)
        after.delete('remind')
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  }, [wanted, setAddress])
}

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)

/** Which sequence an invoice has, and the button that chooses another one. */
function InvoiceSequence({ invoice, history }: { invoice: Invoice; history: InvoiceHistory }): ReactNode {
  const { today } = useToday()
  const [choosing, setChoosing] = useState(false)
  const name = useSequenceName(history.sequence)
  const settings = useApiQuery(reminderCalls.settings, {}, { staleTime: 60_000 }).data
  const { _id: id, reference, sequence } = invoice
  const refused = useRefusal('member')
  return (
    <p className={styles.sequence}>
      {settings && <Coming id={id} history={history} days={settings.smart ? planDays : farDays} today={today} />}
      {name}{' '}
      <button type="button" disabled={refused !== undefined} title={refused} onClick={() => setChoosing(true)}>
        {texts.changeSequence}
      </button>
      {settings?.smart && history.step !== null && <SmartChoice id={id} on={history.smart} />}
      <LazyMount wanted={choosing}>
        <SequenceDialog
          whose={choosing ? { kind: 'invoice', id, name: reference, current: sequence } : null}
          onClose={() => setChoosing(false)}
        />
      </LazyMount>
    </p>
  )
}

/** Whether smart reminders may move the steps of this invoice. */
function SmartChoice({ id, on }: { id: string; on: boolean }): ReactNode {
  const change = useApiMutation(sequenceCalls.assign, {
    invalidates: [reminderCalls.history, reminderCalls.preview, sequenceCalls.plan],
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <button type="button" disabled={change.isPending} onClick={() => change.mutate({ params: { id }, body: { smart: !on } })}>
      {on ? texts.keepDays : texts.chooseDays}
    </button>
  )
}

/** Emails that are named after the next one. */
const mostNamed = 2
/** So far they are looked for, where that needs no plan of the whole account. */
const farDays = 90

interface ComingProps {
  id: string
  history: InvoiceHistory
  days: number
  today: string
}

/** What leaves after the next email, if nothing is paid meanwhile; while daily reminders are off, what leaves once they are on. */
function Coming({ id, history: { sequence, step, nextAt, reason }, days, today }: ComingProps): ReactNode {
  const isNext = step !== null && nextAt !== null
  const isOff = reason !== null && reason in texts.once && !isBuiltIn(sequence)
  const plan = useApiQuery(
    sequenceCalls.plan,
    { query: { invoice: id, days, ...(isOff ? { suppose: 'started' as const } : {}) } },
    { enabled: isNext || isOff, staleTime: 60_000 },
  ).data
  const mails = plan?.mails ?? []
  const coming = isNext ? mails.slice(1, mostNamed + 1) : isOff ? mails.slice(0, mostNamed + 1) : []
  if (coming.length === 0) return null
  const named = coming.map(({ tone, localDate }) => texts.email(tone, localDate === today ? null : showDate(localDate)))
  return <span>{isNext ? texts.coming(named) : texts.once[reason as keyof typeof texts.once](named)}</span>
}

/** `Friendly to final, 5 steps`; empty until it is known. */
function useSequenceName(id: string): string {
  const builtIn = id === 'every_day' || id === 'never'
  const found = useApiQuery(sequenceCalls.list, {}, { enabled: !builtIn, staleTime: 60_000 }).data?.find(({ _id }) => _id === id)
  if (id === 'every_day') return sequenceTexts.everyDay
  if (id === 'never') return sequenceTexts.never
  return found ? nameAndSteps(found) : ''
}
