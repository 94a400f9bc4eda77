import { Checkbox } from '@mantine/core'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { BankMatch } from '#contract/bank-file.ts'
import type { Left, ReadLine } from '#contract/import/bank.ts'
import { known, type Meaning, type Question } from '#contract/import/meaning.ts'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { showSpoken } from '#web/ui/dates.ts'
import { Asked } from '#web/ui/file-questions.tsx'
import styles from './bank.module.css'

import type { Cell } from './bank-reading.ts'
import type { Group, ShownRow } from './bank-rows.ts'
import { bankFileTexts as texts } from './bank-texts.ts'

/** What a person decided about a row. */
export interface Choice {
  ticked: boolean
  /** Another invoice than the proposed one. */
  invoice: Invoice | null
}

type Shares = BankMatch['invoices']

/** What a row pays: the invoice that was chosen, else those that are proposed. */
export function sharesOf({ line, match }: ShownRow, choice: Choice | undefined): Shares {
  if (line === null) return []
  return choice?.invoice ? [{ invoiceId: choice.invoice._id, amount: line.line.amount }] : (match?.invoices ?? [])
}

interface BankListProps {
  rows: ShownRow[]
  questions: Question[]
  byId: ReadonlyMap<string, Invoice>
  choices: Record<number, Choice>
  isTicked: (row: ShownRow) => boolean
  /** The cells of a row as the file has them. */
  cells: (row: number) => Promise<Cell[]>
  onTick: (row: number, ticked: boolean) => void
  onChoose: (line: ReadLine) => void
}

type Item = { kind: 'group'; group: Group; rows: number } | { kind: 'row'; shown: ShownRow }

/** The rows in their groups. Only those in view are in the page: a file may have thousands. */
export function BankList(props: BankListProps): ReactNode {
  const { rows } = props
  const items = useMemo(() => {
    const counts = Map.groupBy(rows, ({ group }) => group)
    let last: Group | null = null
    return rows.flatMap((shown): Item[] => {
      const isFirst = shown.group !== last
      last = shown.group
      const head: Item[] = isFirst ? [{ kind: 'group', group: shown.group, rows: counts.get(shown.group)?.length ?? 0 }] : []
      return [...head, { kind: 'row', shown }]
    })
  }, [rows])
  const list = useRef<HTMLDivElement>(null)
  const [offset, setOffset] = useState(0)
  useEffect(() => {
    const place = () => setOffset(list.current ? list.current.getBoundingClientRect().top + window.scrollY : 0)
    place()
    // Questions above that are answered move the list.
    const watch = new ResizeObserver(place)
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [])
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (at) => (items[at]?.kind === 'group' ? 44 : 66),
    getItemKey: (at) => {
      const item = items[at]
      return item?.kind === 'row' ? item.shown.row.number : `group ${item?.group}`
    },
    overscan: 3,
    scrollMargin: offset,
    // What is scrolled to is rendered within the next frame, and not before this one.
    useFlushSync: false,
  })
  const inView = virtual.getVirtualItems()
  return (
    <div className={styles.table}>
      <div className={styles.heads} aria-hidden>
        <span />
        {Object.entries(texts.head).map(([key, head]) => (
          <span key={key} data-of={key}>
            {head}
          </span>
        ))}
      </div>
      <div ref={list}>
        <ol
          className={styles.list}
          aria-label={texts.review}
          style={{ height: virtual.getTotalSize(), paddingTop: (inView[0]?.start ?? offset) - offset }}
        >
          {inView.map(({ index, key }) => {
            const item = items[index]
            return (
              item && (
                <li
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  {...(item.kind === 'row' ? { 'data-group': item.shown.group } : {})}
                >
                  {item.kind === 'group' ? (
                    <h3 className={styles.group}>
                      {texts.groups[item.group]} <span>{item.rows.toLocaleString('en-IN')}</span>
                    </h3>
                  ) : (
                    <Row {...props} shown={item.shown} />
                  )}
                </li>
              )
            )
          })}
        </ol>
      </div>
    </div>
  )
}

function Row({ shown, questions, byId, choices, isTicked, cells, onTick, onChoose }: BankListProps & { shown: ShownRow }): ReactNode {
  const { row, group, line, match, waits, refusal } = shown
  const [raw, setRaw] = useState<Cell[] | null>(null)
  const choice = choices[row.number]
  const shares = sharesOf(shown, choice)
  const day = known(row.date)
  const amount = known(row.amount)
  const currency = known(row.currency)
  const spoken = day === null ? row.writtenDate : showSpoken(day)
  const money = amount === null || currency === null ? row.writtenAmount : formatMoney(amount, currency)
  const [back] = shown.takesBack
  const canTick = back !== undefined || (line !== null && shares.length > 0 && group !== 'recorded')
  const canChoose = line !== null && (group === 'likely' || group === 'none')
  const asked = (meaning: Meaning<unknown>) =>
    meaning.kind === 'asked' && refusal === null && row.left === null ? <Asked id={meaning.question} questions={questions} /> : null
  const dateAsked = asked(row.date)
  const elsewhere = match?.inOtherCurrency ? byId.get(match.inOtherCurrency) : undefined
  const button = shares.length > 0 ? texts.chooseOther : texts.choose
  return (
    <div className={styles.row} data-dim={group === 'left' || group === 'recorded' || undefined}>
      <span className={styles.tick}>
        {canTick ? (
          <Checkbox
            aria-label={back ? texts.tickBack(money, spoken) : texts.tick(money, spoken)}
            checked={isTicked(shown)}
            onChange={(event) => onTick(row.number, event.currentTarget.checked)}
          />
        ) : (
          waits.length > 0 && <span className={styles.dashed} role="img" aria-label={texts.waiting} title={texts.waiting} />
        )}
      </span>
      <span className={styles.date}>
        {dateAsked}
        {dateAsked ? <small>{row.writtenDate}</small> : spoken}
      </span>
      <strong className={styles.amount}>
        {asked(row.amount) ?? asked(row.currency)}
        {money}
        {row.sent !== '' && <small>{texts.sent(row.sent)}</small>}
        {row.fee !== '' && /[1-9]/.test(row.fee) && <small>{texts.fee(row.fee)}</small>}
      </strong>
      <span className={styles.what}>
        {asked(row.direction) ?? (known(row.direction) === 'out' ? texts.moneyOut : known(row.direction) === 'in' ? texts.moneyIn : '')}
        {asked(row.state) ?? <What shown={shown} />}
      </span>
      <span className={styles.words}>
        <span>
          {(['name', 'description', 'reference'] as const)
            .filter((field) => row[field] !== '')
            .map((field, at) => (
              <Fragment key={field}>
                {at > 0 && ' · '}
                <Marked text={row[field]} quotes={(match?.evidence ?? []).filter((one) => one.field === field).map(({ text }) => text)} />
              </Fragment>
            ))}
        </span>
        {raw && <Raw place={row.place} cells={raw} />}
        <button
          type="button"
          className={styles.raw}
          aria-expanded={raw !== null}
          onClick={() => (raw ? setRaw(null) : void cells(row.number).then(setRaw))}
        >
          {texts.rawRow(row.place)}
        </button>
      </span>
      <span className={styles.pays}>
        {group !== 'recorded' &&
          shares.map(({ invoiceId, amount: part }) => {
            const invoice = byId.get(invoiceId)
            return (
              invoice &&
              line && <Pays key={invoiceId} invoice={invoice} part={part} isOnly={shares.length === 1} isSure={group === 'sure'} />
            )
          })}
        {line && shares.length === 0 && group === 'none' && <span className={styles.quiet}>{match && texts.noInvoiceFits}</span>}
        {back && (
          <>
            <strong>{shown.takesBack.map(({ invoice, clientName }) => texts.pays(invoice, clientName)).join('; ')}</strong>
            <small>{texts.takesBack(showSpoken(back.paidOn))}</small>
          </>
        )}
        {row.unclear !== null && line && <small>{row.unclear}</small>}
        {row.returnedIn !== null && line && <small>{texts.returned(row.returnedIn)}</small>}
        {line && (choice?.invoice ? <small>{texts.chosen}</small> : match && match.reason !== '' && <small>{match.reason}</small>)}
        {refusal !== null && <small>{refusal}</small>}
        {elsewhere && (
          <Link className={styles.choose} to={screens.invoice(elsewhere._id)} target="_blank">
            {texts.openInvoice(elsewhere.reference)}
          </Link>
        )}
        {canChoose && line && (
          <button type="button" className={styles.choose} aria-label={texts.forLine(button, money, spoken)} onClick={() => onChoose(line)}>
            {button}
          </button>
        )}
      </span>
    </div>
  )
}

const lost: ReadonlySet<Left> = new Set<Left>(['failed', 'returned', 'refunded', 'cancelled', 'reversal', 'came-back'])

/** The state of the transfer, in words. */
function What({ shown: { row } }: { shown: ShownRow }): ReactNode {
  if (row.left === 'out') return null
  if (row.left === null) return known(row.state) === 'booked' ? <small>{texts.booked}</small> : null
  const isLost = lost.has(row.left)
  return <small data-tone={isLost ? 'bad' : row.left === 'pending' ? 'warn' : undefined}>{texts.left[row.left]}</small>
}

/** A text of the bank with the words that a match rests on. */
function Marked({ text, quotes }: { text: string; quotes: string[] }): ReactNode {
  // The longest first: one quotation can be in another.
  for (const quote of quotes.toSorted((one, other) => other.length - one.length)) {
    const at = text.indexOf(quote)
    if (quote === '' || at < 0) continue
    const others = quotes.filter((one) => one !== quote)
    return (
      <>
        <Marked text={text.slice(0, at)} quotes={others} />
        <mark className={styles.mark}>{quote}</mark>
        <Marked text={text.slice(at + quote.length)} quotes={others} />
      </>
    )
  }
  return text
}

function Pays({ invoice, part, isOnly, isSure }: { invoice: Invoice; part: number; isOnly: boolean; isSure: boolean }): ReactNode {
  const { currency } = invoice
  const left = (toMinor(owedAmount(invoice), currency) ?? 0) - (toMinor(part, currency) ?? 0)
  const pays = texts.pays(invoice.reference, invoice.clientName)
  return (
    <strong>
      {isOnly ? pays : texts.part(formatMoney(part, currency), pays)}
      {isSure && (
        <span className={styles.then}>{left > 0 ? texts.staysOpen(formatMoney(fromMinor(left, currency), currency)) : texts.inFull}</span>
      )}
    </strong>
  )
}

function Raw({ place, cells }: { place: string; cells: Cell[] }): ReactNode {
  return (
    <dl className={styles.cells} aria-label={texts.rawRow(place)}>
      {cells.map(({ heading, cell }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: headings repeat, and the cells of a row stay in their order.
        <div key={at}>
          {heading !== '' && <dt>{heading}</dt>}
          <dd>{cell}</dd>
        </div>
      ))}
    </dl>
  )
}
