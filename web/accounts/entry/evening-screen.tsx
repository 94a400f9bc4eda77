import { Button } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { type EveningDay, ownerLinkCalls } from '#contract/owner-links.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showDate } from '#web/ui/dates.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard } from './entry-page.tsx'

const t = texts.evening
/** Clients shown at first. */
const initialClients = 20
/** With more emails their dots are not drawn. */
const mostDots = 60

/** /evening: the token stays in the address, so that the page can be loaded again; browsers send it to no server. */
export default function EveningScreen(): ReactNode {
  const token = new URLSearchParams(useLocation().hash.slice(1)).get('token')
  return token ? <Evening key={token} token={token} /> : <Dead />
}

function Dead(): ReactNode {
  return (
    <EntryCard title={t.page}>
      <title>{`${t.page} · Duely`}</title>
      <Notice tone="bad">{t.dead}</Notice>
      <Button component={Link} to={screens.reminderControl} variant="default" fullWidth>
        {t.onward}
      </Button>
    </EntryCard>
  )
}

function Evening({ token }: { token: string }): ReactNode {
  const look = useApiQuery(ownerLinkCalls.lookAtEvening, { body: { token } }, { staleTime: Number.POSITIVE_INFINITY })
  if (look.error instanceof Problem && look.error.code === 'not_found') return <Dead />
  const title = look.data ? t.title(showDate(look.data.date)) : t.page
  return (
    <EntryCard title={title} line={!look.data || look.data.of === 0}>
      <title>{`${title} · Duely`}</title>
      <QueryView query={look} loading={t.loading} error={t.failed} empty={null}>
        {(day) => <Day token={token} first={day} />}
      </QueryView>
    </EntryCard>
  )
}

function Day({ token, first }: { token: string; first: EveningDay }): ReactNode {
  const [changed, setChanged] = useState<EveningDay | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const effects = {
    onSuccess: (day: EveningDay) => {
      setChanged(day)
      setTrouble(null)
    },
    onError: (error: Error) => setTrouble(errorMessage(error)),
  }
  const leaveOut = useApiMutation(ownerLinkCalls.leaveOutOfEvening, effects)
  const takeBack = useApiMutation(ownerLinkCalls.takeBackInEvening, effects)
  const day = changed ?? first
  const isOver = useOver(day.until)
  const busy = leaveOut.isPending || takeBack.isPending
  const allOut = day.clients.every(({ leftOut, gone }) => leftOut || gone)
  const act = (isOut: boolean, key?: string) => {
    if (!busy) (isOut ? takeBack : leaveOut).mutate({ body: { token, ...(key === undefined ? {} : { clients: [key] }) } })
  }
  if (day.of === 0) return <p className={styles.lead}>{t.none}</p>
  return (
    <>
      <p className={styles.lead} role="status" data-done={(changed && !isOver) || undefined}>
        {changed && !isOver && <IconCheck size={18} stroke={2} aria-hidden />}
        {isOver ? t.over : changed ? t.done(day.leave, day.of) : t.lead(day.hour)}
      </p>
      {day.of <= mostDots && <Dots day={day} />}
      <FormError message={trouble} />
      <Clients clients={day.clients} busy={busy} onAct={isOver ? null : act} />
      {!isOver && day.clients.length > 1 && day.clients.some(({ gone }) => !gone) && (
        <Button variant="default" fullWidth aria-disabled={busy} onClick={() => act(allOut)}>
          {allOut ? t.takeAllBack : t.leaveAllOut}
        </Button>
      )}
      {!isOver && <p className={styles.until}>{t.until(showDate(day.date))}</p>}
    </>
  )
}

/** A dot for each email from the hour of the run on, hollow once it is left out. */
function Dots({ day: { hour, clients } }: { day: EveningDay }): ReactNode {
  const dots = clients.flatMap(({ key, emails, leftOut }) =>
    Array.from({ length: emails }, (_none, nth) => ({ key: `${key} ${nth}`, leftOut })),
  )
  return (
    <div className={styles.dots} aria-hidden>
      <span>{hour}</span>
      <div>
        {dots.map(({ key, leftOut }) => (
          <i key={key} data-left-out={leftOut || undefined} />
        ))}
      </div>
    </div>
  )
}

interface ClientsProps {
  clients: EveningDay['clients']
  busy: boolean
  /** Null: the day is over. */
  onAct: ((isOut: boolean, key: string) => void) | null
}

function Clients({ clients, busy, onAct }: ClientsProps): ReactNode {
  const [all, setAll] = useState(false)
  const list = useId()
  const shown = all ? clients : clients.slice(0, initialClients)
  return (
    <>
      <ul className={styles.clients} id={list} aria-label={t.list} aria-busy={busy}>
        {shown.map(({ key, clientName, references, leftOut, gone }) => (
          <li key={key} data-left-out={leftOut || undefined}>
            <div>
              <p className={styles.client}>{clientName}</p>
              <p className={styles.references}>
                {references.map((reference, nth) => (
                  <span key={reference}>{nth < references.length - 1 ? `${reference}, ` : reference}</span>
                ))}
              </p>
            </div>
            {gone || !onAct ? (
              <span className={styles.references}>{gone ? t.gone : leftOut ? t.leftOut : ''}</span>
            ) : (
              <Button
                variant="default"
                aria-disabled={busy}
                aria-label={leftOut ? t.takeBackFor(clientName) : t.leaveOutFor(clientName)}
                onClick={() => onAct(leftOut, key)}
              >
                {leftOut ? t.takeBack : t.leaveOut}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {clients.length > shown.length && (
        <Button variant="subtle" fullWidth aria-controls={list} onClick={() => setAll(true)}>
          {t.showAll(clients.length)}
        </Button>
      )}
    </>
  )
}

/** Whether an instant has come, looked at once a second: a page may stay open overnight. */
function useOver(until: string): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const look = () => setOver(Date.now() >= Date.parse(until))
    look()
    const timer = setInterval(look, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return isOver
}
