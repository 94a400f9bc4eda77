import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import type { CallParts, CallReply } from '#contract/call.ts'
import type { clientCalls } from '#contract/clients.ts'
import { changeDays, mostOwnDays, type OwnDay, type quietDayCalls, tooManyDays } from '#contract/quiet-days.ts'
import { lockAsSeen, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import { clients } from '#server/invoices/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { isZone } from '#server/platform/zones.ts'
import { countryName, placeAfter, placeOfAccount, readOwnDays, refuseUnknownPlace } from './calendars.ts'
import { supersedeAbout } from './deliveries.ts'
import { countryOf, holidaysOf, knownPlaces, knownUntil, weekendOf } from './holidays.ts'
import { localDate } from './schedule.ts'
import { noteSteps } from './sequences.ts'
import { refuseChanged } from './simulate.ts'
import { ownDays } from './tables.ts'
import { texts } from './texts.ts'

interface Acting extends Pick<Deps, 'db' | 'config'> {
  account: Account
  now: Instant
}

let countries: CallReply<typeof quietDayCalls.read>['countries'] = null

/** Refuses with `invalid` an unknown country or region. */
export async function readHolidays(
  { db, account, now }: Acting,
  { country, region, days }: CallParts<typeof quietDayCalls.read>['query'],
): Promise<CallReply<typeof quietDayCalls.read>> {
  const home = placeOfAccount(account)
  if (country !== undefined || region !== undefined) refuseUnknownPlace(country ?? home?.country ?? null, region ?? null)
  const place =
    country === undefined && region === undefined
      ? home
      : placeOfAccount({ ...account, country: country ?? account.country, region: region ?? null })
  countries ??= knownPlaces()
    .map(({ country: code, regions }) => ({
      code,
      name: countryName(code),
      regions: regions.toSorted((one, other) => one.name.localeCompare(other.name, 'en')),
    }))
    .sort((one, other) => one.name.localeCompare(other.name, 'en'))
  const today = localDate(now, account.timezone)
  const end = Temporal.PlainDate.from(today).add({ days }).toString()
  return {
    country: place?.country ?? null,
    name: place && countryName(place.country),
    region: place?.region ?? null,
    weekend: [...weekendOf(place?.country ?? null)],
    until: knownUntil(),
    days: place ? holidaysOf(place).filter(({ date }) => date >= today && date < end) : [],
    ownDays: await readOwnDays(db, account.id),
    countries: country === undefined ? countries : null,
  }
}

/**
 * Replaces the own days, or changes those that differ from what they `was`. Refuses with `plan_limit`, and with `plan_changed` where the plan is
 * another one than what was looked at.
 */
export async function replaceOwnDays(
  { db, account, now, config, from }: Acting & { from: Origin },
  { days: wanted, was, fingerprint }: CallParts<typeof quietDayCalls.replaceOwnDays>['body'],
): Promise<{ days: OwnDay[] }> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    if (wanted.length > 0) await refuseWithout('scheduling', tx, account.id, now, config)
    const before = await readOwnDays(tx, account.id)
    const days = was ? changeDays(before, was, wanted) : wanted
    if (days.length > mostOwnDays) throw invalid('days', tooManyDays)
    await refuseChanged({ db: tx, config, account: locked, now }, { ownDays: days }, fingerprint)
    await tx.delete(ownDays).where(eq(ownDays.ownerId, account.id))
    if (days.length > 0) await tx.insert(ownDays).values(days.map((day) => ({ ownerId: account.id, ...day })))
    await noteSteps(tx, account.id)
    const after = await readOwnDays(tx, account.id)
    // A kind of its own: who changed the settings is read from the log too.
    if (!isDeepStrictEqual(before, after)) await writeAudit(tx, { ownerId: account.id, kind: 'quiet_days_changed' }, from, now)
    return { days: after }
  })
}

type Whereabouts = Pick<CallParts<typeof clientCalls.update>['body'], 'country' | 'region' | 'timezone'>

/** Where a client of an account lives, and by which clock. Refuses with `not_found`, and with `invalid` an unknown country or region. */
export async function placeClient(tx: Database, account: Account, id: string, where: Whereabouts): Promise<void> {
  const locked = await lockAsSeen(tx, account)
  const [row] = await tx
    .select()
    .from(clients)
    .where(and(eq(clients.ownerId, account.id), sql`${clients.id}::text = ${id}`))
  if (!row) throw new ProblemError('not_found', texts.noClient)
  const after = placeAfter(row, where)
  const { country, timezone } = after
  const there = country ?? (timezone === null ? null : countryOf(timezone)) ?? placeOfAccount(locked)?.country ?? null
  if (where.timezone != null && !isZone(where.timezone)) throw invalid('timezone', texts.unknownZone)
  if (where.country != null || where.region != null) refuseUnknownPlace(there, where.region ?? null)
  await tx.update(clients).set(after).where(eq(clients.id, row.id))
  // What waits would leave by the former clock: the next run plans again.
  if ((row.timezone ?? locked.timezone) !== (timezone ?? locked.timezone))
    await supersedeAbout(tx, account.id, sql`lower(i.client_email) = ${row.emailKey}`)
  await noteSteps(tx, account.id)
}
