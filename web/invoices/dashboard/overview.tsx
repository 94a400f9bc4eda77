import { Skeleton } from '@mantine/core'
import { lazy, memo, type ReactNode, Suspense } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
import { formatSums } from '#contract/money.ts'
import type { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useCurrency } from '#web/platform/account.tsx'
import { type AttentionItem, useAttention } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { capitalized, showComing } from '#web/ui/dates.ts'
import type { DueLine as LoadedDueLine } from '#web/ui/due-line.tsx'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import styles from './dashboard.module.css'
import { findingOf } from './finding.ts'
import { type NextRun, totals } from './list-data.ts'
import { texts } from './texts.ts'

const t = texts.tiles
/** Until it loads, and where it cannot be loaded, the dashboard shows the rest. */
const DueLine = lazy(async () => ({
  default: await import('#web/ui/due-line.tsx').then(
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
