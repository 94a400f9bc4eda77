import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import type { CallParts } from '#contract/call.ts'
import type { OwnDay } from '#contract/quiet-days.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { isBuiltIn } from '#contract/sequence-choice.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { clients } from '#server/invoices/tables.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import { invalid } from '#server/platform/problem-error.ts'
import { countryOf, holidayNumbers, holidaysOf, isKnown, type Place, weekendOf } from './holidays.ts'
import { type Calendar, type DayNumber, dayNumber, type PlanClient } from './plan.ts'
import { ownDays } from './tables.ts'
import { texts } from './texts.ts'

/** What of an account says which days are quiet. */
export type QuietAccount = Pick<AccountRow, 'id' | 'timezone' | 'country' | 'region' | 'quietWeekends' | 'quietHolidays' | 'ownHolidaysToo'>

/** The quiet days of an account and its clients. */
export interface Quiet {
  calendar: Calendar | null
  /** Those that are not as the account, by their address in lower case. */
  clients: Map<string, PlanClient>
  /** Why a date is quiet for a client, where a name says it; null: a weekend, or an open day. */
  say(clientKey: string, date: string): string | null
}

/** Where a client lives, and by which clock; null: as the account. */
export interface Whereabouts {
  country: string | null
  region: string | null
  timezone: string | null
}

/** The place of an account: its country, else that of its time zone. Null where there is none, as in UTC. */
export function placeOfAccount({ timezone, country, region }: Pick<QuietAccount, 'timezone' | 'country' | 'region'>): Place | null {
  return placeIn(country ?? countryOf(timezone), region)
}

/** The place of a client: its own, else that of its time zone, else that of the account. */
function placeOfClient({ country, region, timezone }: Whereabouts, account: Place | null): Place | null {
  const there = country ?? (timezone === null ? null : countryOf(timezone)) ?? account?.country ?? null
  return placeIn(there, region ?? (there === account?.country ? (account?.region ?? null) : null))
}

/** A region of another country counts as none. */
function placeIn(country: string | null, region: string | null): Place | null {
  return country === null ? null : { country, region: isKnown({ country, region }) ? region : null }
}

export function readOwnDays(db: Database, ownerId: string): Promise<OwnDay[]> {
  return db
    .select({ date: ownDays.date, name: ownDays.name, open: ownDays.open })
    .from(ownDays)
    .where(eq(ownDays.ownerId, ownerId))
    .orderBy(ownDays.date)
}

/** What of it changes. */
export type Move = { [K in keyof Whereabouts]?: Whereabouts[K] | undefined }

/** The whereabouts of a client after a change. A region is one of its country: another country has others. */
export function placeAfter(before: Whereabouts, change: Move): Whereabouts {
  const { country = before.country, timezone = before.timezone } = change
  const region =
    change.region === undefined ? (country === before.country && timezone === before.timezone ? before.region : null) : change.region
  return { country, region, timezone }
}

/** `own` replaces the own days of the account, and `moved` where clients live, by their ids. */
export async function readQuiet(
  db: Database,
  account: QuietAccount,
  { own, moved = new Map() }: { own?: OwnDay[] | undefined; moved?: ReadonlyMap<string, Move> | undefined } = {},
): Promise<Quiet> {
  const days = own ?? (await readOwnDays(db, account.id))
  const isElsewhere = or(isNotNull(clients.country), isNotNull(clients.region), isNotNull(clients.timezone))
  const isMoved = sql`${clients.id}::text = ANY(${arrayText([...moved.keys()])}::text[])`
  const elsewhere = await db
    .select({ id: clients.id, key: clients.emailKey, country: clients.country, region: clients.region, timezone: clients.timezone })
    .from(clients)
    .where(and(eq(clients.ownerId, account.id), moved.size > 0 ? or(isElsewhere, isMoved) : isElsewhere))
  const home = placeOfAccount(account)
  const made = new Map<string, Calendar | null>()
  const calendarAt = (place: Place | null) => {
    const key = `${place?.country} ${place?.region}`
    if (!made.has(key)) made.set(key, calendarOf(account, days, place, home))
    return made.get(key) ?? null
  }
  const calendar = calendarAt(home)
  const places = new Map<string, Place | null>()
  // One object for all clients of a place and zone: `plan` works out their hours once.
  const known = new Map<string, PlanClient>()
  const found = new Map<string, PlanClient>()
  for (const { id, key, ...stored } of elsewhere) {
    const where = placeAfter(stored, moved.get(id) ?? {})
    const place = placeOfClient(where, home)
    const timezone = where.timezone === account.timezone ? null : where.timezone
    places.set(key, place)
    const there = calendarAt(place)
    if (timezone === null && there === calendar) continue
    const same = `${place?.country} ${place?.region} ${timezone}`
    const client = known.get(same) ?? { timezone, calendar: there }
    known.set(same, client)
    found.set(key, client)
  }
  return {
    calendar,
    clients: found,
    say(clientKey, date) {
      const ownDay = days.find((one) => one.date === date)
      if (ownDay) return ownDay.open || ownDay.name === '' ? null : ownDay.name
      const place = places.has(clientKey) ? (places.get(clientKey) ?? null) : home
      for (const where of quietPlaces(account, place, home)) {
        const holiday = holidaysOf(where).find((one) => one.date === date)
        if (holiday) return texts.nextStep.holiday(holiday.name, countryName(where.country))
      }
      return null
    },
  }
}

/** The places whose public holidays are quiet for clients of a place. */
function quietPlaces({ quietHolidays, ownHolidaysToo }: QuietAccount, place: Place | null, home: Place | null): Place[] {
  return quietHolidays === true ? [place, ownHolidaysToo ? home : null].flatMap((one) => one ?? []) : []
}

/** Null: every day is open. */
function calendarOf(account: QuietAccount, own: OwnDay[], place: Place | null, home: Place | null): Calendar | null {
  const holidays = quietPlaces(account, place, home)
  if (account.quietWeekends !== true && holidays.length === 0 && own.length === 0) return null
  const weekend: ReadonlySet<number> = account.quietWeekends === true ? weekendOf(place?.country ?? null) : new Set()
  const closed = new Set<DayNumber>(holidays.flatMap((one) => [...holidayNumbers(one)]))
  const open = new Set<DayNumber>()
  for (const { date, open: isOpen } of own) (isOpen ? open : closed).add(dayNumber(date))
  return { weekend, closed, open }
}

export function countryName(country: string): string {
  return new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country
}

type Settings = Pick<
  CallParts<typeof reminderCalls.changeSettings>['body'],
  'sequence' | 'quietWeekends' | 'quietHolidays' | 'ownHolidaysToo' | 'country' | 'region'
>
type Columns = Pick<QuietAccount, 'country' | 'region' | 'quietWeekends' | 'quietHolidays' | 'ownHolidaysToo'>

/**
 * What is stored of an account after these settings. With the first sequence of its own, weekends and public holidays become quiet unless they were
 * chosen before. Refuses with `invalid` an unknown country or region.
 */
export function quietAfter(account: QuietAccount & Pick<AccountRow, 'follows'>, settings: Settings): Columns {
  const { sequence, quietWeekends, quietHolidays, ownHolidaysToo = account.ownHolidaysToo, country = account.country } = settings
  const leavesEveryDay = sequence !== undefined && account.follows === 'every_day' && !isBuiltIn(sequence)
  const region = settings.region === undefined ? account.region : settings.region
  if (settings.country != null || settings.region != null)
    refuseUnknownPlace(country ?? countryOf(account.timezone), settings.region ?? null)
  const place = placeOfAccount({ ...account, country, region })
  return {
    country,
    region: place?.region ?? null,
    ownHolidaysToo,
    quietWeekends: quietWeekends ?? account.quietWeekends ?? (leavesEveryDay ? true : null),
    quietHolidays: quietHolidays ?? account.quietHolidays ?? (leavesEveryDay ? true : null),
  }
}

export function refuseUnknownPlace(country: string | null, region: string | null): void {
  if (country !== null && !isKnown({ country, region: null })) throw invalid('country', texts.quietDays.unknownCountry)
  if (region !== null && (country === null || !isKnown({ country, region }))) throw invalid('region', texts.quietDays.unknownRegion)
}
