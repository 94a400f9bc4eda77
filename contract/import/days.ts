import { readDate } from '#contract/dates.ts'
import type { FileRow } from './csv.ts'
import { type Answers, asked, certain, type Evidence, type Meaning, type Nearby, type Question, refused } from './meaning.ts'
import { cellValue, textOf } from './table.ts'

export type DateOrder = 'dmy' | 'mdy'

/** What a text says about a day: the day, or one for each order, of which one may not exist; null where it is no date. */
export type WrittenDay = { day: string } | { dmy: string | null; mdy: string | null }

/** The months in the languages that Duely writes in, with the short forms that are in use. */
const monthNames = [
  'january jan januar jän jaenner jänner janvier janv jan enero ene janeiro gennaio gen januari जनवरी',
  'february feb februar février fevrier févr fevr fév febrero fevereiro fev febbraio februari फ़रवरी फरवरी',
  'march mar märz maerz mär mrz mars marzo março marco maart mrt मार्च',
  'april apr avril avr abril abr aprile अप्रैल',
  'may mai mayo maio maggio mag mei मई',
  'june jun juni juin junio junho giugno giu जून',
  'july jul juli juillet juil julio julho luglio lug जुलाई',
  'august aug août aout agosto ago augustus अगस्त',
  'september sep sept septembre septiembre setiembre setembro set settembre सितंबर सितम्बर',
  'october oct oktober okt octobre octubre outubro out ottobre ott अक्टूबर अक्तूबर',
  'november nov novembre noviembre novembro नवंबर नवम्बर',
  'december dec dezember dez décembre decembre déc diciembre dic dezembro dicembre दिसंबर दिसम्बर',
]
const months = new Map(monthNames.flatMap((names, at) => names.split(' ').map((name) => [name.normalize('NFC'), at + 1] as const)))

const weekdays = new Set(
  `mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday mo di mi do fr sa so montag dienstag
  mittwoch donnerstag freitag samstag sonnabend sonntag lun mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche lunes
  martes miércoles jueves viernes sábado domingo seg ter qua qui sex sab dom segunda terça quarta quinta sexta lunedì martedì mercoledì giovedì
  venerdì sabato domenica ma wo vr za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार
  रविवार`.split(/\s+/),
)

const isAscii = (text: string) => !/[\u0080-\uffff]/.test(text)

/** Digits of other scripts as 0 to 9. */
export function plainDigits(text: string): string {
  return isAscii(text)
    ? text
    : text.replace(/\p{Nd}/gu, (digit) => {
        const code = digit.codePointAt(0) ?? 0
        // The ten digits of a script follow each other, and 0 is the first of them.
        let zero = code
        while (zero > 0 && code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
        return code < 128 ? digit : String(code - zero)
      })
}

const oldest = '1990-01-01'

function dayOf(year: string, month: string | number, day: string): string | null {
  const found = readDate(`${year.length === 2 ? `20${year}` : year}-${month}-${day}`)
  return found !== null && found >= oldest && found < '2100' ? found : null
}

/** Reads a date as programs write it, ignoring a time; null where a text is none. */
export function readWrittenDay(text: string): WrittenDay | null {
  const bare = plainDigits(text.normalize('NFKC'))
    .trim()
    .toLowerCase()
    .replace(/^([\p{L}\p{M}]+)\.?,?\s+/u, (start, name: string) => (weekdays.has(name.normalize('NFC')) ? '' : start))
    .replace(/(?:t|[,\s]+(?:at\s|um\s|à\s)?)\d{1,2}[:h]\d{2}.*$/, '')
    .trim()
  const iso =
    /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\.?$/.exec(bare) ??
    /^(\d{4})()(\d{2})(\d{2})$/.exec(bare) ??
    /^(\d{4})()年(\d{1,2})月(\d{1,2})日$/.exec(bare)
  if (iso) return asDay(dayOf(iso[1] ?? '', iso[3] ?? '', iso[4] ?? ''))
  const numeric = /^(\d{1,2})([-/. ])(\d{1,2})\2\s?(\d{4}|\d{2})$/.exec(bare)
  if (numeric) {
    const [, one = '', mark, two = '', year = ''] = numeric
    const [dmy, mdy] = [dayOf(year, two, one), dayOf(year, one, two)]
    // Where points are written between them, the day comes first.
    if (mark === '.' && dmy !== null) return asDay(dmy)
    return dmy === null && mdy === null ? null : dmy === mdy ? asDay(dmy) : { dmy, mdy }
  }
  return asDay(namedDay(bare))
}

function asDay(day: string | null): WrittenDay | null {
  return day === null ? null : { day }
}

/** `20 Nov 2026`, `20Nov2026`, `20th of November, 2026`, `Nov-24-2026`, `24 de noviembre de 2026`, `2026-Nov-24`. */
function namedDay(text: string): string | null {
  const parts = text.match(/\d+|[\p{L}\p{M}]+/gu) ?? []
  const names = parts.filter((part) => !/^\d/.test(part) && !/^(st|nd|rd|th|er|of|de|del|do|den|le|º|ª|o|a)$/.test(part))
  const numbers = parts.filter((part) => /^\d/.test(part))
  const [name = '', ...more] = names
  const month = months.get(name.normalize('NFC'))
  const [one = '', two = '', ...others] = numbers
  if (month === undefined || more.length > 0 || others.length > 0 || one === '' || two === '') return null
  if (one.length === 4) return two.length <= 2 ? dayOf(one, month, two) : null
  return one.length <= 2 && (two.length === 4 || (two.length === 2 && /^\d/.test(text))) ? dayOf(two, month, one) : null
}

/** What a person can be asked about the dates of a column. */
const orders = ['dmy', 'mdy', 'leave'] as const

/** The days of a column, row by row, and the question about them where there is one. */
export interface Days {
  of: Map<FileRow, Meaning<string>>
  question: Question | null
}

const texts = {
  none: 'This row has no date.',
  notADay: (text: string) => `“${text.slice(0, 40)}” is no date.`,
  left: 'Left out, as you chose for its date.',
}

/**
 * Reads the days of a column. `03/05/2026` is read in the order that the layout says, or that another row of this column proves; where none does, or
 * rows prove both, it is asked. In a workbook with dates in the column, a plain number there is the day that it counts.
 */
export function daysOf(
  rows: FileRow[],
  {
    column,
    heading,
    key,
    order,
    answers,
    counts = () => true,
  }: {
    column: number
    heading: string
    key: string
    order: DateOrder | null
    answers: Answers
    /** Whether a row is asked about; the others only prove an order. */
    counts?(row: FileRow): boolean
  },
): Days {
  const written = rows.map((row) => ({ row, value: cellValue(row, column), text: textOf(row, column) }))
  const hasDates = written.some(({ value }) => value !== undefined && 'date' in value)
  const read = written.map(({ row, value, text }) => {
    if (value !== undefined && 'date' in value) return { row, text, day: { day: value.date }, by: 'workbook' as Evidence }
    if (value !== undefined && 'number' in value)
      return { row, text, day: hasDates ? asDay(value.day ?? null) : readWrittenDay(text), by: 'workbook' as Evidence }
    return { row, text, day: text === '' ? null : readWrittenDay(text), by: 'written' as Evidence }
  })
  const proofs = { dmy: 0, mdy: 0 }
  for (const { day } of read)
    if (day && 'dmy' in day && (day.dmy === null) !== (day.mdy === null)) proofs[day.dmy === null ? 'mdy' : 'dmy'] += 1
  const proven: DateOrder | null = proofs.dmy > 0 && proofs.mdy > 0 ? null : proofs.dmy > 0 ? 'dmy' : proofs.mdy > 0 ? 'mdy' : null
  const bothProven = proofs.dmy > 0 && proofs.mdy > 0
  // An answer to a file that proves nothing is none to one that contradicts itself.
  const id = bothProven ? `order/${key}/both` : `order/${key}`
  const answer = orders.find((one) => one === answers[id])
  // The rows of the file overrule what a layout or an answer to an earlier file says.
  const used = proven ?? answer ?? (bothProven ? null : order)
  const by: Evidence = proven !== null ? 'column' : answer !== undefined ? 'answer' : 'layout'
  const of = new Map<FileRow, Meaning<string>>()
  const waiting: typeof read = []
  for (const one of read) {
    const { row, text, day } = one
    if (day === null) of.set(row, refused(text === '' ? texts.none : texts.notADay(text)))
    else if ('day' in day) of.set(row, certain(day.day, one.by))
    else if (used === null) {
      // Rows that prove different orders are all of them unclear.
      of.set(row, answer === 'leave' ? refused(texts.left) : asked(id))
      if (answer !== 'leave' && counts(row)) waiting.push(one)
    } else if (used === 'leave') of.set(row, refused(texts.left))
    else {
      const value = day[used]
      of.set(row, value === null ? refused(texts.notADay(text)) : certain(value, by))
    }
  }
  return { of, question: waiting.length === 0 ? null : questionOf(id, heading, waiting, of, rows) }
}

function questionOf(
  id: string,
  heading: string,
  waiting: { row: FileRow; text: string; day: WrittenDay | null }[],
  of: Map<FileRow, Meaning<string>>,
  rows: FileRow[],
): Question | null {
  const isWhole = ({ day }: { day: WrittenDay | null }) => day !== null && 'dmy' in day && day.dmy !== null && day.mdy !== null
  const shown = waiting.find(isWhole) ?? waiting[0]
  if (!shown?.day || !('dmy' in shown.day)) return null
  const at = rows.indexOf(shown.row)
  const dayAt = (row: FileRow | undefined) => {
    const meaning = row && of.get(row)
    return meaning?.kind === 'certain' ? meaning.value : null
  }
  const before = dayAt(rows.slice(0, at).findLast((row) => dayAt(row) !== null))
  const after = dayAt(rows.slice(at + 1).find((row) => dayAt(row) !== null))
  const nearby = (day: string | null): Nearby => {
    const inOrder =
      day === null || before === null || after === null ? null : (before <= day && day <= after) || (after <= day && day <= before)
    return { before, after, inOrder }
  }
  const { dmy, mdy } = shown.day
  return {
    id,
    rows: waiting.length,
    kind: 'order',
    heading,
    example: shown.text,
    number: shown.row.number,
    dmy: dmy ?? '',
    mdy: mdy ?? '',
    nearby: { dmy: nearby(dmy), mdy: nearby(mdy) },
  }
}
