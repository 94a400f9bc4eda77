import { z } from 'zod'
import { proof } from './accounts.ts'
import { call } from './call.ts'
import { entered } from './text.ts'

/** What one look at a watched address led to. */
const pull = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'Names it as an import, to undo it.' }),
    at: z.string().meta({ format: 'date-time' }),
    state: z
      .enum(['applied', 'waiting', 'failed'])
      .meta({ description: '`waiting`: it changes so much that a person looks through it first.' }),
    message: z.string().nullable().meta({ description: 'Why it failed or waits, or what the file leaves open.' }),
    imported: z.number().int(),
    updated: z.number().int(),
    unchanged: z.number().int(),
    refused: z.number().int().meta({ description: 'Lines that are no invoice, or that something is wrong with.' }),
    undoable: z.boolean().meta({ description: 'Whether it made changes that were not undone yet.' }),
  })
  .meta({ id: 'Pull' })
export type Pull = z.infer<typeof pull>

const source = z
  .object({
    _id: z.string(),
    name: z.string(),
    url: z.string().nullable().meta({ description: 'null below an admin: who has the link can read the file.' }),
    daysToPay: z.number().int().nullable(),
    missingMeansPaid: z.boolean(),
    createdAt: z.string(),
    /** Failures since the last one that worked. */
    failures: z.number().int(),
    /** Who set it up has left, and no one has taken it over: it is not read. */
    handedOver: z.boolean(),
    lastPull: pull.nullable(),
  })
  .meta({ id: 'Source' })
export type WatchedSource = z.infer<typeof source>

const settings = {
  name: entered()
    .min(1, 'Please enter a name.')
    .max(80, 'Please enter a name of at most 80 characters.')
    .refine((text) => !/\p{Cc}/u.test(text), 'Please enter a name on one line.'),
  url: z
    .string()
    .trim()
    .max(2_000, 'Please enter an address of at most 2,000 characters.')
    .pipe(z.url({ protocol: /^https?$/, error: 'Please enter an address that begins with https://.' })),
  daysToPay: z
    .number()
    .int('Please enter whole days.')
    .min(0, 'Please enter 0 to 365 days.')
    .max(365, 'Please enter 0 to 365 days.')
    .nullable()
    .meta({ description: 'Added to the date of an invoice that has no due date.' }),
  missingMeansPaid: z.boolean().meta({ description: 'Whether open invoices from there that the file lacks are marked as paid.' }),
}

const look = z
  .object({
    /** Names what is shown, so that nothing else is applied. */
    fingerprint: z.string(),
    /** How many invoices it creates, updates or marks as paid. */
    changes: z.number().int(),
    /** Whether a person must look through it first. */
    waits: z.boolean(),
    /** What the file leaves open, in sentences. Rows that depend on it are not recorded. */
    asks: z.array(z.string()),
    /** The lines that create, change, miss or refuse something, at most 500. */
    lines: z.array(
      z.object({
        line: z.number().int(),
        reference: z.string(),
        state: z.enum(['ready', 'update', 'missing', 'noted', 'same', 'duplicate', 'bad', 'left', 'waits']),
        /** Client and what is owed, such as `Kaveri Foods, ₹5,000.00`; empty where the line is no invoice. */
        about: z.string(),
        message: z.string().nullable(),
      }),
    ),
    /** What was applied; null where it was only looked at. */
    pull: pull.nullable(),
  })
  .meta({ id: 'SourceLook' })
export type SourceLook = z.infer<typeof look>

const byId = z.object({ id: z.string() })

export const sourceCalls = {
  list: call({
    method: 'GET',
    path: '/sources',
    by: 'viewer',
    summary: 'The addresses that invoices are imported from every day; their links for admins only.',
    reply: z.array(source),
  }),
  create: call({
    method: 'POST',
    path: '/sources',
    by: 'admin',
    status: 201,
    summary: 'Watch the address of a CSV file or of a Google Sheet. Needs `currentPassword` or `code`, as payment settings do.',
    body: z.strictObject({
      name: settings.name.optional(),
      url: settings.url,
      daysToPay: settings.daysToPay.default(null),
      missingMeansPaid: settings.missingMeansPaid.default(false),
      ...proof,
    }),
    reply: source,
  }),
  update: call({
    method: 'PATCH',
    path: '/sources/:id',
    by: 'admin',
    summary: 'Change a watched address. Another `url` needs `currentPassword` or `code`, as payment settings do.',
    params: byId,
    body: z.strictObject({ ...settings, ...proof }).partial(),
    reply: source,
  }),
  remove: call({
    method: 'DELETE',
    path: '/sources/:id',
    by: 'admin',
    summary: 'Watch an address no longer; its invoices stay.',
    params: byId,
  }),
  pull: call({
    method: 'POST',
    path: '/sources/:id/pull',
    by: 'admin',
    summary: 'Look at a watched address now, and apply what it changes.',
    params: byId,
    body: z.strictObject({
      apply: z.boolean().default(false).meta({ description: 'False: nothing changes.' }),
      fingerprint: z.string().max(100).optional().meta({ description: 'Of what was looked through; without it, much is refused.' }),
    }),
    reply: look,
  }),
}
