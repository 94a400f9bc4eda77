import { z } from 'zod'
import { call } from './call.ts'
import { entered } from './text.ts'

/** Layouts that an account keeps of each kind: far more than a business has banks. */
export const mostLayouts = 50
/** Answers of one layout, and characters of what it is recognised by. */
const mostAnswers = 60
export const longestHeadings = 4_000

const kind = z.enum(['bank', 'invoices']).meta({ description: 'Of bank files, or of lists of invoices.' })
export type LayoutKind = z.infer<typeof kind>

const answerText = z.string().max(200, 'Please keep answers of at most 200 characters.')
const answer = z
  .strictObject({
    question: answerText.min(1).meta({ description: 'Such as `order/date`, or `column/amount` for a chosen column.' }),
    answer: answerText.meta({ description: 'Such as `dmy`.' }),
  })
  .meta({ id: 'FileAnswer', description: 'What a person answered about a file.' })
export type FileAnswer = z.output<typeof answer>
const answers = z.array(answer).max(mostAnswers, `Please keep at most ${mostAnswers} answers of one layout.`)
const name = entered().min(1, 'Please enter a name.').max(100, 'Please enter a name of at most 100 characters.')
const headings = z.string().min(1).max(longestHeadings).meta({ description: 'What files of this layout have in common.' })

export const fileLayout = z
  .object({
    _id: z.string().meta({ format: 'uuid' }),
    kind,
    headings,
    name: z.string(),
    answers,
    usedAt: z.string().meta({ format: 'date-time', description: 'When it was kept, or its answers were last kept again.' }),
  })
  .meta({ id: 'FileLayout', description: 'What a person answered about files with the same headings.' })
export type FileLayout = z.output<typeof fileLayout>

const params = z.object({ id: z.string() })

export const fileLayoutCalls = {
  list: call({
    method: 'GET',
    path: '/file-layouts',
    by: 'viewer',
    summary: 'The layouts of files whose questions were answered, the latest first.',
    reply: z.array(fileLayout),
  }),
  keep: call({
    method: 'PUT',
    path: '/file-layouts',
    by: 'member',
    summary: 'Keep the answers for files with these headings, instead of those that were kept before.',
    body: z.strictObject({ kind, headings, name, answers }),
    reply: fileLayout,
  }),
  rename: call({
    method: 'PATCH',
    path: '/file-layouts/:id',
    by: 'member',
    summary: 'Rename a layout.',
    params,
    body: z.strictObject({ name }),
    reply: fileLayout,
  }),
  remove: call({
    method: 'DELETE',
    path: '/file-layouts/:id',
    by: 'member',
    summary: 'Delete a layout: the next file with its headings is asked about again.',
    params,
  }),
}
