import { Button, Skeleton } from '@mantine/core'
import {
  IconArrowBackUp,
  IconCheck,
  IconChevronLeft,
  IconClock,
  IconDownload,
  IconLink,
  IconMail,
  IconMessage,
  IconPlayerPause,
  IconPlayerPlay,
  IconSend2,
  IconX,
} from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type CSSProperties, type ReactNode, useMemo, useState } from 'react'
import { Link, useParams } from 'react-router'
import { type ClientAnswer, type ClientDetails, type ClientEmail, type ClientEvent, clientCalls } from '#contract/clients.ts'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney, formatSums } from '#contract/money.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import formStyles from '#web/invoices/form/form.module.css'
import { EmailDialog, type ShownEmail } from '#web/invoices/history/email-dialog.tsx'
import historyStyles from '#web/invoices/history/history.module.css'
import { texts as historyTexts } from '#web/invoices/history/texts.ts'
import { describeAnswer, isPartPaid, pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { paymentTexts } from '#web/invoices/payments/texts.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { copyLink, useInvoiceActing } from '#web/invoices/use-invoice-acting.tsx'
import { Allowed, useToday } from '#web/platform/account.tsx'
import { useBrokenPromises } from '#web/platform/attention.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { fetchFile, saveFile, send } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showClock, showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { daysFromDue, foldEvents, linesByClient, stateOfClient, usualDelay, withVoids } from './client-data.ts'
import { ClientReminders } from './client-reminders.tsx'
import styles from './clients.module.css'
import { clientPageTexts as texts } from './texts.ts'

const BulkPauseDialog = lazyDialog(async () => (await import('#web/invoices/history/pause-dialog.tsx')).BulkPauseDialog)
const icon = { size: 18, stroke: 1.7 }

/** /dashboard/clients/{id}: what one client owes, when they pay, and what was sent. */
export default function ClientScreen(): ReactNode {
  const { id = '' } = useParams()
  const client = useApiQuery(clientCalls.read, { params: { id } }, { staleTime: 0, refetchInterval: 15_000 })
  return (
    <>
      <Link to={screens.clients} className={formStyles.back}>
        <IconChevronLeft size={18} stroke={1.7} aria-hidden />
        {texts.back}
      </Link>
      <QueryView
        query={client}
        loading={texts.loading}
        skeleton={<Skeleton height={478} radius={14} />}
        error={texts.failed}
        gone={texts.gone}
        otherwise={
          <Button component={Link} to={screens.clients} variant="default">
            {texts.toClients}
          </Button>
        }
        empty={null}
      >
        {(loaded) => <ShownClient key={id} client={loaded} />}
      </QueryView>
    </>
  )
}

function ShownClient({ client }: { client: ClientDetails }): ReactNode {
  const { zone, now, today } = useToday()
  const lines = useApiQuery(reminderCalls.preview, {}, { staleTime: 60_000 }).data?.lines
  const its = useMemo(() => lines && (linesByClient(lines).get(client.email.toLowerCase()) ?? []), [lines, client.email])
  const broken = useBrokenPromises()
  const state = its && stateOfClient(client, its, { zone, now, broken })
  return (
    <>
      <PageHeader title={client.name} subtitle={client.email} action={<Actions client={client} />} />
      <dl className={styles.figures}>
        {client.overdue.length > 0 && <Figure label={texts.overdue} text={formatSums(client.overdue, '')} tone="bad" />}
        {client.open.length > 0 && <Figure label={texts.open} text={formatSums(client.open, '')} />}
        {client.open.length === 0 && client.paid.length > 0 && <Figure label={texts.paid} text={formatSums(client.paid, '')} />}
        {state && state.text !== '' && <Figure label={texts.next} text={state.text} tone={state.tone === 'bad' ? 'bad' : undefined} />}
      </dl>
      <Invoices client={client} today={today} />
      <ClientReminders client={client} />
      <Panel title={texts.timeline}>
        <Timeline client={client} zone={zone} today={today} />
      </Panel>
    </>
  )
}

function Figure({ label, text, tone }: { label: string; text: string; tone?: 'bad' | undefined }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd data-tone={tone}>{text}</dd>
    </div>
  )
}

function Actions({ client }: { client: ClientDetails }): ReactNode {
  const { remind, dialogs } = useInvoiceActing()
  const [pausing, setPausing] = useState(false)
  const { mutate, isPending } = useApiMutation(clientCalls.update, {
    invalidates: [clientCalls.list, clientCalls.read, ...pauseInvalidates],
    onSuccess: ({ email, pause }) => {
      setPausing(false)
      const { doneClient, resumedClient } = invoiceTexts.pause
      toast('good', pause ? doneClient(email, pause.until === null ? null : showDate(pause.until)) : resumedClient(email))
    },
    onError: (error) =>
      toast('bad', client.pause ? invoiceTexts.pause.resumeFailed(errorMessage(error)) : texts.pauseFailed(errorMessage(error))),
  })
  const change = (pause: { until: string | null } | null) => mutate({ params: { id: client._id }, body: { pause } })
  const open = client.list.filter(({ status }) => status !== 'paid')
  if (open.length === 0) return null
  return (
    <div className={styles.tools}>
      <Allowed by="member" says>
        {client.pause ? (
          <BusyButton
            variant="default"
            leftSection={<IconPlayerPlay {...icon} />}
            busy={isPending}
            busyText={invoiceTexts.pause.resumeBusy}
            onClick={() => change(null)}
          >
            {texts.resume}
          </BusyButton>
        ) : (
          <Button variant="default" leftSection={<IconPlayerPause {...icon} />} onClick={() => setPausing(true)}>
            {texts.pauseAll}
          </Button>
        )}
        <Button
          variant="default"
          leftSection={<IconLink {...icon} />}
          onClick={() => void copyLink(() => send(payLinkCalls.createStatement, { params: { id: client._id } }), texts.linkCopied)}
        >
          {texts.copyLink}
        </Button>
        <Button leftSection={<IconSend2 {...icon} />} onClick={() => remind(open)}>
          {texts.remind}
        </Button>
      </Allowed>
      <LazyMount wanted={pausing}>
        <BulkPauseDialog
          opened={pausing}
          count={client.openInvoices}
          paid={0}
          busy={isPending}
          onPause={(until) => change({ until })}
          onClose={() => setPausing(false)}
        />
      </LazyMount>
      {dialogs}
    </div>
  )
}

/** Shown at first. */
const firstRows = 12

/** Every invoice on one axis around its due date, so that a habit shows. */
function Invoices({ client: { _id: id, list, openInvoices }, today }: { client: ClientDetails; today: string }): ReactNode {
  const [all, setAll] = useState(false)
  const usual = usualDelay(list, today)
  const days = list.flatMap((invoice) => daysFromDue(invoice, today) ?? [])
  // The same axis for all rows; one very late payment must not squeeze the others.
  const early = Math.min(30, Math.max(7, ...days.map((day) => -day)))
  const late = Math.min(90, Math.max(14, ...days))
  const place = (day: number) => (100 * (early + Math.min(late, Math.max(-early, day)))) / (early + late)
  const shown = all ? list : list.slice(0, firstRows)
  return (
    <Panel title={usual ? texts.usually(usualText(usual.days)) : texts.invoices} aside={openInvoices > 0 && <StatementButton id={id} />}>
      <p className={styles.about}>{usual ? texts.middle(usual.of) : texts.lines}</p>
      <ul className={styles.lines}>
        {shown.map((invoice) => (
          <InvoiceLine key={invoice._id} invoice={invoice} days={daysFromDue(invoice, today)} place={place} />
        ))}
      </ul>
      {shown.length < list.length && (
        <Button variant="default" mt={12} onClick={() => setAll(true)}>
          {texts.showAll(list.length)}
        </Button>
      )}
    </Panel>
  )
}

/** The open invoices as a PDF. */
function StatementButton({ id }: { id: string }): ReactNode {
  const { mutate, isPending } = useMutation({
    mutationFn: () => fetchFile(payLinkCalls.readStatement, { params: { id }, query: { format: 'pdf' } }),
    onSuccess: ({ bytes, name }) => saveFile(bytes, name),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <BusyButton
      variant="subtle"
      mr={-18}
      leftSection={<IconDownload {...icon} />}
      busy={isPending}
      busyText={texts.downloading}
      onClick={() => mutate()}
    >
      {texts.statement}
    </BusyButton>
  )
}

function usualText(days: number): string {
  return days === 0 ? texts.onTime : days > 0 ? texts.late(days) : texts.early(-days)
}

/** Behind the end of the line, else before its beginning, else above it: words may not reach into the amount. In percent of the width. */
function besideEnd(due: number, end: number): CSSProperties {
  if (end <= 65) return { left: `calc(${end}% + 12px)` }
  return due >= 45 ? { right: `calc(${100 - due}% + 10px)` } : { right: `${100 - end}%`, top: '20%' }
}

interface InvoiceLineProps {
  invoice: Invoice
  /** Null where it was paid on a day that is not known. */
  days: number | null
  /** In percent of the width. */
  place: (days: number) => number
}

function InvoiceLine({ invoice, days, place }: InvoiceLineProps): ReactNode {
  const { _id, reference, currency, status, paidOn } = invoice
  const late = days ?? 0
  const open = status === 'paid' ? undefined : late > 0 ? 'late' : 'ahead'
  const [due, end] = [place(0), place(late)]
  const paid = days === null ? texts.noPaymentDay : texts.paidAfter(days)
  const words = open === undefined ? paid : late > 0 ? texts.soFar(late) : texts.dueIn(-late)
  const said = late < 0 ? { left: `calc(${due}% + 10px)` } : besideEnd(due, end)
  return (
    <li className={styles.line}>
      <Link to={screens.invoice(_id)} className={styles.reference}>
        {reference}
      </Link>
      <span className={styles.amount}>{formatMoney(owedAmount(invoice), currency)}</span>
      <span className={styles.picture} data-open={open}>
        <span className={styles.mark} style={{ left: `${due}%` }} />
        <span className={styles.bar} style={{ left: `${Math.min(due, end)}%`, width: `${Math.abs(end - due)}%` }} />
        {days !== null && <span className={styles.end} style={{ left: `${end}%` }} />}
        <span className={styles.said} style={said}>
          {words}
        </span>
      </span>
      <span className={styles.status}>
        <Pill tone={status}>{invoiceTexts.status[status]}</Pill>
        {invoice.pause && invoice.pause.because !== 'owner' && status !== 'paid' && (
          <Pill tone="quiet">{invoiceTexts.pause.said[invoice.pause.because]}</Pill>
        )}
        {isPartPaid(invoice) && <Pill tone="quiet">{texts.partPaid}</Pill>}
        {days !== null && paidOn !== null && showDate(paidOn)}
      </span>
    </li>
  )
}

/** Lines shown at first, and added by each click. */
const someEvents = 12

function Timeline({ client, zone, today }: { client: ClientDetails; zone: string | undefined; today: string }): ReactNode {
  const [shown, setShown] = useState(someEvents)
  const [opened, setOpened] = useState<ShownEmail | null>(null)
  const lines = useMemo(() => foldEvents(withVoids(client.timeline)), [client.timeline])
  if (lines.length === 0) return <p className={styles.about}>{texts.nothingYet}</p>
  const show = ({ _id, subject, at, reply, copiesRefused, stored }: ClientEmail) =>
    setOpened({ _id, subject, clientEmail: client.email, createdAt: at, sentAt: at, serverReply: reply, copiesRefused, stored })
  return (
    <>
      <ol className={historyStyles.lines}>
        {lines
          .slice(0, shown)
          .map((line) =>
            Array.isArray(line) ? (
              <Emails key={line[0]._id} events={line} zone={zone} today={today} onShow={show} />
            ) : line.kind === 'payment' ? (
              <PaymentLine key={line._id} event={line} zone={zone} today={today} />
            ) : (
              <AnswerLine key={line._id} event={line} zone={zone} today={today} />
            ),
          )}
      </ol>
      {lines.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + someEvents)}>
          {texts.earlier}
        </Button>
      )}
      <EmailDialog mail={opened} zone={zone} onClose={() => setOpened(null)} />
    </>
  )
}

interface EmailsProps {
  events: [ClientEmail, ...ClientEmail[]]
  zone: string | undefined
  today: string
  onShow: (event: ClientEmail) => void
}

/** References named before the rest is counted. */
const named = 4

function Emails({ events, zone, today, onShow }: EmailsProps): ReactNode {
  const [newest] = events
  const { state, references, reply, copiesRefused } = newest
  const sent = state === 'sent'
  const tone = state === 'failed' ? 'bad' : sent ? undefined : 'warn'
  const about = [...references.slice(0, named), ...(references.length > named ? [texts.andMore(references.length - named)] : [])]
  return (
    <li className={historyStyles.item}>
      <span className={historyStyles.mark} data-tone={tone} aria-hidden>
        {sent ? <IconMail size={14} /> : state === 'failed' ? <IconX size={14} /> : <IconClock size={14} />}
      </span>
      <span className={historyStyles.date}>{whenOf(events, zone, today)}</span>
      <div className={historyStyles.what}>
        <p className={historyStyles.event}>
          <strong data-tone={tone}>{sent ? texts.sent(events.length) : state === 'failed' ? texts.notDelivered : texts.retrying}</strong>
          {texts.about(about.join(', '))}
          {!sent && reply !== null && reply !== '' && (
            <>
              {'. '}
              {texts.replied} <q>{reply}</q>
            </>
          )}
        </p>
        {copiesRefused !== null && <p className={historyStyles.note}>{copiesRefused}</p>}
      </div>
      <Button variant="subtle" className={historyStyles.show ?? ''} onClick={() => onShow(newest)}>
        {texts.show}
      </Button>
    </li>
  )
}

interface PaymentLineProps {
  event: Extract<ClientEvent, { kind: 'payment' }>
  zone: string | undefined
  today: string
}

function PaymentLine({ event, zone, today }: PaymentLineProps): ReactNode {
  const { payment, reference } = event
  const isReceived = payment.kind === 'payment'
  const taken = payment.voidedAt !== null
  const amount = formatMoney(payment.amount, payment.currency)
  const { received, refunded, credited, takenBack } = historyTexts.payments
  const happened = { payment: received, refund: refunded, credit: credited }[payment.kind]
  const about = paymentTexts.details(payment)
  return (
    <li className={historyStyles.item}>
      <span className={historyStyles.mark} data-tone={isReceived && !taken ? 'good' : undefined} aria-hidden>
        {isReceived && !taken ? <IconCheck size={14} /> : <IconArrowBackUp size={14} />}
      </span>
      <span className={historyStyles.date}>{whenOf([event], zone, today)}</span>
      <div className={historyStyles.what}>
        <p className={historyStyles.event}>
          <strong>{taken ? takenBack(amount) : happened(amount)}</strong>
          {texts.about(reference)}
          {about !== '' && ` · ${about}`}
        </p>
      </div>
    </li>
  )
}

interface AnswerLineProps {
  event: ClientAnswer
  zone: string | undefined
  today: string
}

/** What the client said on a pay page. One that is open is decided under Getting Paid. */
function AnswerLine({ event, zone, today }: AnswerLineProps): ReactNode {
  const { state, invoice } = event.answer
  const { title, words } = describeAnswer(event.answer)
  const shown = invoiceTexts.answer.states[state]
  return (
    <li className={historyStyles.item}>
      <span className={historyStyles.mark} data-tone={state === 'open' ? 'warn' : undefined} aria-hidden>
        <IconMessage size={14} />
      </span>
      <span className={historyStyles.date}>{whenOf([event], zone, today)}</span>
      <div className={historyStyles.what}>
        <p className={historyStyles.event}>
          <strong>{title}</strong>
          {texts.about(invoice.reference)} · {state === 'open' ? <Link to={screens.gettingPaid}>{shown}</Link> : shown}
        </p>
        {words !== '' && <p className={historyStyles.note}>{words}</p>}
      </div>
    </li>
  )
}

/** `18/11, 09:00`, or `20/11 to 22/11` for several; with the year where it is another one. */
function whenOf(events: ClientEvent[], zone: string | undefined, today: string): string {
  const day = ({ at }: ClientEvent) => {
    const date = dateIn(zone, new Date(at))
    return date.slice(0, 4) === today.slice(0, 4) ? showDate(date).slice(0, 5) : showDate(date)
  }
  const [newest, oldest] = [events[0], events.at(-1)]
  if (!newest || !oldest) return ''
  if (day(newest) !== day(oldest)) return texts.to(day(oldest), day(newest))
  return `${day(newest)}, ${showClock(zone, new Date(newest.at))}`
}
