import { accountCalls } from './accounts.ts'
import { billingCalls } from './billing.ts'
import type { Call } from './call.ts'
import { integrationCalls } from './integrations.ts'
import { invoiceCalls } from './invoices.ts'
import { mailCalls } from './mail.ts'
import { noticeCalls } from './notices.ts'
import { reminderCalls } from './reminders.ts'
import { templateCalls } from './templates.ts'

/** Every call there is: what "every call is answered" and "every stranger is refused" walk. */
export const everyCall: Call[] = [
  accountCalls,
  invoiceCalls,
  mailCalls,
  templateCalls,
  reminderCalls,
  noticeCalls,
  billingCalls,
  integrationCalls,
].flatMap((slice) => Object.values<Call>(slice))
