import { TextInput, VisuallyHidden } from '@mantine/core'
import {
  IconCalendarX,
  IconClock,
  IconMailExclamation,
  IconMailOff,
  IconMessage,
  IconMinus,
  IconPlayerPause,
  IconSearch,
  IconUserCheck,
  IconUsers,
} from '@tabler/icons-react'
import { memo, type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { Link } from 'react-router'
import { type Client, clientCalls } from '#contract/clients.ts'
import { formatSums } from '#contract/money.ts'
import { type PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { useGridNavigation } from '#web/invoices/dashboard/use-grid-navigation.ts'
import { LinkButton, useCurrency, useToday } from '#web/platform/account.tsx'
import { useBrokenPromises } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { daysBetween } from '#web/ui/dates.ts'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { axisOf, type ClientState, findingOf, linesByClient, searchClients, stateOfClient, todayAt } from './client-data.ts'
import styles from './clients.module.css'
import { clientTexts as texts } from './texts.ts'

/** In ms: the preview lists every unpaid invoice, and changes that matter invalidate it. */
const previewStaleTime = 60_000
const wide = 760
const last: { width: number | null; top: number } = { width: null, top: 0 }

/** /dashboard/clients: who owes what, and what is sent next. */
export default function ClientsScreen(): ReactNode {
  const clients = useApiQuery(clientCalls.list, {}, { staleTime: 0 })
  const currency = useCurrency()
  const [search, setSearch] = useState('')
  const typed = useDeferredValue(search)
  const some = clients.data !== undefined && clients.data.length > 0
  const finding = useMemo(() => (clients.data ? findingOf(clients.data, currency) : texts.subtitle), [clients.data, currency])
  return (
    <>
      <PageHeader
        title={texts.title}
        subtitle={some ? finding : texts.subtitle}
        action={
          some && (
            <TextInput
              className={styles.search ?? ''}
              type="search"
              aria-label={texts.search}
              placeholder={texts.search}
              leftSection={<IconSearch size={18} stroke={1.7} aria-hidden />}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          )
        }
      />
      <QueryView
        query={clients}
        loading={texts.loading}
        error={texts.failed}
        empty={
          <EmptyState
            icon={<IconUsers size={26} stroke={1.6} />}
            title={texts.none.title}
            text={texts.none.text}
            action={
              <LinkButton by="member" to={screens.newInvoice}>
                {texts.none.create}
              </LinkButton>
            }
          />
        }
      >
        {(list) => <ClientList clients={list} typed={typed} />}
      </QueryView>
    </>
  )
}

function ClientList({ clients, typed }: { clients: Client[]; typed: string }): ReactNode {
  const found = useMemo(() => searchClients(clients, typed), [clients, typed])
  const lines = useApiQuery(reminderCalls.preview, {}, { staleTime: previewStaleTime }).data?.lines
  const { zone, now, today } = useToday()
  const byClient = useMemo(() => lines && linesByClient(lines), [lines])
  const axis = useMemo(() => axisOf(lines ?? [], today), [lines, today])
  const broken = useBrokenPromises()
  const around = useMemo(() => ({ zone, now, broken }), [zone, now, broken])
  const rows = useGridNavigation<HTMLTableSectionElement>({
    items: found.length,
    columns: () => 1,
    height: (width) => (width >= wide ? 69 : 133),
    gap: 0,
    last,
  })
  const t = texts.columns
  if (found.length === 0) return <EmptyState title={texts.noResults(typed.trim())} />
  return (
    <table className={styles.table} aria-label={texts.title} aria-rowcount={found.length + 1}>
      <thead className={styles.head}>
        <tr aria-rowindex={1} className={styles.row}>
          <th scope="col" data-cell="client">
            {t.client}
          </th>
          <th scope="col" data-cell="line">
            <VisuallyHidden>{texts.axis.name}</VisuallyHidden>
            <span className={styles.axis} aria-hidden>
              <span>{texts.axis.ahead}</span>
              <strong style={{ left: `${todayAt}%` }}>{texts.axis.today}</strong>
              <span>{texts.axis.late(axis.text)}</span>
            </span>
          </th>
          <th scope="col" data-cell="oldest">
            {t.oldest}
          </th>
          <th scope="col" data-cell="overdue">
            {t.overdue}
          </th>
          <th scope="col" data-cell="open">
            {t.open}
          </th>
          <th scope="col" data-cell="next">
            {t.next}
          </th>
        </tr>
      </thead>
      <tbody ref={rows.frame} className={styles.body} style={{ height: rows.total, paddingTop: rows.start }}>
        {found.slice(rows.from, rows.to).map((client, index) => (
          <ClientRow
            key={client._id}
            client={client}
            lines={byClient ? (byClient.get(client.email.toLowerCase()) ?? noLines) : null}
            around={around}
            axis={axis}
            today={today}
            index={rows.from + index}
            height={rows.height}
          />
        ))}
      </tbody>
    </table>
  )
}

const noLines: PreviewLine[] = []

interface ClientRowProps {
  client: Client
  /** Its open invoices; null until they are known. */
  lines: PreviewLine[] | null
  around: Parameters<typeof stateOfClient>[2]
  axis: ReturnType<typeof axisOf>
  today: string
  index: number
  height: number
}

/** Only what changed is rendered again while the list scrolls: all of its values must be the same ones as before. */
const ClientRow = memo(function ClientRow({ client, lines, around, axis, today, index, height }: ClientRowProps): ReactNode {
  const state = lines && stateOfClient(client, lines, around)
  const dots = axis.dotsOf(lines ?? noLines)
  const { _id, name, email, overdue, open, openInvoices, oldestDueDate } = client
  const oldest = oldestDueDate === null ? null : daysBetween(oldestDueDate, today)
  const late = overdue.length > 0
  return (
    <tr aria-rowindex={index + 2} data-index={index} className={styles.row} style={{ height }}>
      <td data-cell="client">
        <Link to={screens.client(_id)} className={styles.name} title={`${name}\n${email}`} data-open>
          {name}
        </Link>
        <span className={styles.email}>{email}</span>
      </td>
      <td data-cell="line">
        <svg width="100%" height="100%" aria-hidden="true">
          <line x1="0" x2="100%" y1="50%" y2="50%" className={styles.ground} />
          <line x1={`${todayAt}%`} x2={`${todayAt}%`} y1="0" y2="100%" className={styles.today} />
          {dots.map(({ id, x, radius, late: isLate }) => (
            <circle key={id} cx={`${x}%`} cy="50%" r={radius} className={styles.dot} data-late={isLate || undefined} />
          ))}
        </svg>
        <VisuallyHidden>{texts.line(openInvoices)}</VisuallyHidden>
      </td>
      <td data-cell="oldest" data-late={(oldest ?? 0) > 0 || undefined}>
        {oldest === null ? '' : texts.oldest(oldest)}
      </td>
      <td data-cell="overdue" data-late={late || undefined}>
        {late ? <strong>{formatSums(overdue, '')}</strong> : texts.nothing}
      </td>
      <td data-cell="open" data-alone={!late || undefined}>
        {open.length > 0 ? <strong>{formatSums(open, '')}</strong> : texts.nothing}
      </td>
      <td data-cell="next" data-tone={state?.tone}>
        {state && state.text !== '' && (
          <>
            <StateIcon kind={state.kind} />
            <span>{state.text}</span>
          </>
        )}
      </td>
    </tr>
  )
})

const icons = {
  address: IconMailOff,
  broken: IconCalendarX,
  failing: IconMailExclamation,
  promise: IconUserCheck,
  said: IconMessage,
  paused: IconPlayerPause,
  next: IconClock,
  none: IconMinus,
}

function StateIcon({ kind }: Pick<ClientState, 'kind'>): ReactNode {
  const Icon = icons[kind]
  return <Icon size={18} stroke={1.7} aria-hidden />
}
