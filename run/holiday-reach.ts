import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/* `npm run check` runs this file: the table of public holidays must reach far enough ahead. */

/** A release must know the holidays of as many months: a server may keep it that long. */
const months = 36

/** What is wrong with a table that ends with a date; null: it reaches far enough. */
export function tooShort(until: string, today: string): string | null {
  const wanted = Temporal.PlainDate.from(today).add({ months })
  if (Temporal.PlainDate.compare(until, wanted) >= 0) return null
  return `server/reminders/holidays.json.gz ends on ${until}, and must reach ${wanted.toString()}: raise LAST in run/holiday-table.py and run it`
}

if (import.meta.main) {
  const packed = readFileSync(path.join(import.meta.dirname, '../server/reminders/holidays.json.gz'))
  const { until } = JSON.parse(gunzipSync(packed).toString()) as { until: string }
  const problem = tooShort(until, process.argv[2] ?? Temporal.Now.plainDateISO().toString())
  if (problem !== null) process.stderr.write(`${problem}\n`)
  process.exitCode = problem === null ? 0 : 1
}
