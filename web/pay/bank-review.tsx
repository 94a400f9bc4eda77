import { Button, Checkbox, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import { type BankMatch, bankFileCalls, type Verdict } from '#contract/bank-file.ts'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney, formatSums, sumByCurrency } from '#contract/money.ts'
import { Allowed, useCurrency } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { Loading } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { BusyButton, TryAgain } from '#web/ui/buttons.tsx'
import { showDate } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import type { ReadLine } from './bank-file.ts'
import styles from './pay.module.css'
import { bankFileTexts as texts } from './texts.ts'

/** The lines of each currency, with their places among all. */
function byCurrency(lines: ReadLine[]): [string, (ReadLine & { at: number })[]][] {
  return [
    ...Map.groupBy(
      lines.map((line, at) => ({ ...line, at })),
      ({ currency }) => currency,
    ),
  ]
}

async function match(lines: ReadLine[]): Promise<BankMatch[]> {
  const found: BankMatch[] = []
  for (const [currency, its] of byCurrency(lines)) {
    const matches = await send(bankFileCalls.match, { body: { lines: its.map(({ line }) => line), currency } })
    for (const one of matches) {
      const at = its[one.line]?.at
      if (at !== undefined) found.push({ ...one, line: at })
    }
  }
  return found.toSorted((one, other) => one.line - other.line)
}

type Shares = BankMatch['invoices']

/** What the owner decided about a line. */
interface Choice {
  ticked: boolean
  /** Another invoice than the proposed one. */
  invoice: Invoice | null
}

export interface Recorded {
  importIds: string[]
  recorded: number
  paid: number
  /** Of how many payments how much was asked. */
  asked: number
  sums: string
  /** Why a part was not recorded. */
  problem: string | null
}

interface BankReviewProps {
  lines: ReadLine[]
  invoices: Invoice[]
  onRecorded: (recorded: Recorded) => void
}

const groups: Verdict[] = ['sure', 'likely', 'recorded', 'none']

/** Which invoices the lines pay, in groups, until they are recorded. */
export function BankReview({ lines, invoices, onRecorded }: BankReviewProps): ReactNode {
  const queries = useQueryClient()
  const usual = useCurrency()
  const [matches, setMatches] = useState<BankMatch[] | null>(null)
  const [choices, setChoices] = useState<Record<number, Choice>>({})
  const [choosing, setChoosing] = useState<number | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const load = useCallback(() => {
    let outdated = false
    setMatches(null)
    setChoices({})
    setProblem(null)
    match(lines).then(
      (found) => !outdated && setMatches(found),
      (error: unknown) => !outdated && setProblem(texts.failed(errorMessage(error))),
    )
    return () => {
      outdated = true
    }
  }, [lines])
  useEffect(load, [load])
  const byId = useMemo(() => new Map(invoices.map((invoice) => [invoice._id, invoice])), [invoices])
  if (!matches)
    return problem === null ? (
      <Loading text={texts.loading} />
    ) : (
      <Notice tone="bad" action={<TryAgain busy={false} onRetry={load} />}>
        {problem}
      </Notice>
    )
  const sharesOf = ({ line: at, invoices: proposed }: BankMatch): Shares => {
    const chosen = choices[at]?.invoice
    return chosen ? [{ invoiceId: chosen._id, amount: lines[at]?.line.amount ?? 0 }] : proposed
  }
  const isTicked = ({ line: at, verdict }: BankMatch) => choices[at]?.ticked ?? verdict === 'sure'
  const wanted = matches.filter(isTicked)
  const asked = wanted.flatMap(sharesOf).length
  const choose = (at: number, choice: Partial<Choice>) =>
    setChoices((before) => ({ ...before, [at]: { ticked: false, invoice: null, ...before[at], ...choice } }))

  const sumOf = (some: BankMatch[]) => {
    const sums = some.flatMap(({ line: at }) => {
      const { line, currency } = lines[at] ?? {}
      return line && currency !== undefined ? [{ currency, amount: line.amount }] : []
    })
    return formatSums(sumByCurrency(sums, usual), usual)
  }

  const record = async () => {
    setBusy(true)
    setProblem(null)
    const shares = new Map(wanted.map((one) => [one.line, sharesOf(one)]))
    const done: Recorded = { importIds: [], recorded: 0, paid: 0, asked, sums: sumOf(wanted), problem: null }
    try {
      // Each currency is an import of its own: what the first recorded can be undone also if the next fails.
      for (const [currency, its] of byCurrency(lines)) {
        if (!its.some(({ at }) => shares.has(at))) continue
        // The other lines are sent too: equal transfers of one day differ by their order only.
        const body = { lines: its.map(({ line, at }) => ({ ...line, invoices: shares.get(at) ?? [] })), currency }
        const { importId, recorded, paid } = await send(bankFileCalls.import, { body })
        done.importIds.push(importId)
        done.recorded += recorded
        done.paid += paid
      }
      await queries.invalidateQueries()
      onRecorded(done)
    } catch (error) {
      const message = errorMessage(error)
      setProblem(texts.recordFailed(message))
      setBusy(false)
      if (done.importIds.length === 0) return
      await queries.invalidateQueries()
      onRecorded({ ...done, problem: texts.restFailed(message) })
    }
  }

  return (
    <>
      {groups.map((verdict) => {
        const its = matches.filter((one) => one.verdict === verdict)
        return (
          its.length > 0 && (
            <Group
              key={verdict}
              title={texts.groups[verdict]}
              rows={its.map((one) => ({ at: one.line, match: one, shares: sharesOf(one), ticked: isTicked(one) }))}
              row={({ at, match: one, shares, ticked }) => {
                const read = lines[at]
                return (
                  read && (
                    <Line
                      key={at}
                      read={read}
                      match={one}
                      shares={shares.flatMap(({ invoiceId, amount }) => {
                        const invoice = byId.get(invoiceId)
                        return invoice ? [{ invoice, amount }] : []
                      })}
                      reason={choices[at]?.invoice ? texts.chosen : one.reason}
                      ticked={ticked}
                      onTick={(on) => choose(at, { ticked: on })}
                      onChoose={() => setChoosing(at)}
                    />
                  )
                )
              }}
            />
          )
        )
      })}
      <InvoiceChoice
        read={choosing === null ? null : (lines[choosing] ?? null)}
        invoices={invoices}
        onClose={() => setChoosing(null)}
        onChoose={(invoice) => {
          if (choosing !== null) choose(choosing, { ticked: true, invoice })
          setChoosing(null)
        }}
      />
      <FormError message={problem} />
      <div className={styles.record}>
        <span>{wanted.length > 0 && sumOf(wanted)}</span>
        <Allowed by="member">
          <BusyButton busy={busy} busyText={texts.recording} disabled={wanted.length === 0} onClick={() => void record()}>
            {texts.record(asked)}
          </BusyButton>
        </Allowed>
      </div>
    </>
  )
}

/** Lines shown at first: a file may have two thousand. */
const firstLines = 50

function Group<Row>({ title, rows, row }: { title: string; rows: Row[]; row: (row: Row) => ReactNode }): ReactNode {
  const [all, setAll] = useState(false)
  return (
    <Panel title={title} aside={<span className={styles.quiet}>{rows.length.toLocaleString('en-IN')}</span>}>
      <ul className={styles.list} aria-label={title}>
        {(all ? rows : rows.slice(0, firstLines)).map(row)}
      </ul>
      {!all && rows.length > firstLines && (
        <Button variant="default" mt={12} onClick={() => setAll(true)}>
          {texts.showAll(rows.length)}
        </Button>
      )}
    </Panel>
  )
}

interface LineProps {
  read: ReadLine
  match: BankMatch
  shares: { invoice: Invoice; amount: number }[]
  reason: string
  ticked: boolean
  onTick: (on: boolean) => void
  onChoose: () => void
}

function Line({ read: { line, currency }, match: { verdict }, shares, reason, ticked, onTick, onChoose }: LineProps): ReactNode {
  const [amount, date] = [formatMoney(line.amount, currency), showDate(line.date)]
  const isOpen = verdict === 'likely' || verdict === 'none'
  const button = shares.length > 0 ? texts.chooseOther : texts.choose
  return (
    <li className={styles.line}>
      <span className={styles.tick}>
        {verdict !== 'recorded' && shares.length > 0 && (
          <Checkbox aria-label={texts.tick(amount, date)} checked={ticked} onChange={(event) => onTick(event.currentTarget.checked)} />
        )}
      </span>
      <div className={styles.came}>
        <strong>{amount}</strong>
        <span className={styles.quiet}>{date}</span>
      </div>
      <div className={styles.bankText}>{[line.name, line.description, line.reference].filter((part) => part !== '').join(' · ')}</div>
      <div className={styles.pays}>
        {verdict !== 'recorded' &&
          shares.map(({ invoice, amount: part }) => {
            const pays = texts.pays(invoice.reference, invoice.clientName)
            return <strong key={invoice._id}>{shares.length > 1 ? texts.part(formatMoney(part, currency), pays) : pays}</strong>
          })}
        {reason !== '' && <span className={styles.quiet}>{reason}</span>}
        {isOpen && (
          <Button variant="subtle" className={styles.other ?? ''} aria-label={texts.forLine(button, amount, date)} onClick={onChoose}>
            {button}
          </Button>
        )}
      </div>
    </li>
  )
}

/** Invoices shown at once: more are found by searching. */
const mostShown = 20

interface InvoiceChoiceProps {
  /** The payment that an invoice is chosen for; null: closed. */
  read: ReadLine | null
  invoices: Invoice[]
  onChoose: (invoice: Invoice) => void
  onClose: () => void
}

function InvoiceChoice({ read, invoices, onChoose, onClose }: InvoiceChoiceProps): ReactNode {
  const shown = useKept(read)
  return (
    <Dialog opened={read !== null} onClose={onClose} title={texts.choose} size={560}>
      {shown && <OpenInvoices key={shown.number} read={shown} invoices={invoices} onChoose={onChoose} />}
    </Dialog>
  )
}

/** The open invoices in the currency of a payment: those of its amount first, then those with the first due date. */
function OpenInvoices({ read, invoices, onChoose }: Omit<InvoiceChoiceProps, 'read' | 'onClose'> & { read: ReadLine }): ReactNode {
  const [search, setSearch] = useState('')
  const typed = search.trim().toLowerCase()
  const open = useMemo(() => {
    const differs = (invoice: Invoice) => (owedAmount(invoice) === read.line.amount ? 0 : 1)
    return invoices
      .filter(({ status, currency }) => status !== 'paid' && currency === read.currency)
      .toSorted((one, other) => differs(one) - differs(other) || (one.dueDate < other.dueDate ? -1 : 1))
  }, [invoices, read])
  const found = open.filter(({ reference, clientName, clientEmail }) =>
    `${reference}\n${clientName}\n${clientEmail}`.toLowerCase().includes(typed),
  )
  return (
    <>
      <p className={styles.text}>
        {formatMoney(read.line.amount, read.currency)} · {showDate(read.line.date)}
      </p>
      <TextInput
        type="search"
        aria-label={texts.search}
        placeholder={texts.search}
        leftSection={<IconSearch size={18} stroke={1.7} aria-hidden />}
        data-autofocus
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {found.length === 0 && <p className={styles.none}>{texts.noInvoice}</p>}
      <ul className={styles.invoices}>
        {found.slice(0, mostShown).map((invoice) => (
          <li key={invoice._id}>
            <button type="button" className={styles.invoice} onClick={() => onChoose(invoice)}>
              <strong>{texts.pays(invoice.reference, invoice.clientName)}</strong>
              <span className={styles.quiet}>{texts.toPay(formatMoney(owedAmount(invoice), invoice.currency))}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > mostShown && <p className={styles.none}>{texts.more(found.length - mostShown)}</p>}
    </>
  )
}
