import type { SequenceStep, Tone } from './sequences.ts'
import { defaultContent, defaultGroupContent, defaultGroupSubject, defaultSubject } from './templates.ts'

/* Apart from the calls of sequences: only the screen on which a sequence begins needs these texts. */

type Texts = Pick<SequenceStep, 'subject' | 'content' | 'groupSubject' | 'groupContent'>

/** The text of a step between the greeting, the facts and the closing of the default. `due`: the line of the due date. */
function textsOf(about: { subject: string; groupSubject: string; one: string; many: string; due: string }): Texts {
  return {
    subject: about.subject,
    content: `Dear {{clientName}},

${about.one}

<strong>{{amount}}</strong>
Invoice <b>{{invoiceId}}</b> from {{businessName}}
${about.due}

Kind regards,
{{userName}}`,
    groupSubject: about.groupSubject,
    groupContent: `Dear {{clientName}},

${about.many}

<strong>{{totalAmount}}</strong>
{{invoiceCount}} invoices from {{businessName}}

{{invoiceList}}

Kind regards,
{{userName}}`,
  }
}

const due = 'Due on {{dueDate}}'
const overdue = 'Due on {{dueDate}}, {{daysOverdue}} days overdue'

/** The texts that a new step begins with. */
export const stepTexts = {
  before: textsOf({
    subject: 'Invoice {{invoiceId}} is due on {{dueDate}}',
    groupSubject: '{{totalAmount}} is due soon',
    one: 'This is a short note that the invoice below will be due soon. If payment is already arranged, thank you: nothing more is needed.',
    many: 'This is a short note that the invoices below will be due soon. If payment is already arranged, thank you: nothing more is needed.',
    due,
  }),
  due: textsOf({
    subject: 'Payment for invoice {{invoiceId}} is due on {{dueDate}}',
    groupSubject: '{{totalAmount}} is due',
    one: 'Please note the due date of the invoice below. If the payment is on its way, thank you.',
    many: 'Please note the due date of the invoices below. If the payment is on its way, thank you.',
    due,
  }),
  friendly: { subject: defaultSubject, content: defaultContent, groupSubject: defaultGroupSubject, groupContent: defaultGroupContent },
  firm: textsOf({
    subject: 'Invoice {{invoiceId}} is still unpaid',
    groupSubject: '{{totalAmount}} is still unpaid',
    one: 'We have written to you about the payment below and have not received it. Please pay within the next 7 days, or reply and tell us when we can expect it. If anything about the invoice is wrong, please tell us now, so that we can put it right.',
    many: 'We have written to you about the payments below and have not received them. Please pay within the next 7 days, or reply and tell us when we can expect it. If anything about the invoices is wrong, please tell us now, so that we can put it right.',
    due: overdue,
  }),
  final: textsOf({
    subject: 'Final reminder: invoice {{invoiceId}}',
    groupSubject: 'Final reminder: {{totalAmount}}',
    one: 'Despite our reminders the payment below is still open. Please pay within 7 days of this email. If we hear nothing by then, we will have to consider further steps to recover the amount. If you cannot pay all of it now, reply, so that we can agree on a date.',
    many: 'Despite our reminders the payments below are still open. Please pay within 7 days of this email. If we hear nothing by then, we will have to consider further steps to recover the amount. If you cannot pay all of it now, reply, so that we can agree on a date.',
    due: overdue,
  }),
} satisfies Record<'before' | 'due' | Tone, Texts>

/** A new step with the texts for its tone and day. */
export function newStep(offset: number, tone: Tone): SequenceStep {
  const texts = offset < 0 ? stepTexts.before : offset === 0 ? stepTexts.due : stepTexts[tone]
  return { offset, tone, ...texts, copyToMe: false, copyToSecondContact: false }
}

/** Sequences to begin from. */
export const readySequences = [
  {
    name: 'Friendly to final',
    steps: [newStep(-3, 'friendly'), newStep(1, 'friendly'), newStep(7, 'friendly'), newStep(14, 'firm'), newStep(30, 'final')],
    everyDays: null,
    atMost: 8,
    atLeast: 3,
  },
  {
    name: 'Gentle',
    steps: [newStep(3, 'friendly'), newStep(10, 'friendly'), newStep(21, 'firm')],
    everyDays: 14,
    atMost: 6,
    atLeast: 5,
  },
]
