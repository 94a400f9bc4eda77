import { hookTrigger } from './hook.js'
import { answerEvent, answerEventFields } from './samples.js'

export const clientAnswered = hookTrigger({
  key: 'client_answered',
  event: 'client.answered',
  noun: 'Answer',
  label: 'Client Answered',
  description: 'Triggers when a client says on a pay page that they have paid, will pay, have a question or are the wrong person.',
  sample: answerEvent,
  outputFields: answerEventFields,
})
