import { Button, Group } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallReply } from '#contract/call.ts'
import { formatMoney, formatSums, sumByCurrency } from '#contract/money.ts'
import { mostSelected, type PreviewLine, type RunSelection, reminderCalls, repeatedSendNow } from '#contract/reminders.ts'
import { ConfirmEmailNotice, useCurrency, useRefusal, useUnconfirmed } from '#web/platform/account.tsx'
import { useMarkPreviewed } from '#web/platform/first-steps.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import dialogStyles from '#web/platform/sequences/sequences.module.css'
import controls from '#web/ui/controls.module.css'
import { lateness, showClock, showHour } from '#web/ui/dates.ts'
import { Dialog, ScrollList } from '#web/ui/dialog.tsx'
import styles from './reminders.module.css'
import { type ComingEmail, emailsOf } from './runs.ts'
import { texts } from './texts.ts'

type Action = 'start' | 'send'
const t = texts.choose

interface SendDialogProps {
  /** The button that asks; null while closed. */
  action: Action | null
  /** Opens with the text of the first email. */
  reading: boolean
  onClose: () => void
  onConfirm: (action: Action, selection: RunSelection) => void
}

/** Asks before reminders are sent: who gets an email, each with a tick box, all ticked. */
export function SendDialog({ action, reading, onClose, onConfirm }: SendDialogProps): ReactNode {
  // The texts must stay while the dialog fades.
  const [last, setLast] = useState<Action>('start')
  if (action !== null && action !== last) setLast(action)
  return (
    <Dialog opened={action !== null} onClose={onClose} title={texts[last === 'start' ? 'start' : 'sendNow'].title} size={560}>
      <Choice action={last} reading={reading} onClose={onClose} onConfirm={(selection) => onConfirm(last, selection)} />
    </Dialog>
  )
}

interface ChoiceProps {
  action: Action
  reading: boolean
  onClose: () => void
  onConfirm: (selection: RunSelection) => void
}

/** Reads the query cache, so that its figures stay current while it is shown. Unmounted on closing: the next time all are ticked again. */
function Choice({ action, reading, onClose, onConfirm }: ChoiceProps): ReactNode {
  const preview = useApiQuery(reminderCalls.preview).data
  const status = useApiQuery(reminderCalls.status).data
  const settings = useApiQuery(reminderCalls.settings).data
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [combined, setCombined] = useState<boolean | null>(null)
  const currency = useCurrency()
  const markPreviewed = useMarkPreviewed()
  const unconfirmed = useUnconfirmed()
  const refused = useRefusal((action === 'start' ? reminderCalls.start : reminderCalls.sendNow).by)
  useEffect(markPreviewed, [markPreviewed])
  if (!preview || !status || !settings) return null
  const grouped = combined ?? settings.groupByClient
  const due = preview.lines.filter(action === 'start' ? ({ dueNow }) => dueNow : ({ sendNowLeft }) => sendNowLeft > 0)
  const chosen = due.filter(({ invoiceId }) => !left.has(invoiceId))
  const emails = emailsOf(due, grouped, action === 'start')
  const sent = emailsOf(chosen, grouped, action === 'start').length
  const skipped = preview.lines.filter((line) => line.daysOverdue > 0 && !due.includes(line)).length
  const repeats = action === 'send' && repeatedSendNow(chosen) !== null
  const toggle = (ids: string[], on: boolean) =>
    setLeft((before) => {
      const after = new Set(before)
      for (const id of ids) {
        if (on) after.delete(id)
        else after.add(id)
      }
      return after
    })
  const confirm = () =>
    onConfirm({
      // Only what was shown leaves, not also what became due since. A call takes no more ids: all are asked for without.
      ...(chosen.length < due.length || due.length <= mostSelected ? { invoiceIds: chosen.map(({ invoiceId }) => invoiceId) } : {}),
      ...(grouped === settings.groupByClient ? {} : { groupByClient: grouped }),
    })
  return (
    <>
      <ConfirmEmailNotice />
      {due.length === 0 ? (
        <p className={styles.question}>{action === 'start' ? texts.start.nothingDue : texts.sendNow.noneReady}</p>
      ) : (
        <>
          <p className={styles.question} aria-live="polite">
            {t.ready(sent, emails.length)}
          </p>
          <div className={styles.sum}>{formatSums(sumByCurrency(chosen, currency), currency)}</div>
          {action === 'send' && preview.remindedToday > 0 && (
            <p className={styles.quiet}>{`${texts.sendNow.again(preview.remindedToday)} ${texts.sendNow.limit}`}</p>
          )}
          <Ticks emails={emails} left={left} onToggle={toggle} />
          <Combine due={due} grouped={grouped} onChange={setCombined} />
        </>
      )}
      <FirstEmail
        kind={action === 'send' && chosen.length > 0 ? 'send_now' : 'start'}
        lines={chosen.length > 0 ? chosen : firstComing(preview.lines)}
        grouped={grouped}
        opened={reading}
      />
      {skipped > 0 && <p className={styles.quiet}>{(action === 'start' ? texts.start : texts.sendNow).skipped(skipped)}</p>}
      {!status.pause && <LastLeaves allowance={preview.allowance} emails={sent} zone={status.timezone} />}
      {status.pause && sent > 0 && <p className={styles.quiet}>{texts.start.pausedNow}</p>}
      {action === 'start' && (
        <p className={styles.quiet}>
          {(preview.lines.some(({ step }) => step !== null) ? texts.start.bySequence : texts.start.daily)(
            showHour(status.reminderHour),
            texts.status.zone(status.timezone),
          )}{' '}
          {left.size > 0 && t.later(left.size)}
        </p>
      )}
      <div role="status">
        {repeats && <p className={styles.warning}>{texts.sendNow.same}</p>}
        {due.length > 0 && sent === 0 && <p className={styles.warning}>{t.none}</p>}
      </div>
      <div className={dialogStyles.foot}>
        {refused !== undefined && <p className={controls.refused}>{refused}</p>}
        <Group justify="flex-end" gap={12}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancelDialog}
          </Button>
          <Button
            disabled={refused !== undefined || unconfirmed || repeats || (sent === 0 && (due.length > 0 || action === 'send'))}
            title={refused}
            onClick={confirm}
          >
            {action === 'start' ? texts.start.button : t.send(sent)}
          </Button>
        </Group>
      </div>
    </>
  )
}

/** Nothing is due now: the invoice that is reminded first. */
function firstComing(lines: PreviewLine[]): PreviewLine[] {
  return lines.toSorted((one, other) => (one.dueDate < other.dueDate ? -1 : 1)).slice(0, 1)
}

interface TicksProps {
  emails: ComingEmail[]
  /** The invoices that were unticked. */
  left: ReadonlySet<string>
  onToggle: (invoiceIds: string[], on: boolean) => void
}

/** A tick box per email, and one for all. */
function Ticks({ emails, left, onToggle }: TicksProps): ReactNode {
  const ids = emails.flatMap(idsOf)
  const some = ids.filter((id) => !left.has(id)).length
  return (
    <>
      {emails.length > 1 && (
        <label className={styles.all}>
          <input
            type="checkbox"
            className={styles.tick}
            checked={some === ids.length}
            ref={(box) => {
              if (box) box.indeterminate = some > 0 && some < ids.length
            }}
            onChange={(event) => onToggle(ids, event.currentTarget.checked)}
          />
          {t.all(emails.length)}
        </label>
      )}
      <ScrollList label={texts.start.list}>
        {emails.map((email) => (
          <li key={email.lines[0].invoiceId}>
            <EmailTick email={email} left={left} onToggle={onToggle} />
          </li>
        ))}
      </ScrollList>
    </>
  )
}

function idsOf({ lines }: ComingEmail): string[] {
  return lines.map(({ invoiceId }) => invoiceId)
}

function EmailTick({ email, left, onToggle }: { email: ComingEmail } & Omit<TicksProps, 'emails'>): ReactNode {
  const { clientName, clientEmail, lines, total } = email
  const ids = idsOf(email)
  // Of several, the text is that of the latest step.
  const step = lines.reduce<PreviewLine['step']>(
    (latest, line) => (line.step && line.step.offset > (latest?.offset ?? -61) ? line.step : latest),
    null,
  )
  return (
    <label className={styles.tickRow}>
      <input
        type="checkbox"
        className={styles.tick}
        checked={ids.some((id) => !left.has(id))}
        onChange={(event) => onToggle(ids, event.currentTarget.checked)}
      />
      <span className={styles.tickName}>{clientName}</span>
      <strong className={styles.owed}>{formatMoney(total.amount, total.currency)}</strong>
      <span className={styles.tickDetail} title={clientEmail}>
        {`${t.references(lines.map(({ reference }) => reference))} · ${clientEmail}`}
      </span>
      <span className={styles.late} data-late>
        {lateness(Math.max(...lines.map(({ daysOverdue }) => daysOverdue)))}
      </span>
      {step && <span className={styles.tickStep}>{texts.step(step)}</span>}
    </label>
  )
}

/** Where several invoices of a client are due: one email for all of them, or several, in this run. */
function Combine({ due, grouped, onChange }: { due: PreviewLine[]; grouped: boolean; onChange: (grouped: boolean) => void }): ReactNode {
  const several = emailsOf(due, true).filter(({ lines }) => lines.length > 1).length
  if (several === 0) return null
  return (
    <p className={styles.combine}>
      {grouped ? t.combined(several) : t.several(several)}{' '}
      <button type="button" className={styles.inline} onClick={() => onChange(!grouped)}>
        {grouped ? t.separate : t.combine}
      </button>
    </p>
  )
}

const firstTexts = texts.firstEmail

interface FirstEmailProps {
  kind: 'send_now' | 'start'
  /** The invoices that would be reminded. */
  lines: PreviewLine[]
  grouped: boolean
  /** Unfolded from the beginning. */
  opened: boolean
}

/** The first of the emails, folded: exactly what the client receives. */
function FirstEmail({ kind, lines, grouped, opened }: FirstEmailProps): ReactNode {
  const [wanted, setWanted] = useState(opened)
  const [email] = emailsOf(lines, grouped, kind === 'start')
  if (!email) return null
  return (
    <details className={styles.reading} open={opened} onToggle={({ currentTarget }) => setWanted((before) => before || currentTarget.open)}>
      <summary className={styles.read}>
        {firstTexts.read}
        <IconChevronDown size={20} className={styles.chevron} aria-hidden />
      </summary>
      {wanted && <Text kind={kind} invoiceIds={idsOf(email)} grouped={grouped} />}
    </details>
  )
}

function Text({ kind, invoiceIds, grouped }: { kind: FirstEmailProps['kind']; invoiceIds: string[]; grouped: boolean }): ReactNode {
  const draft = useApiQuery(reminderCalls.draft, { body: { invoiceIds, groupByClient: grouped, kind } }, { staleTime: 0 })
  if (draft.isError) return <p className={styles.quiet}>{firstTexts.failed(errorMessage(draft.error))}</p>
  if (!draft.data) return <p className={styles.quiet}>{firstTexts.loading}</p>
  const { email } = draft.data
  return (
    email && (
      <div className={styles.message}>
        <p className={styles.subject}>{email.subject}</p>
        <p className={styles.messageText}>{email.text}</p>
      </div>
    )
  )
}

interface LastLeavesProps {
  allowance: CallReply<typeof reminderCalls.preview>['allowance']
  emails: number
  zone: string
}

/** A run by hand sends for so many hours. */
const hoursOfRun = 4

/** When the last of these emails leaves, where the mailbox may not send all at once. */
function LastLeaves({ allowance, emails, zone }: LastLeavesProps): ReactNode {
  if (allowance === null || emails <= allowance.room) return null
  const { perHour, room, today } = allowance
  const hours = perHour === null ? Number.POSITIVE_INFINITY : Math.ceil((emails - room) / perHour)
  if (emails <= (today ?? emails) && hours < hoursOfRun)
    return <p className={styles.quiet}>{t.lastLeaves(room, showClock(zone, new Date(Date.now() + hours * 3_600_000)))}</p>
  const within = perHour === null ? room : room + perHour * (hoursOfRun - 1)
  return <p className={styles.quiet}>{t.someLater(Math.min(within, today ?? within))}</p>
}
