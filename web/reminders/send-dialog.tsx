import { Button, Group } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { formatRupees } from '#contract/money.ts'
import { type PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { useMarkPreviewed } from '#web/platform/first-steps.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { lateness } from '#web/ui/dates.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { ScrollList } from '#web/ui/due-list.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { showHour } from './dates.ts'
import { FirstEmail } from './first-email.tsx'
import { type ComingEmail, clientsOf, emailsOf, totalOf } from './next-runs.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

type Action = 'start' | 'send'
const t = texts.choose

interface SendDialogProps {
  /** The button that asks; null while closed. */
  action: Action | null
  /** Opens with the text of the first email. */
  reading: boolean
  onClose: () => void
  onConfirm: (action: Action) => void
}

/** Asks before reminders are sent: who gets an email. */
export function SendDialog({ action, reading, onClose, onConfirm }: SendDialogProps): ReactNode {
  // The texts must stay while the dialog fades.
  const [last, setLast] = useState<Action>('start')
  if (action !== null && action !== last) setLast(action)
  return (
    <Dialog opened={action !== null} onClose={onClose} title={texts[last === 'start' ? 'start' : 'sendNow'].title} size={560}>
      <Choice action={last} reading={reading} onClose={onClose} onConfirm={() => onConfirm(last)} />
    </Dialog>
  )
}

interface ChoiceProps {
  action: Action
  reading: boolean
  onClose: () => void
  onConfirm: () => void
}

/** Reads the query cache, so that its figures stay current while it is shown. */
function Choice({ action, reading, onClose, onConfirm }: ChoiceProps): ReactNode {
  const preview = useApiQuery(reminderCalls.preview).data
  const status = useApiQuery(reminderCalls.status).data
  const settings = useApiQuery(reminderCalls.settings).data
  const markPreviewed = useMarkPreviewed()
  useEffect(markPreviewed, [markPreviewed])
  if (!preview || !status || !settings) return null
  const due = preview.lines.filter(action === 'start' ? ({ dueNow }) => dueNow : ({ sendNowLeft }) => sendNowLeft > 0)
  const emails = emailsOf(due, settings.groupByClient)
  const skipped = preview.lines.filter((line) => line.daysOverdue > 0 && !due.includes(line)).length
  return (
    <>
      {due.length === 0 ? (
        <p className={styles.question}>{texts.start.nothingDue}</p>
      ) : (
        <>
          <p className={styles.question} aria-live="polite">
            {t.ready(emails.length)}
          </p>
          <div className={styles.sum}>{formatRupees(totalOf(due))}</div>
          {action === 'send' && preview.remindedToday > 0 && (
            <p className={styles.quiet}>{`${texts.sendNow.again(preview.remindedToday)} ${texts.sendNow.limit}`}</p>
          )}
          <Emails emails={emails} />
          <Combine due={due} grouped={settings.groupByClient} />
        </>
      )}
      <FirstEmail lines={due.length > 0 ? due : firstComing(preview.lines)} grouped={settings.groupByClient} opened={reading} />
      {skipped > 0 && <p className={styles.quiet}>{texts.start.skipped(skipped)}</p>}
      {status.pause && emails.length > 0 && <p className={styles.quiet}>{texts.start.pausedNow}</p>}
      {action === 'start' && (
        <p className={styles.quiet}>{texts.start.daily(showHour(status.reminderHour), texts.status.zone(status.timezone))}</p>
      )}
      <div className={styles.foot}>
        <Group justify="flex-end" gap={12}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancelDialog}
          </Button>
          <Button onClick={onConfirm}>{action === 'start' ? texts.start.button : t.send(emails.length)}</Button>
        </Group>
      </div>
    </>
  )
}

/** Nothing is due now: the invoice that is reminded first. */
function firstComing(lines: PreviewLine[]): PreviewLine[] {
  return lines.toSorted((one, other) => (one.dueDate < other.dueDate ? -1 : 1)).slice(0, 1)
}

function Emails({ emails }: { emails: ComingEmail[] }): ReactNode {
  return (
    <ScrollList label={texts.start.list}>
      {emails.map(({ clientName, clientEmail, lines, total }) => (
        <li key={lines[0].invoiceId} className={styles.tickRow}>
          <span className={styles.tickName}>{clientName}</span>
          <strong className={styles.owed}>{formatRupees(total)}</strong>
          <span className={styles.tickDetail} title={clientEmail}>
            {`${t.references(lines.map(({ reference }) => reference))} · ${clientEmail}`}
          </span>
          <span className={styles.late} data-late>
            {lateness(Math.max(...lines.map(({ daysOverdue }) => daysOverdue)))}
          </span>
        </li>
      ))}
    </ScrollList>
  )
}

/** Where several invoices of a client are due: one email for all of them, from now on. */
function Combine({ due, grouped }: { due: PreviewLine[]; grouped: boolean }): ReactNode {
  const several = due.length - clientsOf(due) > 0 ? clientsWithSeveral(due) : 0
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.preview],
    update: (cache, settings) => cache.write(reminderCalls.settings, settings),
  })
  if (several === 0) return null
  return (
    <>
      <p className={styles.combine}>
        {grouped ? t.combined(several) : t.several(several)}{' '}
        <button
          type="button"
          className={styles.inline}
          aria-disabled={change.isPending}
          onClick={() => {
            if (!change.isPending) change.mutate({ body: { groupByClient: !grouped } })
          }}
        >
          {grouped ? t.separate : t.combine}
        </button>
      </p>
      <FormError message={change.isError ? texts.grouping.notSaved(errorMessage(change.error)) : null} />
    </>
  )
}

function clientsWithSeveral(lines: PreviewLine[]): number {
  return emailsOf(lines, true).filter((email) => email.lines.length > 1).length
}
