import { z } from 'zod'
import { call } from './call.ts'
import { fingerprint } from './sequence-choice.ts'
import { entered } from './text.ts'

/** Own days that an account may have. */
export const mostOwnDays = 200
export const tooManyDays = `Please enter at most ${mostOwnDays} days.`

const countryWanted = 'Please choose a country.'
export const country = z
  .string(countryWanted)
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{2}$/, countryWanted)
const regionWanted = 'Please choose a region of that country.'
export const region = z.string(regionWanted).trim().max(40, regionWanted)

/** Which days are quiet: part of the settings of reminders. */
export const quietSettings = {
  quietWeekends: z.boolean().meta({
    description:
      'No reminder leaves on the weekend of the client. Off at first; `sequence` turns it on the first time that it names one of yours, unless it is named too.',
  }),
  quietHolidays: z.boolean().meta({ description: 'None leaves on a public holiday of the client. Off at first, and turned on likewise.' }),
  ownHolidaysToo: z
    .boolean()
    .meta({ description: 'With `quietHolidays`, the public holidays of your own country and region are quiet for clients elsewhere too.' }),
  country: country.nullable().meta({ description: 'Your country by its ISO 3166 code; null: that of your time zone.' }),
  region: region
    .nullable()
    .meta({ description: 'A region of it, by a code of `GET /reminder/holidays`; null: the days of the whole country.' }),
}

/** Smart reminders: part of the settings of reminders too. */
export const smartSettings = {
  smart: z.boolean('Please choose whether Duely may move steps.').meta({
    description: 'Duely may move a step of a sequence after the due date to another day, by how each client has paid. Off at first.',
  }),
  smartDays: z
    .number('Please enter 1 to 10 days.')
    .int('Please enter 1 to 10 days.')
    .min(1, 'Please enter 1 to 10 days.')
    .max(10, 'Please enter 1 to 10 days.')
    .meta({ description: 'By up to so many days; 5 at first.' }),
}

export type QuietSettings = z.output<z.ZodObject<typeof quietSettings>>

const day = z.iso.date('Please enter a date.')

const ownDay = z.strictObject({
  date: day,
  name: entered('Please enter a name.')
    .max(80, 'Please enter a name of at most 80 characters.')
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'Please enter the name on one line.'),
  open: z.boolean().meta({ description: 'Reminders leave in spite of a weekend or public holiday; else none leave.' }),
})
export type OwnDay = z.output<typeof ownDay>

export const ownDays = z
  .array(ownDay)
  .max(mostOwnDays, tooManyDays)
  .refine((days) => new Set(days.map(({ date }) => date)).size === days.length, 'Please enter each day once.')
  .meta({ description: 'All of them: those that are not named are removed.' })

/** The changes from `was` to `wanted`, made to days that others may have changed meanwhile. */
export function changeDays(days: OwnDay[], was: OwnDay[], wanted: OwnDay[]): OwnDay[] {
  const at = (list: OwnDay[], date: string) => list.filter((day) => day.date === date).map(({ name, open }) => `${open} ${name}`)[0]
  const isChanged = ({ date }: OwnDay) => at(was, date) !== at(wanted, date)
  const after = [...days.filter((day) => !isChanged(day)), ...wanted.filter(isChanged)]
  return after.toSorted((one, other) => (one.date < other.date ? -1 : 1))
}

const storedDays = z.array(ownDay.meta({ id: 'OwnDay', description: 'A day that is quiet, or open, for all of your clients.' }))

const holiday = z
  .object({
    date: z.string().meta({ format: 'date' }),
    name: z.string(),
    mayMove: z.boolean().meta({ description: 'It depends on the moon, and may be a day earlier or later.' }),
  })
  .meta({ id: 'Holiday', description: 'A public holiday.' })

export const holidays = z
  .object({
    country: z.string().nullable().meta({ description: 'The country of these days, by its ISO 3166 code; null where none is known.' }),
    name: z.string().nullable().meta({ description: 'Its name.' }),
    region: z.string().nullable(),
    weekend: z.array(z.number().int()).meta({ description: 'The days of the week of its weekend, 1 for Monday to 7 for Sunday.' }),
    until: z.string().meta({ format: 'date', description: 'The last day that is known: later ones count as open.' }),
    days: z.array(holiday).meta({ description: 'Its public holidays of the next days, from today on.' }),
    ownDays: storedDays.meta({ description: 'Your own days, by date.' }),
    countries: z
      .array(z.object({ code: z.string(), name: z.string(), regions: z.array(z.object({ code: z.string(), name: z.string() })) }))
      .nullable()
      .meta({
        description: 'The countries whose holidays are known, by name, with the regions that have their own; null where one was asked for.',
      }),
  })
  .meta({ id: 'Holidays', description: 'The public holidays of a country or region.' })
export type Holidays = z.infer<typeof holidays>

const daysWanted = 'Please enter 1 to 3,000 days.'

export const quietDayCalls = {
  read: call({
    method: 'GET',
    path: '/reminder/holidays',
    by: 'viewer',
    summary: 'The public holidays of a country or region, and my own days.',
    query: z.strictObject({
      country: country.optional().meta({ description: 'Without it your own country and region.' }),
      region: region.optional().meta({ description: 'A region of that country, by its code.' }),
      days: z.coerce
        .number(daysWanted)
        .int(daysWanted)
        .min(1, daysWanted)
        .max(3_000, daysWanted)
        .default(366)
        .meta({ description: 'How many days ahead.' }),
    }),
    reply: holidays,
  }),
  replaceOwnDays: call({
    method: 'PUT',
    path: '/reminder/own-days',
    by: 'admin',
    summary: 'Change my own days: quiet ones, or open ones in spite of a weekend or public holiday.',
    body: z.strictObject({
      days: ownDays,
      was: ownDays.optional().meta({
        description:
          'The days as they were read: then only what differs from them is changed, and days that others changed meanwhile stay. Without it the whole list is replaced.',
      }),
      fingerprint,
    }),
    reply: z.object({ days: storedDays }),
  }),
}
