import { accountCalls } from './accounts.ts'
import { bankFileCalls } from './bank-file.ts'
import { billingCalls } from './billing.ts'
import { businessCalls, teamCalls } from './business.ts'
import type { Call } from './call.ts'
import { clientCalls } from './clients.ts'
import { evidenceCalls } from './evidence.ts'
import { fileLayoutCalls } from './file-layouts.ts'
import { insightCalls } from './insights.ts'
import { integrationCalls } from './integrations.ts'
import { invoiceCalls, noteCalls } from './invoices.ts'
import { leavingCalls } from './leaving.ts'
import { mailCalls } from './mail.ts'
import { noticeCalls } from './notices.ts'
import { ownerLinkCalls } from './owner-links.ts'
import { payAnswerCalls } from './pay-answers.ts'
import { invoiceFileCalls, payLinkCalls } from './pay-links.ts'
import { paymentSettingsCalls } from './payment-settings.ts'
import { paymentCalls } from './payments.ts'
import { quietDayCalls } from './quiet-days.ts'
import { reminderCalls } from './reminders.ts'
import { sequenceCalls } from './sequences.ts'
import { sourceCalls } from './sources.ts'
import { templateCalls } from './templates.ts'

/** Every call, for tests that check all of them. */
export const everyCall: Call[] = [
  accountCalls,
  businessCalls,
  teamCalls,
  invoiceCalls,
  noteCalls,
  paymentCalls,
  bankFileCalls,
  fileLayoutCalls,
  clientCalls,
  mailCalls,
  templateCalls,
  reminderCalls,
  sequenceCalls,
  leavingCalls,
  ownerLinkCalls,
  quietDayCalls,
  insightCalls,
  evidenceCalls,
  noticeCalls,
  billingCalls,
  paymentSettingsCalls,
  payLinkCalls,
  invoiceFileCalls,
  payAnswerCalls,
  integrationCalls,
  sourceCalls,
].flatMap((slice) => Object.values<Call>(slice))
