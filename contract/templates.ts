import { z } from 'zod'
import { call } from './call.ts'

export const templateVariables = ['invoiceId', 'clientName', 'amount', 'dueDate', 'daysOverdue', 'userName'] as const
export type TemplateVariable = (typeof templateVariables)[number]

export const template = z.object({
  useCustomTemplate: z.boolean(),
  customSubject: z.string(),
  customContent: z.string(),
  defaultSubject: z.string(),
  defaultContent: z.string(),
})
export type Template = z.infer<typeof template>

export const templateChange = z
  .strictObject({
    useCustomTemplate: z.boolean(),
    customSubject: z.string().max(200, 'Please enter a subject of at most 200 characters.'),
    customContent: z.string().max(20_000, 'Please enter a text of at most 20,000 characters.'),
  })
  .partial()

export const templateCalls = {
  read: call({ method: 'GET', path: '/mail-config/template', summary: 'The wording of my reminders.', reply: template }),
  save: call({
    method: 'PUT',
    path: '/mail-config/template',
    summary: 'Change the wording of my reminders.',
    body: templateChange,
    reply: template,
  }),
}
