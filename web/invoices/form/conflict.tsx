import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type Invoice, type InvoiceChange, invoiceCalls, tagOfInvoice } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useToday } from '#web/platform/account.tsx'
import { Problem } from '#web/platform/problem.ts'
import { send, sendMatching } from '#web/platform/send.ts'
import { daysBetween, showClock, showDate } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { languageName } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './form.module.css'
import { conflictTexts as texts } from './texts.ts'

/** The fields of the form. Their order is that of the list in the dialog. */
const fields = ['dueDate', 'amount', 'currency', 'language', 'status', 'clientName', 'clientEmail', 'reference', 'issuedOn'] as const
type Field = (typeof fields)[number]
type Fields = Pick<Invoice, Field>
type Change = Pick<InvoiceChange, Field>

/** Two people changed the same fields of an invoice. */
interface Conflict {
  was: Fields
  mine: Change
  theirs: Invoice
  /** Changed by both, each differently. */
  both: Field[]
  by: string
  at: string
}

type Choice = 'mine' | 'theirs' | null

/** Which fields of an invoice someone else has changed, and which of them this change sets differently. */
export function compareChanges(was: Fields, mine: Change, theirs: Fields): { changed: Field[]; both: Field[] } {
  const changed = fields.filter((field) => was[field] !== theirs[field])
  return { changed, both: changed.filter((field) => mine[field] !== undefined && mine[field] !== theirs[field]) }
}

/**
 * Saves changed fields of an invoice. Where someone changed others meanwhile, they are saved on top; where they changed the same, `ask` decides.
 * What the person themselves changed elsewhere is overwritten without a question. Null: the person wants to change the form first.
 */
async function saveOnTop(
  was: Fields & Pick<Invoice, '_id' | 'version'>,
  wanted: Change,
  ask: (conflict: Conflict) => Promise<Choice>,
): Promise<Invoice | null> {
  const params = { id: was._id }
  let mine = wanted
  let { version } = was
  let merged: { by: string; changed: Field[] } | null = null
  for (;;) {
    try {
      const saved = await sendMatching(invoiceCalls.update, { params, body: mine }, tagOfInvoice({ _id: was._id, version }))
      if (merged) toast('good', texts.merged(merged.by, merged.changed))
      return saved
    } catch (error) {
      if (!(error instanceof Problem) || !error.meanwhile) throw error
      const { by, at, self } = error.meanwhile
      const theirs = await send(invoiceCalls.read, { params })
      const { changed, both } = compareChanges(was, mine, theirs)
      version = theirs.version
      merged = self || changed.length === 0 ? null : { by, changed }
      if (self || both.length === 0) continue
      const choice = await ask({ was, mine, theirs, both, by, at })
      if (choice === null) return null
      merged = null
      if (choice === 'theirs') mine = Object.fromEntries(Object.entries(mine).filter(([field]) => !both.some((one) => one === field)))
      if (Object.keys(mine).length === 0) return theirs
    }
  }
}

/** `save` saves an invoice that others may change meanwhile; `dialog` must be on the screen that calls it. */
export function useSaveOnTop(): {
  save: (was: Fields & Pick<Invoice, '_id' | 'version'>, mine: Change) => Promise<Invoice | null>
  dialog: ReactNode
} {
  const [asked, setAsked] = useState<(Conflict & { settle: (choice: Choice) => void }) | null>(null)
  const ask = (conflict: Conflict) =>
    new Promise<Choice>((settle) =>
      setAsked({
        ...conflict,
        settle: (choice) => {
          setAsked(null)
          settle(choice)
        },
      }),
    )
  return { save: (was, mine) => saveOnTop(was, mine, ask), dialog: <ConflictDialog conflict={asked} /> }
}

function ConflictDialog({ conflict: asked }: { conflict: (Conflict & { settle: (choice: Choice) => void }) | null }): ReactNode {
  const { zone, today } = useToday()
  const conflict = useKept(asked)
  if (!conflict) return null
  const { was, mine, theirs, both, by, at, settle } = conflict
  const time = showClock(zone, new Date(at))
  const ours = { ...theirs, ...mine } as Fields
  const kept = fields.filter((field) => mine[field] !== undefined && !both.includes(field))
  const sides = [
    { side: 'mine' as const, from: texts.yours, of: ours, button: texts.keepMine },
    { side: 'theirs' as const, from: texts.theirs(by, time), of: theirs, button: texts.takeTheirs },
  ]
  return (
    <Dialog opened={asked !== null} onClose={() => settle(null)} title={texts.title(by, time)} size={520}>
      <p className={styles.conflictText}>
        {theirs.reference}, {theirs.clientName}. {texts.both(both)}
      </p>
      {both.includes('dueDate') && mine.dueDate !== undefined && (
        <DateLine
          today={today}
          marks={[
            { side: 'was', name: texts.was, date: was.dueDate },
            { side: 'mine', name: texts.yours.toLowerCase(), date: mine.dueDate },
            { side: 'theirs', name: texts.possessive(by), date: theirs.dueDate },
          ]}
        />
      )}
      <div className={styles.versions}>
        {sides.map(({ side, from, of, button }) => (
          <div key={side} className={styles.version} data-side={side}>
            <p className={styles.conflictText}>{from}</p>
            <dl className={styles.values}>
              {both.map((field) => (
                <div key={field}>
                  <dt>{texts.fields[field]}</dt>
                  <dd>{shownValue(field, of)}</dd>
                </div>
              ))}
            </dl>
            <Button variant="default" fullWidth onClick={() => settle(side)}>
              {button}
            </Button>
          </div>
        ))}
      </div>
      <p className={styles.conflictText}>
        {kept.length > 0 && `${texts.kept(kept.map((field) => `${texts.fields[field]}, ${shownValue(field, ours)}`))} `}
        {texts.other}
      </p>
    </Dialog>
  )
}

function shownValue(field: Field, invoice: Fields): string {
  if (field === 'amount') return formatMoney(invoice.amount, invoice.currency)
  if (field === 'dueDate' || field === 'issuedOn') return showDate(invoice[field])
  if (field === 'language') return invoice.language === null ? texts.sameLanguage : languageName(invoice.language)
  return field === 'status' ? invoiceTexts.status[invoice.status] : invoice[field]
}

const width = 320

/** Dates on one line with today, as on the due line. */
function DateLine({ today, marks }: { today: string; marks: { side: string; name: string; date: string }[] }): ReactNode {
  const dates = [today, ...marks.map(({ date }) => date)].toSorted()
  const [first = today, last = today] = [dates[0], dates.at(-1)]
  const days = Math.max(1, daysBetween(first, last))
  const margin = 34
  const x = (date: string) => margin + ((width - 2 * margin) * daysBetween(first, date)) / days
  const label = marks.map(({ name, date }) => `${name} ${showDate(date)}`).join(', ')
  // Names that would overlap go below each other.
  const rows: number[] = []
  const rowOf = (at: number) => {
    const row = rows.findIndex((taken) => at - taken > 62)
    const free = row < 0 ? rows.length : row
    rows[free] = at
    return free
  }
  const placed = marks
    .toSorted((one, other) => (one.date < other.date ? -1 : 1))
    .map((mark) => ({ ...mark, at: x(mark.date), row: rowOf(x(mark.date)) }))
  const height = 64 + 36 * rows.length
  return (
    <svg className={styles.dateLine} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1="46" y2="46" data-part="axis" />
      <line x1={x(today)} x2={x(today)} y1="14" y2="54" data-part="today" />
      <text x={x(today) + 6} y="16">
        {texts.today}
      </text>
      {placed.map(({ side, name, date, at, row }) => (
        <g key={side} data-side={side}>
          <circle cx={at} cy="38" r={side === 'was' ? 6 : 8} />
          <text x={at} y={68 + 36 * row} textAnchor="middle">
            {name}
          </text>
          <text x={at} y={84 + 36 * row} textAnchor="middle">
            {showDate(date).slice(0, 5)}
          </text>
        </g>
      ))}
    </svg>
  )
}
