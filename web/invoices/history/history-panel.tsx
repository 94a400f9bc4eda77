import { Textarea } from '@mantine/core'
import { type QueryClient, type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { evidenceCalls } from '#contract/evidence.ts'
import { type Invoice, type InvoiceChange, invoiceCalls, type Note, noteCalls, tagOfInvoice } from '#contract/invoices.ts'
import { holdReasonOf, type InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { changeInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { useBusiness, useLiveInterval, useToday } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { applyToCache, type CacheEffects, invalidate, queryKey, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { fetchFile, saveFile, sendMatching } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { dateIn, showClock, showComing, showDate, showMoment } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './history.module.css'
import { HistoryTimeline, refetchDelay, timelineOf } from './history-timeline.tsx'
import { texts } from './texts.ts'

/** The emails about an invoice, fetched more often while one is being sent. */
export function useHistory(id: string): UseQueryResult<InvoiceHistory> {
  const input = { params: { id } }
  const [due, live] = [pollInterval(useQueryClient(), input), useLiveInterval()]
  // With others at work, notes and changes of theirs are shown soon.
  return useApiQuery(reminderCalls.history, input, { refetchInterval: due !== false && live !== false ? Math.min(due, live) : due || live })
}

function pollInterval(queries: QueryClient, input: object): number | false {
  const cached = queries.getQueryData<InvoiceHistory>(queryKey(reminderCalls.history, input))
  return cached ? refetchDelay(cached, new Date()) : false
}

/** What happened to an invoice, a line for each event. */
export function HistoryPanel({ invoice, history }: { invoice: Invoice; history: UseQueryResult<InvoiceHistory> }): ReactNode {
  const { zone, now } = useToday()
  const queries = useQueryClient()
  const business = useBusiness()
  const undo = useMutation({
    mutationFn: (body: InvoiceChange) => sendMatching(invoiceCalls.update, { params: { id: invoice._id }, body }, tagOfInvoice(invoice)),
    onSuccess: async (reply, body) => {
      const input = { params: { id: invoice._id }, body }
      const effects: CacheEffects<typeof invoiceCalls.update> = { invalidates: changeInvalidates, update: writeInvoice }
      await applyToCache(queries, effects, reply, input)
      toast('good', texts.undone)
    },
    onError: (error) => {
      toast('bad', errorMessage(error))
      void invalidate(queries, [invoiceCalls.read, reminderCalls.history])
    },
  })
  return (
    <Panel title={texts.title} aside={<DownloadEvidence id={invoice._id} />}>
      <QueryView query={history} loading={texts.loading} error={texts.failed} empty={null}>
        {(loaded) => (
          <>
            {loaded.mails.length + loaded.days.length === 0 && <NothingYet history={loaded} zone={zone} now={now} />}
            <HistoryTimeline
              lines={timelineOf(loaded, invoice, zone, business && business.members > 1 ? null : (business?.person ?? ''))}
              invoice={invoice}
              onUndo={business === undefined || business.role === 'viewer' ? undefined : (change) => undo.mutate(change)}
              zone={zone}
              now={now}
              owed={loaded.reason !== 'paid' && loaded.reason !== 'deleted'}
            />
          </>
        )}
      </QueryView>
    </Panel>
  )
}

/** What the team keeps about an invoice; not shown to a person who works alone. */
export function NotesPanel({ id, notes }: { id: string; notes: Note[] | undefined }): ReactNode {
  const { zone, now } = useToday()
  const business = useBusiness()
  const state = useContractForm({
    call: noteCalls.add,
    initialValues: { text: '' },
    toInput: ({ text }) => ({ params: { id }, body: { text } }),
    invalidates: [reminderCalls.history],
    onSuccess: () => {
      state.reset()
    },
  })
  if (!notes || !business || (business.members === 1 && notes.length === 0)) return null
  return (
    <Panel title={texts.notes.title}>
      <p className={styles.note}>{texts.notes.hint}</p>
      <ul className={styles.notes}>
        {notes.map(({ _id, at, by, text }) => (
          <li key={_id}>
            <p className={styles.noteText}>{text}</p>
            <p className={styles.note}>
              {by}, {showMoment(zone, new Date(at), now)}
            </p>
          </li>
        ))}
      </ul>
      <ContractForm state={state} submit={texts.notes.add} busy={texts.notes.adding}>
        <Textarea aria-label={texts.notes.label} autosize minRows={2} maxRows={8} maxLength={2_000} {...state.form.getInputProps('text')} />
      </ContractForm>
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </Panel>
  )
}

function DownloadEvidence({ id }: { id: string }): ReactNode {
  const download = useMutation({
    mutationFn: () => fetchFile(evidenceCalls.download, { params: { id } }),
    onSuccess: ({ bytes, name }) => saveFile(bytes, name),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <BusyButton
      variant="default"
      busy={download.isPending}
      busyText={texts.evidence.busy}
      title={texts.evidence.about}
      onClick={() => download.mutate()}
    >
      {texts.evidence.download}
    </BusyButton>
  )
}

function NothingYet({ history, zone, now }: { history: InvoiceHistory; zone: string | undefined; now: Date }): ReactNode {
  const { nextAt, reason } = history
  const scheduled = nextAt !== null && (reason === null || reason === 'paused')
  const next = scheduled ? texts.firstAt(showComing(zone, new Date(nextAt), now)) : reason === null ? null : texts.firstWhy[reason]
  return (
    <div className={styles.nothing}>
      <p>{texts.none}</p>
      {next !== null && <p className={styles.note}>{next}</p>}
    </div>
  )
}

interface NextReminderProps {
  /** Undefined until it is loaded. */
  history: InvoiceHistory | undefined
  zone: string | undefined
  now: Date
}

/** The next reminder in one line, or why there is none and where to change that. */
export function NextReminder({ history, zone, now }: NextReminderProps): ReactNode {
  if (!history) return null
  const { nextAt, reason, mails } = history
  const coming = nextAt === null ? null : showComing(zone, new Date(nextAt), now)
  if (nextAt !== null && history.step !== null && (reason === null || reason === 'paused'))
    return <NextStep history={history} at={nextAt} zone={zone} />
  if (coming !== null && (reason === null || reason === 'paused'))
    return (
      <span className={styles.next}>
        {texts.next} <strong>{reason === 'paused' ? texts.afterPause(coming) : coming}</strong>
        {texts.atClient(history.atClient)}
        {history.why !== null && <span className={styles.moved}>{history.why}</span>}
      </span>
    )
  if (reason === null) return <span className={styles.next}>{texts.noDate}</span>
  const held = reason === 'open_mail' ? mails.find(({ state }) => state === 'held') : undefined
  if (reason === 'open_mail' && !held && coming !== null && nextAt !== null && new Date(nextAt) > now)
    return <span className={styles.next}>{texts.delayed(coming)}</span>
  const { text, to, link } = held ? texts.held[holdReasonOf(held.reason)] : texts.reasons[reason]
  return (
    <span className={styles.next}>
      {text} {to !== null && <Link to={to}>{link}</Link>}
    </span>
  )
}

/** The step of a sequence that leaves next, and why it leaves on another day than its own. */
function NextStep({
  history: { step, movedFrom, why, atClient },
  at,
  zone,
}: {
  history: InvoiceHistory
  at: string
  zone: string | undefined
}): ReactNode {
  if (!step) return null
  const instant = new Date(at)
  return (
    <span className={styles.next}>
      <strong>
        {texts.nextStep(step, showDate(dateIn(zone, instant)), showClock(zone, instant))}
        {texts.atClient(atClient)}
      </strong>
      {movedFrom !== null && <span className={styles.moved}>{texts.movedFrom(showWeekday(movedFrom), showDate(movedFrom))}</span>}
      {why !== null && <span className={styles.moved}>{why}</span>}
    </span>
  )
}

function showWeekday(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' })
}
