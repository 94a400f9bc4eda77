import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { type BusinessDetails, businessCalls, teamCalls } from '#contract/business.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { mailCalls } from '#contract/mail.ts'
import { screens } from '#contract/screens.ts'
import { sourceCalls } from '#contract/sources.ts'
import { texts } from '#web/accounts/texts.ts'
import { useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { openBusiness } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const t = texts.access

/** Something that acts for a business without the password of its owner. */
interface Holder {
  key: string
  kind: keyof typeof t.kinds
  name: string
  detail: string
  /** An ISO instant; null where it is not known. */
  since: string | null
  remove: () => Promise<unknown>
}

/** Nothing for those who may not remove any of it. */
async function readHolders({ role, _id }: BusinessDetails): Promise<Holder[]> {
  if (role !== 'owner' && role !== 'admin') return []
  const [team, invitations, { mailboxes }, keys, connections, webhooks, sources] = await Promise.all([
    send(teamCalls.members),
    send(teamCalls.invitations),
    send(mailCalls.mailboxes),
    send(integrationCalls.keys),
    send(integrationCalls.connections),
    send(integrationCalls.webhooks),
    send(sourceCalls.list),
  ])
  const holders: Omit<Holder, 'key'>[] = [
    ...team.members
      .filter((member) => !member.self && member.role !== 'owner')
      .map(({ _id: personId, displayName, email, role: theirs, joinedAt }) => ({
        kind: 'people' as const,
        name: displayName,
        detail: `${email}, ${texts.business.roles[theirs]}`,
        since: joinedAt,
        remove: () => send(teamCalls.removeMember, { params: { personId }, body: { programs: 'revoke' } }),
      })),
    ...invitations.map(({ _id: id, email, role: theirs, createdAt }) => ({
      kind: 'invitations' as const,
      name: email,
      detail: texts.business.roles[theirs],
      since: createdAt,
      remove: () => send(teamCalls.revokeInvitation, { params: { id } }),
    })),
    ...mailboxes.map(({ _id: id, user }) => ({
      kind: 'mailboxes' as const,
      name: user,
      detail: t.mailboxDetail,
      since: null,
      remove: () => send(mailCalls.removeMailbox, { params: { id } }),
    })),
    ...sources.map(({ _id: id, name, createdAt }) => ({
      kind: 'sources' as const,
      name,
      detail: '',
      since: createdAt,
      remove: () => send(sourceCalls.remove, { params: { id } }),
    })),
    ...keys.map(({ _id: id, name, ending, createdAt }) => ({
      kind: 'keys' as const,
      name,
      detail: `…${ending}`,
      since: createdAt,
      remove: () => send(integrationCalls.removeKey, { params: { id } }),
    })),
    ...connections
      .filter(({ own }) => !own)
      .map(({ _id: id, name, since }) => ({
        kind: 'apps' as const,
        name,
        detail: '',
        since,
        remove: () => send(integrationCalls.disconnect, { params: { id } }),
      })),
    ...webhooks
      // Those of a Zap go with its app.
      .filter(({ kind }) => kind === 'webhook')
      .map(({ _id: id, url, createdAt }) => ({
        kind: 'webhooks' as const,
        name: new URL(url).host,
        detail: url,
        since: createdAt,
        remove: () => send(integrationCalls.removeWebhook, { params: { id } }),
      })),
  ]
  return holders.map((holder, nth) => ({ ...holder, key: `${_id} ${nth}` }))
}

/** /dashboard/access: after a reset password, what can still act for the business. */
export default function AccessScreen(): ReactNode {
  const business = useApiQuery(businessCalls.read)
  return (
    <>
      <PageHeader title={t.title} subtitle={t.subtitle} />
      <QueryView query={business} loading={t.loading} error={t.failed} empty={null}>
        {(found) => <Holders key={found._id} business={found} />}
      </QueryView>
    </>
  )
}

function Holders({ business }: { business: BusinessDetails }): ReactNode {
  const holders = useQuery({
    queryKey: ['access', business._id],
    queryFn: () => readHolders(business),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <QueryView query={holders} loading={t.loading} error={t.failed} empty={<Nothing />}>
        {(list) => <Choice holders={list} onChange={() => void holders.refetch()} />}
      </QueryView>
      <OtherBusinesses current={business} />
    </>
  )
}

/** The person has looked at it, and continues to the dashboard. */
function useReviewed(): () => void {
  const navigate = useNavigate()
  const { mutate } = useApiMutation(accountCalls.accessReviewed, { invalidates: [accountCalls.profile] })
  return () => {
    mutate({})
    void navigate(screens.dashboard)
  }
}

function Nothing(): ReactNode {
  const { mutate } = useApiMutation(accountCalls.accessReviewed, { invalidates: [accountCalls.profile] })
  useEffect(() => mutate({}), [mutate])
  return (
    <Panel>
      <p className={styles.text}>{t.nothing}</p>
      <Button component={Link} to={screens.dashboard}>
        {t.dashboard}
      </Button>
    </Panel>
  )
}

function Choice({ holders, onChange }: { holders: Holder[]; onChange: () => void }): ReactNode {
  const zone = useToday().zone
  const reviewed = useReviewed()
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const chosen = holders.filter(({ key }) => !kept.has(key))
  const kinds = Object.keys(t.kinds).filter((kind): kind is Holder['kind'] => holders.some((one) => one.kind === kind))
  const remove = async () => {
    setBusy(true)
    setProblem(null)
    let removed = 0
    try {
      for (const one of chosen) {
        await one.remove()
        removed += 1
      }
      toast('good', t.removed(removed))
      reviewed()
    } catch (error) {
      setProblem(t.removeFailed(chosen[removed]?.name ?? '', errorMessage(error)))
      // Those before it are gone.
      if (removed > 0) onChange()
    }
    setBusy(false)
  }
  return (
    <Panel>
      <p className={styles.text}>{t.lead}</p>
      {kinds.map((kind) => (
        <fieldset key={kind} className={styles.holders} disabled={isBusy}>
          <legend className={styles.rowName}>{t.kinds[kind]}</legend>
          {holders
            .filter((one) => one.kind === kind)
            .map(({ key, name, detail, since }) => (
              <Checkbox
                key={key}
                label={name}
                description={[detail, since === null ? '' : t.since(showDate(dateIn(zone, new Date(since))))]
                  .filter((part) => part !== '')
                  .join(' · ')}
                checked={!kept.has(key)}
                onChange={(event) => {
                  const next = new Set(kept)
                  if (event.currentTarget.checked) next.delete(key)
                  else next.add(key)
                  setKept(next)
                }}
              />
            ))}
        </fieldset>
      ))}
      <p className={styles.text}>
        {t.also} <Link to={screens.gettingPaid}>{t.gettingPaid}</Link> · <Link to={screens.business}>{t.replies}</Link>
      </p>
      <FormError message={problem} />
      <Group gap={12}>
        {chosen.length > 0 && (
          <BusyButton color="coral" busy={isBusy} busyText={t.busy} onClick={() => void remove()}>
            {t.submit(chosen.length)}
          </BusyButton>
        )}
        <Button variant={chosen.length > 0 ? 'default' : 'filled'} disabled={isBusy} onClick={reviewed}>
          {t.keep}
        </Button>
      </Group>
    </Panel>
  )
}

/** Each business is looked at for itself; those of others can be left. */
function OtherBusinesses({ current }: { current: BusinessDetails }): ReactNode {
  const others = (useApiQuery(businessCalls.list).data ?? []).filter(({ _id }) => _id !== current._id)
  if (others.length === 0) return null
  return (
    <Panel title={t.others}>
      <p className={styles.lead}>{t.othersText}</p>
      <ul className={styles.list}>
        {others.map(({ _id, name, role }) => (
          <li key={_id} className={styles.item}>
            <div className={styles.what}>
              <span className={styles.rowName}>{name}</span>
              <p className={styles.rowQuiet}>{texts.business.roles[role]}</p>
            </div>
            <Button
              variant="default"
              aria-label={t.checkOf(name)}
              onClick={() => openBusiness(_id, role === 'owner' ? screens.access : `${screens.business}?tab=team`)}
            >
              {t.check}
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
