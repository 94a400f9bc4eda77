import { Button } from '@mantine/core'
import { scaleLinear } from 'd3-scale'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { mostPlanned, type PlannedMail, planDays, type Simulation, type SimulationRequest, sequenceCalls } from '#contract/sequences.ts'
import { useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { TryAgain } from '#web/ui/buttons.tsx'
import { showDate } from '#web/ui/dates.ts'
import { useWidth } from '#web/ui/hooks.ts'
import { Notice } from '#web/ui/notice.tsx'
import styles from './sequences.module.css'
import { heard, type Kind, type Rhythm, stripOf } from './steps.ts'
import { dayOf, sequenceTexts } from './texts.ts'

const texts = sequenceTexts.changes

/** Milliseconds after the last change of what is simulated. */
const patience = 400

export interface Simulated {
  /** Of the change as it is now; undefined until it is known. */
  now: Simulation | undefined
  /** Shown meanwhile. */
  last: Simulation | undefined
  error: Error | null
  isFetching: boolean
  refetch: () => Promise<unknown>
}

/** A change that is looked at before it is made. */
export type Change = Omit<SimulationRequest, 'days' | 'suppose'>

/** What a change would do in the next days, as if daily reminders were on; null: there is none that could be made. */
export function useSimulation(change: Change | null): Simulated {
  const wanted = change === null ? null : JSON.stringify(change)
  const [asked, setAsked] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), patience)
    return () => clearTimeout(timer)
  }, [wanted])
  const body = asked === null ? {} : (JSON.parse(asked) as Change)
  const query = useApiQuery(
    sequenceCalls.simulate,
    { body: { ...body, days: planDays, suppose: 'started' } },
    { enabled: asked !== null, staleTime: 30_000 },
  )
  const last = useRef<Simulation>(undefined)
  if (query.data) last.current = query.data
  const current = asked !== null && asked === wanted
  return {
    now: current ? query.data : undefined,
    last: query.data ?? last.current,
    error: current ? query.error : null,
    isFetching: query.isFetching || !current,
    refetch: query.refetch,
  }
}

interface ChangesBesideProps {
  change: Change
  /** Called with the fingerprint of what is shown, while it is. */
  onShown?: (fingerprint: string | undefined) => void
}

/** What a change would do in the next days, beside the fields that hold it. */
export function ChangesBeside({ change, onShown }: ChangesBesideProps): ReactNode {
  const simulated = useSimulation(change)
  const shown = simulated.now?.fingerprint
  useEffect(() => {
    onShown?.(shown)
    return () => onShown?.(undefined)
  }, [onShown, shown])
  return <PlanChanges simulated={simulated} heading="h3" />
}

/** The label of a button that saves a change with this simulation. */
export function saveLabel({ counts }: Simulation): string {
  return counts.added + counts.removed + counts.moved + counts.reworded === 0 ? texts.same : texts.save(counts)
}

interface PlanChangesProps {
  simulated: Simulated
  /** The heading of the lists is one below the title's. */
  heading: 'h2' | 'h3'
  /** Beside the title. */
  children?: ReactNode
}

/** What a change does in the next 30 days: a strip of all emails, and the names of those that are added, removed, moved or reworded. */
export function PlanChanges({ simulated, heading: Heading, children }: PlanChangesProps): ReactNode {
  const { now, last, error, isFetching, refetch } = simulated
  const status = useApiQuery(reminderCalls.status).data
  if (error && !now)
    return (
      <Notice tone="bad" action={<TryAgain busy={isFetching} onRetry={() => void refetch()} />}>
        {texts.failed(errorMessage(error))}
      </Notice>
    )
  const shown = now ?? last
  return (
    <div className={styles.changes} aria-busy={now === undefined}>
      <div className={styles.changesHead}>
        <Heading className={styles.changesTitle} aria-live="polite">
          {shown === undefined ? texts.checking : titleOf(shown)}
          {shown !== undefined && shown.counts.before !== shown.counts.after && <span>, {texts.before(shown.counts.before)}</span>}
        </Heading>
        {children}
      </div>
      {status && status.state !== 'active' && (
        <p className={styles.quiet}>
          {status.state === 'off' ? texts.off : texts.onHold(status.words)} {texts.supposed[status.state]}{' '}
          <Link to={screens.reminderControl}>{texts.control}</Link>
        </p>
      )}
      {shown !== undefined && (
        <>
          {shown.counts.before + shown.counts.after > 0 && <Strip simulation={shown} />}
          <Lists simulation={shown} />
          {shown.counts.after > 0 && (
            <p className={styles.quiet}>
              {texts.condition} {shown.most && texts.most(shown.most.emails, shown.most.clientName)}
            </p>
          )}
        </>
      )}
    </div>
  )
}

function titleOf({ after, counts }: Simulation): string {
  // Beyond the most that is listed, only the number is known.
  if (counts.after > mostPlanned) return texts.emails(counts.after)
  return texts.title(counts.after, new Set(after.map(({ clientEmail }) => clientEmail.toLowerCase())).size)
}

const column = { top: 26, height: 78, most: 5 }
const axis = column.top + column.height

/** The next 30 days: a column for each, a dot for each email. The lists below name them. */
function Strip({ simulation }: { simulation: Simulation }): ReactNode {
  const { today } = useToday()
  const [frame, width] = useWidth<HTMLDivElement>()
  const { days, moves } = stripOf(simulation, today, planDays)
  const step = (width ?? 0) / planDays
  const x = (nth: number) => step * (nth + 0.5)
  const y = (level: number) => axis - 9 - level * 14
  const radius = Math.max(1, Math.min(5, step * 0.36))
  // Where there is no room for the number of each full day, the fullest has one.
  const fullest = Math.max(...days.map(({ leaves }) => leaves.length))
  const named = step >= 20 ? null : days.findIndex(({ leaves }) => leaves.length === fullest)
  const topOf = ({ leaves, gone }: { leaves: unknown[]; gone: unknown[] }) => Math.min(column.most, leaves.length + gone.length) - 1
  return (
    <div ref={frame} className={styles.strip}>
      {width !== null && (
        <svg width={width} height={axis + 26} role="img" aria-label={texts.strip(simulation.counts)}>
          <line className={styles.axis} x1={0} x2={width} y1={axis} y2={axis} />
          {days.map(({ date, leaves, gone }, nth) => {
            // What leaves comes before what no longer does, and of that the changes: the number is of emails that leave.
            const many = leaves.length > column.most
            const drawn = many ? leaves.slice(-column.most + 1) : [...leaves, ...gone].slice(0, column.most)
            return (
              <g key={date}>
                {drawn.map((kind, level) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the dots of a day are stacked by their place.
                  <Dot key={level} kind={kind} x={x(nth)} y={y(level)} radius={radius} />
                ))}
                {many && (named === null || named === nth) && (
                  <text x={x(nth)} y={y(column.most - 1) + 4} textAnchor="middle" className={styles.count}>
                    {leaves.length}
                  </text>
                )}
                {nth % 7 === 0 && (
                  <>
                    <line className={styles.axis} x1={step * nth} x2={step * nth} y1={axis} y2={axis + 6} />
                    <text
                      className={styles.tick}
                      x={x(nth) > width - 40 ? width : step * nth + (nth === 0 ? 0 : 4)}
                      y={axis + 21}
                      textAnchor={x(nth) > width - 40 ? 'end' : 'start'}
                    >
                      {nth === 0 && width > 480 ? texts.today(showDate(date).slice(0, 5)) : showDate(date).slice(0, 5)}
                    </text>
                  </>
                )}
              </g>
            )
          })}
          {moves.slice(0, 12).map(({ from, to }, nth) => {
            const [begin, end] = [days[from], days[to]]
            if (!begin || !end || from === to) return null
            const [y1, y2] = [y(topOf(begin)) - 8, y(topOf(end)) - 8]
            const peak = Math.min(y1, y2) - 26
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two emails may move between the same days.
              <path key={nth} className={styles.move} d={`M${x(from)} ${y1}Q${(x(from) + x(to)) / 2} ${peak} ${x(to)} ${y2}`} />
            )
          })}
        </svg>
      )}
    </div>
  )
}

function Dot({ kind, x, y, radius }: { kind: Kind | 'removed' | 'from'; x: number; y: number; radius: number }): ReactNode {
  return (
    <g className={styles.mail} data-kind={kind}>
      <circle cx={x} cy={y} r={kind === 'added' ? radius + 1 : kind === 'removed' || kind === 'from' ? radius - 0.75 : radius} />
      {kind === 'added' && <path d={`M${x - 3} ${y}h6M${x} ${y - 3}v6`} />}
      {kind === 'removed' && <path d={`M${x - radius} ${y + radius}L${x + radius} ${y - radius}`} />}
    </g>
  )
}

const marks = { added: '+', removed: '−', moved: '←', reworded: '✎' }
/** Names of a list shown at first. */
const firstNames = 6

function Lists({ simulation }: { simulation: Simulation }): ReactNode {
  const { counts } = simulation
  const all = [
    { kind: 'added', mails: simulation.added },
    { kind: 'removed', mails: simulation.removed },
    { kind: 'moved', mails: simulation.moved },
    { kind: 'reworded', mails: simulation.reworded },
  ] as const
  const some = all.filter(({ kind }) => counts[kind] > 0)
  if (some.length === 0) return null
  return (
    <div className={styles.lists}>
      {some.map(({ kind, mails }) => (
        <Names key={kind} kind={kind} count={counts[kind]} mails={mails} />
      ))}
    </div>
  )
}

interface NamesProps {
  kind: keyof typeof marks
  count: number
  mails: (PlannedMail & { from?: string })[]
}

function Names({ kind, count, mails }: NamesProps): ReactNode {
  const [all, setAll] = useState(false)
  const shown = all ? mails : mails.slice(0, firstNames)
  return (
    <section aria-label={texts.lists[kind]} data-kind={kind} className={styles.names}>
      <h3 className={styles.namesTitle}>
        <span>{count.toLocaleString('en-IN')}</span> {texts.lists[kind]}
      </h3>
      <ul>
        {shown.map((mail) => (
          <li key={`${mail.at} ${mail.invoiceIds.join()}`}>
            <i aria-hidden>{marks[kind]}</i>
            <strong>{mail.clientName}</strong>
            <span className={styles.date}>{showDate(mail.localDate)}</span>
            <span className={styles.about}>{aboutOf(mail)}</span>
          </li>
        ))}
      </ul>
      {shown.length < mails.length && (
        <Button variant="subtle" ml={-18} onClick={() => setAll(true)}>
          {texts.showAll(mails.length, count)}
        </Button>
      )}
      {all && count > mails.length && <p className={styles.quiet}>{texts.more(count - mails.length)}</p>}
    </section>
  )
}

function aboutOf({ from, subject, invoiceIds }: PlannedMail & { from?: string }): string {
  const words = from === undefined ? subject : texts.movedFrom(showDate(from))
  return invoiceIds.length > 1 ? `${texts.invoices(invoiceIds.length)}, ${words}` : words
}

const height = 48
const baseline = 40
const lift = { friendly: 10, firm: 20, final: 30 }

/** A sequence on the due line: across is days, up is tone. A picture: its days are its name. */
export function SequenceLine({ rhythm }: { rhythm: Rhythm }): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const { emails } = heard(rhythm)
  const days = emails.filter(({ repeated }) => !repeated).map(({ day }) => dayOf(day))
  const rest = rhythm.everyDays === null ? '' : sequenceTexts.repeating(rhythm.everyDays)
  const [first, last] = [Math.min(0, emails[0]?.day ?? 0), Math.max(7, emails.at(-1)?.day ?? 0)]
  const x = scaleLinear([first, last], [8, (width ?? 0) - 8])
  return (
    <div
      ref={frame}
      className={styles.line}
      role="img"
      aria-label={days.length === 0 ? sequenceTexts.never : sequenceTexts.line(days, rest)}
    >
      {width !== null && (
        <svg width={width} height={height} aria-hidden="true">
          <line className={styles.axis} x1={0} x2={width} y1={baseline} y2={baseline} />
          <line className={styles.due} x1={x(0)} x2={x(0)} y1={4} y2={baseline + 6} />
          {emails.map(({ day, tone, repeated }) => (
            <g key={day} data-tone={tone} data-repeated={repeated || undefined} className={styles.email}>
              <line x1={x(day)} x2={x(day)} y1={baseline} y2={baseline - lift[tone]} />
              <circle cx={x(day)} cy={baseline - lift[tone]} r={4.5} />
            </g>
          ))}
        </svg>
      )}
    </div>
  )
}
