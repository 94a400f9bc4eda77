import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconAlertCircle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import { lazy, memo, type ReactNode, Suspense } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
import { formatMoney, formatSums, sumByCurrency } from '#contract/money.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useCurrency } from '#web/platform/account.tsx'
import { type AttentionItem, useAttention } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { capitalized, showComing } from '#web/ui/dates.ts'
import type { DueLine as LoadedDueLine } from '#web/ui/due-line.tsx'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import styles from './dashboard.module.css'
import { type NextRun, totals } from './list-data.ts'
import { findingTexts, texts } from './texts.ts'

const t = texts.tiles
// A function of its own: the build takes a `then` of `import()` to the script alone, and a style sheet that does not load would break the screen.
const loadDueLine = () => import('#web/ui/due-line.tsx')
/** Until it loads, and where it cannot be loaded, the dashboard shows the rest. */
const DueLine = lazy(async () => ({
  default: await loadDueLine().then(
    (loaded) => loaded.DueLine,
    (): typeof LoadedDueLine => () => null,
  ),
}))

interface OverviewProps {
  items: DueItem[]
  /** Undefined until it is known. */
  status: CallReply<typeof reminderCalls.status> | undefined
  /** The next emails; null where none is planned, undefined until it is known. */
  next: NextRun | null | undefined
  onOpen: (id: string) => void
  /** Shows the overdue invoices below. */
  onOverdue: () => void
}

/** Who owes, what is sent next, what needs the owner; then the due line. */
export const Overview = memo(function Overview(props: OverviewProps): ReactNode {
  const { items, status, next, onOpen, onOverdue } = props
  const currency = useCurrency()
  const { overdue, soon, invoices: late, clients } = totals(items, currency)
  const stats = useApiQuery(accountCalls.stats)
  return (
    <section className={styles.overview} aria-label={t.label}>
      <ul className={styles.tiles}>
        <li className={styles.tile}>
          <button type="button" className={styles.tileButton} onClick={onOverdue}>
            <TileWords
              label={t.overdue}
              value={formatSums(overdue, currency)}
              about={late === 0 ? t.nothingOverdue : t.overdueOf(late, clients)}
              tone={late === 0 ? 'plain' : 'overdue'}
            />
          </button>
        </li>
        <li className={styles.tile}>
          <NextTile status={status} next={next} />
        </li>
        <li className={styles.tile}>
          <NeedsTile />
        </li>
      </ul>
      <div className={styles.chart}>
        <Suspense fallback={<Skeleton height={220} m={24} />}>
          <DueLine
            items={items}
            currency={currency}
            finding={findingOf(items, currency)}
            onOpen={onOpen}
            foot={(key) => (
              <div className={styles.sums}>
                <dl className={styles.sumList}>
                  <Sum label={t.soon} text={formatSums(soon, currency)} />
                  {stats.data && <Sum label={t.paid} text={formatSums(stats.data.receivedByCurrency, currency)} />}
                </dl>
                {key}
              </div>
            )}
          />
        </Suspense>
      </div>
    </section>
  )
})

function Sum({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <div className={styles.sum}>
      <dt>{label}</dt>
      <dd>{text}</dd>
    </div>
  )
}

interface TileWordsProps {
  label: string
  value: string
  about: string
  tone: 'overdue' | 'plain'
}

function TileWords({ label, value, about, tone }: TileWordsProps): ReactNode {
  return (
    <>
      <span className={styles.tileLabel}>{label}</span>
      <strong className={styles.tileValue} data-tone={tone} data-long={value.length > 14 || undefined}>
        {value}
      </strong>
      <span className={styles.tileAbout}>{about}</span>
    </>
  )
}

function NextTile({ status, next }: Pick<OverviewProps, 'status' | 'next'>): ReactNode {
  const { value, about, to } = nextWords(status, next)
  return (
    <Link to={to} className={styles.tileButton}>
      <TileWords label={t.next} value={value} about={about} tone="plain" />
    </Link>
  )
}

/** Empty until it is known, so that nothing shifts. */
function nextWords(status: OverviewProps['status'], next: OverviewProps['next']): { value: string; about: string; to: string } {
  const to = screens.reminderControl
  if (!status || next === undefined) return { value: ' ', about: ' ', to }
  if (status.reason !== null) return t.reasons[status.reason]
  if (next === null) return { value: t.nonePlanned, about: t.nothingOpen, to }
  const value = capitalized(showComing(status.timezone, new Date(next.at), new Date()))
  return { value, about: t.emails(next.emails, next.clients), to }
}

function NeedsTile(): ReactNode {
  const { items, count, open } = useAttention()
  return (
    <button type="button" className={styles.tileButton} aria-haspopup="dialog" onClick={open}>
      <TileWords label={t.needs} value={items ? String(count) : ' '} about={items ? causes(items) : ' '} tone="plain" />
    </button>
  )
}

/** `1 address, 2 promises`. */
function causes(items: AttentionItem[]): string {
  const counts = new Map<AttentionItem['kind'], number>()
  for (const { kind, needsOwner } of items) if (needsOwner) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts.size === 0 ? t.nothingNeeded : [...counts].map(([kind, n]) => t.causes[kind](n)).join(', ')
}

const attentionTexts = texts.attention

/** One line at most: what needs the owner, else the most urgent of the rest, else that all is clear, once a reminder was sent. */
export function AttentionLine(): ReactNode {
  const { items } = useAttention()
  const { data: status } = useApiQuery(reminderCalls.status)
  // Before the first reminder there usually is nothing: a line that leaves again would move the list.
  if (!items?.length && status?.lastReminderSent === null) return null
  const needed = items?.filter(({ needsOwner }) => needsOwner) ?? []
  const [first] = items ?? []
  return (
    <div className={styles.strip} role="status">
      {items && (needed.length > 1 ? <Several items={needed} /> : first ? <One item={first} /> : <AllClear status={status} />)}
    </div>
  )
}

function Several({ items }: { items: AttentionItem[] }): ReactNode {
  const { open } = useAttention()
  const phone = useMediaQuery('(max-width: 47.99em)')
  // The reason of the first must be readable on a phone; the number is in front.
  const named = phone ? 1 : 2
  const more = phone ? 0 : items.length - named
  return (
    <>
      <IconAlertCircle size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone="bad" />
      <p className={styles.stripText}>
        <strong>{attentionTexts.need(items.length)}</strong>{' '}
        {[...items.slice(0, named).map(({ summary }) => summary), ...(more > 0 ? [attentionTexts.more(more)] : [])].join(' · ')}
      </p>
      <Button variant="subtle" className={styles.stripAction ?? ''} onClick={open}>
        {attentionTexts.view}
      </Button>
    </>
  )
}

function One({ item }: { item: AttentionItem }): ReactNode {
  const { open } = useAttention()
  const { kind, summary, title, text, action, tone } = item
  const Icon = tone === 'info' ? IconInfoCircle : IconAlertCircle
  return (
    <>
      <Icon size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone={tone} />
      <p className={styles.stripText}>
        {/* An email address would fill the line of a phone. */}
        <strong>{`${kind === 'address' ? summary : title}.`}</strong> {text}
      </p>
      {action ? (
        <Button
          component={Link}
          to={action.to}
          {...(action.reload ? { reloadDocument: true } : {})}
          variant="subtle"
          className={styles.stripAction ?? ''}
        >
          {action.text}
        </Button>
      ) : (
        <Button variant="subtle" className={styles.stripAction ?? ''} onClick={open}>
          {attentionTexts.view}
        </Button>
      )}
    </>
  )
}

function AllClear({ status }: { status: CallReply<typeof reminderCalls.status> | undefined }): ReactNode {
  const next =
    status?.reason === null && status.nextRunAt !== null
      ? attentionTexts.next(showComing(status.timezone, new Date(status.nextRunAt), new Date()))
      : null
  return (
    <>
      <IconCircleCheck size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone="good" />
      <p className={styles.stripText}>
        <strong>{attentionTexts.clear}</strong> {next}
      </p>
    </>
  )
}

/** A sentence and the figures behind it. */
interface Finding {
  title: string
  text: string | null
}

interface Client {
  name: string
  amount: number
  items: DueItem[]
}

/** From this share of everything overdue on, one client is the finding; from this share on, old invoices are. */
const share = 0.5
const old = 30

/**
 * What the due line shows, in a sentence: the client who owes most of what is overdue, else the age of the debts, else what is due next.
 * Shares are only of one currency. `currency` is that of the account.
 */
export function findingOf(items: DueItem[], currency: string): Finding {
  if (items.length === 0) return { title: findingTexts.allPaid, text: null }
  const late = items.filter((item) => item.late)
  if (late.length === 0) return dueNext(items)
  const clients = byClient(late)
  const [first] = clients
  if (!first) return dueNext(items)
  if (clients.length === 1) return { title: findingTexts.onlyOne(first.name), text: detailsOf(first, currency) }
  const [oldest] = late.toSorted((one, other) => other.daysLate - one.daysLate)
  const oldestText = oldest
    ? findingTexts.oldest(oldest.name, formatMoney(oldest.amount, oldest.currency), Math.max(0, oldest.daysLate))
    : null
  const spread = { title: findingTexts.spread(clients.length), text: oldestText }
  if (late.some((item) => item.currency !== oldest?.currency)) return spread
  const total = sum(late)
  const part = first.amount / total
  if (part >= share) return { title: findingTexts.owes(first.name, percent(part)), text: detailsOf(first, currency) }
  const oldPart = sum(late.filter(({ daysLate }) => daysLate > old)) / total
  if (oldPart >= share) return { title: findingTexts.older(percent(oldPart), old), text: oldestText }
  const three = clients.slice(0, 3)
  if (clients.length > 4) {
    const threePart = three.reduce((all, { amount }) => all + amount, 0) / total
    if (threePart >= share)
      return { title: findingTexts.three(percent(threePart)), text: findingTexts.names(three.map(({ name }) => name)) }
  }
  return spread
}

function dueNext(items: DueItem[]): Finding {
  const [next] = items.filter(({ daysLate }) => daysLate <= 0).toSorted((one, other) => other.daysLate - one.daysLate)
  return {
    title: findingTexts.nothingLate,
    text: next ? findingTexts.next(next.name, formatMoney(next.amount, next.currency), -next.daysLate) : null,
  }
}

function detailsOf({ items }: Client, currency: string): string {
  return findingTexts.details(
    formatSums(sumByCurrency(items, currency), currency),
    items.length,
    Math.max(0, ...items.map(({ daysLate }) => daysLate)),
  )
}

/** Largest first. */
function byClient(items: DueItem[]): Client[] {
  const clients = new Map<string, Client>()
  for (const item of items) {
    const client = clients.get(item.email) ?? { name: item.name, amount: 0, items: [] }
    client.amount += item.amount
    client.items.push(item)
    clients.set(item.email, client)
  }
  return [...clients.values()].toSorted((one, other) => other.amount - one.amount)
}

function sum(items: DueItem[]): number {
  return items.reduce((all, { amount }) => all + amount, 0)
}

/** Never rounded up to all of it. */
function percent(part: number): number {
  return Math.min(99, Math.round(part * 100))
}
