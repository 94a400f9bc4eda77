import { IconChevronDown } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import {
  EmailTooLarge,
  groupValues,
  type RenderedReminder,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  type Template,
  templateCalls,
} from '#contract/templates.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { type ComingEmail, emailsOf } from './next-runs.ts'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

const t = texts.firstEmail

interface FirstEmailProps {
  /** The invoices that would be reminded. */
  lines: PreviewLine[]
  grouped: boolean
  /** Unfolded from the beginning. */
  opened: boolean
}

/** The first of the emails, folded: exactly what the client receives. */
export function FirstEmail({ lines, grouped, opened }: FirstEmailProps): ReactNode {
  const [wanted, setWanted] = useState(opened)
  const [email] = emailsOf(lines, grouped)
  if (!email) return null
  return (
    <details className={styles.reading} open={opened} onToggle={({ currentTarget }) => setWanted((before) => before || currentTarget.open)}>
      <summary className={styles.read}>
        {t.read}
        <IconChevronDown size={20} className={styles.chevron} aria-hidden />
      </summary>
      {wanted && <Text email={email} />}
    </details>
  )
}

function Text({ email }: { email: ComingEmail }): ReactNode {
  const several = email.lines.length > 1
  const template = useApiQuery(several ? templateCalls.readGroup : templateCalls.read)
  const profile = useApiQuery(accountCalls.profile)
  if (template.isError) return <p className={styles.quiet}>{t.failed(errorMessage(template.error))}</p>
  if (!template.data || !profile.data) return <p className={styles.quiet}>{t.loading}</p>
  const rendered = render(email, template.data, profile.data.displayName)
  if (rendered === null) return <p className={styles.quiet}>{t.tooLarge}</p>
  return (
    <div className={styles.message}>
      <p className={styles.subject}>{rendered.subject}</p>
      <p className={styles.messageText}>{rendered.text}</p>
    </div>
  )
}

/** Must render with the functions of the contract that the server sends with. Null where the email would be too large to send. */
function render({ lines, clientName, total }: ComingEmail, template: Template, userName: string): RenderedReminder | null {
  const wording = template.useCustomTemplate
    ? { subject: template.customSubject, content: template.customContent }
    : { subject: template.defaultSubject, content: template.defaultContent }
  // No reminder is sent before the day after the due date.
  const invoices = lines.map((line) => ({ ...line, daysOverdue: Math.max(1, line.daysOverdue) }))
  const [first] = invoices
  try {
    if (invoices.length > 1 || !first)
      return renderGroupReminder(
        wording,
        groupValues({ clientName, userName, invoices, count: invoices.length, total: total.amount, currency: total.currency }),
      )
    return renderReminder(wording, reminderValues({ ...first, userName }))
  } catch (error) {
    if (error instanceof EmailTooLarge) return null
    throw error
  }
}
