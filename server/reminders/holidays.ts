import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { type DayNumber, dayNumber } from './plan.ts'

/*
 * Public holidays and weekends. The table is made by run/holiday-table.py from the library `holidays` of Vacanza, under the MIT licence
 * (holidays-licence.txt); the country of a time zone, and its weekend, are what Node knows.
 */

const packedDays = z.array(z.number())
const table = z.object({
  /** Of the library. */
  version: z.string(),
  until: z.string(),
  dates: z.array(z.string()),
  names: z.array(z.string()),
  places: z.record(
    z.string(),
    z.object({ days: packedDays, regions: z.record(z.string(), z.object({ name: z.string(), days: packedDays })) }),
  ),
})

let read: z.output<typeof table> | null = null

/** Only a program that needs a holiday unpacks them. */
function holidays(): z.output<typeof table> {
  read ??= table.parse(JSON.parse(gunzipSync(readFileSync(path.join(import.meta.dirname, 'holidays.json.gz'))).toString()))
  return read
}

export interface Holiday {
  date: string
  name: string
  /** It depends on the moon: the day may be another one by a day. */
  mayMove: boolean
}

/** A country by its code, and one of its regions by theirs; null: no region of its own. */
export interface Place {
  country: string
  region: string | null
}

/** The last day that is known; later ones are open. */
export function knownUntil(): string {
  return holidays().until
}

/** The countries whose holidays are known, by code, with the names of those of their regions that have their own. */
export function knownPlaces(): { country: string; regions: { code: string; name: string }[] }[] {
  return Object.entries(holidays().places).map(([country, { regions }]) => ({
    country,
    regions: Object.entries(regions).map(([code, { name }]) => ({ code, name })),
  }))
}

export function isKnown({ country, region }: Place): boolean {
  const { places } = holidays()
  return Object.hasOwn(places, country) && (region === null || Object.hasOwn(places[country]?.regions ?? {}, region))
}

const unpacked = new Map<string, readonly Holiday[]>()

/** The public holidays of a place by date; of one that is not known none. */
export function holidaysOf({ country, region }: Place): readonly Holiday[] {
  const key = `${country} ${region}`
  const ready = unpacked.get(key)
  if (ready) return ready
  const { dates, names, places } = holidays()
  const known = places[country]
  const packed = (region === null ? undefined : known?.regions[region]?.days) ?? known?.days ?? []
  const found: Holiday[] = []
  let place = 0
  for (let nth = 0; nth + 1 < packed.length; nth += 2) {
    place += packed[nth] ?? 0
    const name = packed[nth + 1] ?? 0
    found.push({ date: dates[place] ?? '', name: names[name >> 1] ?? '', mayMove: name % 2 === 1 })
  }
  if (known) unpacked.set(key, found)
  return found
}

const numbers = new Map<readonly Holiday[], ReadonlySet<DayNumber>>()

/** The same as numbers of days. */
export function holidayNumbers(place: Place): ReadonlySet<DayNumber> {
  const all = holidaysOf(place)
  const made = numbers.get(all) ?? new Set(all.map(({ date }) => dayNumber(date)))
  numbers.set(all, made)
  return made
}

const weekends = new Map<string, ReadonlySet<number>>()

/** The days of the week that are the weekend of a country, 1 for Monday to 7 for Sunday; null: that of most countries. */
export function weekendOf(country: string | null): ReadonlySet<number> {
  // 001 is the world.
  const region = country ?? '001'
  const made = weekends.get(region) ?? new Set(new Intl.Locale('und', { region }).getWeekInfo().weekend)
  weekends.set(region, made)
  return made
}

let countries: Map<string, string> | null = null

/** The country of a time zone; null: it has none, such as UTC. */
export function countryOf(timezone: string): string | null {
  countries ??= zonesByCountry()
  return countries.get(canonical(timezone)) ?? null
}

function canonical(timezone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
}

function zonesByCountry(): Map<string, string> {
  const found = new Map<string, string>()
  for (const country of Object.keys(holidays().places))
    for (const zone of new Intl.Locale('und', { region: country }).getTimeZones() ?? []) found.set(canonical(zone), country)
  return found
}
