import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Box, Button, Checkbox, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type BusinessDetails, businessCalls, type Invitation, type Member, teamCalls } from '#contract/business.ts'
import { roles } from '#contract/call.ts'
import { texts } from '#web/accounts/texts.ts'
import { ConfirmEmailNotice, useRefusal, useToday } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton, copyLater } from '#web/ui/buttons.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { HandedOverPanel } from './handed-over.tsx'
import styles from './profile.module.css'
import { RemoveMember } from './remove-member.tsx'

const t = texts.business
const team = texts.team

/** Who works here, and the invitations that wait. */
export function Team({ business }: { business: BusinessDetails }): ReactNode {
  const [removing, setRemoving] = useState<Member | null>(null)
  const [heir, setHeir] = useState<Member | null>(null)
  const [promoting, setPromoting] = useState<Member | null>(null)
  const members = useApiQuery(teamCalls.members)
  const isAdmin = business.role === 'owner' || business.role === 'admin'
  const waiting = useApiQuery(teamCalls.invitations, {}, { enabled: isAdmin }).data ?? []
  return (
    <>
      <QueryView query={members} loading={team.loading} error={team.failed} empty={null}>
        {({ members: list, seats, offer }) => {
          const offeredTo = list.find(({ _id }) => _id === offer?.personId)
          return (
            <>
              {isAdmin && <HandedOverPanel />}
              {list.length + waiting.length > 1 && <RoleLine members={list} waiting={waiting} />}
              <Panel title={team.title} aside={<Seats members={list} waiting={waiting} seats={seats} />}>
                {list.length === 1 && <p className={styles.text}>{team.alone}</p>}
                {offer && offeredTo && <Offer to={offeredTo} until={offer.until} business={business} />}
                {isAdmin && <ConfirmEmailNotice title={team.confirmFirst} />}
                <Invite isAdmin={isAdmin} />
                <ul className={styles.team}>
                  {list.map((one) => (
                    <MemberRow
                      key={one._id}
                      member={one}
                      isAdmin={isAdmin}
                      alone={list.length === 1}
                      onHandOver={business.role === 'owner' && one.role === 'admin' && !offer ? () => setHeir(one) : null}
                      onPromote={() => setPromoting(one)}
                      onRemove={() => setRemoving(one)}
                    />
                  ))}
                  {waiting.map((one) => (
                    <InvitationRow key={one._id} invitation={one} />
                  ))}
                </ul>
              </Panel>
            </>
          )
        }}
      </QueryView>
      <Modal
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title={removing?.self ? team.remove.leave : team.remove.openFor(removing?.displayName ?? '')}
        size={520}
      >
        {removing && (
          <RemoveMember
            member={removing}
            business={business}
            heirs={(members.data?.members ?? []).filter(({ _id, role }) => _id !== removing._id && (role === 'owner' || role === 'admin'))}
            onDone={() => setRemoving(null)}
          />
        )}
      </Modal>
      <Modal opened={promoting !== null} onClose={() => setPromoting(null)} title={team.promote.title(promoting?.displayName ?? '')}>
        {promoting && <Promote whom={promoting} onDone={() => setPromoting(null)} />}
      </Modal>
      <Modal opened={heir !== null} onClose={() => setHeir(null)} title={team.handOver.title(business.name)}>
        {heir && <HandOver to={heir} onDone={() => setHeir(null)} />}
      </Modal>
    </>
  )
}

/** Faces of a role; the others are a number. */
const mostFaces = 4

/** The roles on one line, each with the people who have it. */
function RoleLine({ members, waiting }: { members: Member[]; waiting: Invitation[] }): ReactNode {
  return (
    <Panel title={team.line.title}>
      <ol className={styles.roles}>
        {roles.map((role) => {
          const here = [
            ...members.filter((one) => one.role === role).map(({ _id, displayName }) => ({ _id, name: displayName, invited: false })),
            ...waiting.filter((one) => one.role === role).map(({ _id, email }) => ({ _id, name: email, invited: true })),
          ]
          return (
            <li key={role} className={styles.role}>
              <span className={styles.faces}>
                {here.slice(0, mostFaces).map(({ _id, name, invited }) => (
                  <Face key={_id} name={name} invited={invited} />
                ))}
                {here.length > mostFaces && <span className={styles.rowQuiet}>{team.line.more(here.length - mostFaces)}</span>}
              </span>
              <span className={styles.rail} aria-hidden />
              <span className={styles.roleName}>{t.roles[role]}</span>
              <span className={styles.roleText}>{role === 'owner' ? team.line.owner : team.roles[role].replace(/^.*?: /, '')}</span>
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}

function Face({ name, invited = false }: { name: string; invited?: boolean }): ReactNode {
  const words = name.split(/[\s@.]+/).filter((word) => word !== '')
  const letters = [words[0], invited ? undefined : words.slice(1).at(-1)].map((word) => [...(word ?? '')][0] ?? '').join('')
  return (
    <span className={styles.face} data-invited={invited || undefined} title={name} aria-hidden>
      {letters.toUpperCase()}
    </span>
  )
}

interface SeatsProps {
  members: Member[]
  waiting: Invitation[]
  seats: { people: number | null; viewers: number | null }
}

/** How many of the plan's seats are taken; nothing where there are any number of them. */
function Seats({ members, waiting, seats }: SeatsProps): ReactNode {
  if (seats.people === null) return null
  const viewers = members.filter(({ role }) => role === 'viewer').length
  const invited = waiting.filter(({ role }) => role === 'viewer').length
  return (
    <div className={styles.seats}>
      <SeatLine taken={members.length - viewers} invited={waiting.length - invited} of={seats.people} text={team.seats} />
      {seats.viewers !== null && <SeatLine taken={viewers} invited={invited} of={seats.viewers} text={team.viewers} />}
    </div>
  )
}

interface SeatLineProps {
  taken: number
  invited: number
  of: number
  text: (used: number, seats: number) => string
}

/** An invitation counts as a seat as long as there is one for it: the first of several to join takes the last. */
function SeatLine({ taken, invited, of, text }: SeatLineProps): ReactNode {
  const fits = taken + invited <= of
  return (
    <span className={styles.seatLine}>
      <Dots taken={taken} invited={invited} of={of} />
      {text(fits ? taken + invited : taken, of)}
      {invited > 0 && (
        <span className={styles.rowQuiet}>{fits ? team.invited(invited) : team.tooManyInvited(invited, Math.max(0, of - taken))}</span>
      )}
    </span>
  )
}

function Dots({ taken, invited, of }: { taken: number; invited: number; of: number }): ReactNode {
  return (
    <span className={styles.dots} aria-hidden>
      {Array.from({ length: of }, (_, nth) => (
        <span key={String(nth)} className={styles.dot} data-seat={nth < taken ? 'taken' : nth < taken + invited ? 'invited' : 'free'} />
      ))}
    </span>
  )
}

interface MemberRowProps {
  member: Member
  isAdmin: boolean
  /** No one else works here. */
  alone: boolean
  /** null: it cannot be handed over to them. */
  onHandOver: (() => void) | null
  onPromote: () => void
  onRemove: () => void
}

function MemberRow({ member, isAdmin, alone, onHandOver, onPromote, onRemove }: MemberRowProps): ReactNode {
  const { _id, displayName, email, role, getsMails, self } = member
  const refused = useRefusal('admin')
  const change = useApiMutation(teamCalls.changeMember, {
    invalidates: [teamCalls.members],
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <li className={styles.member}>
      <Face name={displayName} />
      <div className={styles.memberWords}>
        <span className={styles.rowName}>
          {displayName} {self && <Pill tone="quiet">{team.you}</Pill>}
        </span>
        <p className={styles.rowQuiet}>{email}</p>
        {!alone && role === 'admin' && (
          <Checkbox
            mt={8}
            label={team.getsMails}
            aria-label={team.getsMailsOf(displayName)}
            checked={getsMails}
            disabled={!isAdmin}
            title={refused}
            onChange={(event) => change.mutate({ params: { personId: _id }, body: { getsMails: event.currentTarget.checked } })}
          />
        )}
      </div>
      {role === 'owner' ? (
        <span className={styles.memberRole}>{t.roles.owner}</span>
      ) : (
        <NativeSelect
          className={styles.memberRole ?? ''}
          aria-label={team.roleOf(displayName)}
          data={roleNames}
          value={role}
          disabled={!isAdmin}
          title={refused}
          onChange={(event) => {
            const chosen = roleNames.find(({ value }) => value === event.currentTarget.value)?.value
            if (chosen === 'admin') onPromote()
            else if (chosen) change.mutate({ params: { personId: _id }, body: { role: chosen } })
          }}
        />
      )}
      {role !== 'owner' && (
        <Group gap={4} className={styles.memberActs ?? ''}>
          {onHandOver && (
            <Button variant="subtle" aria-label={team.handOver.openFor(displayName)} onClick={onHandOver}>
              {team.handOver.open}
            </Button>
          )}
          <Button
            variant="subtle"
            aria-label={self ? team.remove.leave : team.remove.openFor(displayName)}
            disabled={!isAdmin && !self}
            title={self ? undefined : refused}
            onClick={onRemove}
          >
            {self ? team.remove.leave : team.remove.open}
          </Button>
        </Group>
      )}
    </li>
  )
}

function InvitationRow({ invitation: { _id, email, role, expiresAt } }: { invitation: Invitation }): ReactNode {
  const zone = useToday().zone
  const [link, setLink] = useState<string | null>(null)
  const about = { invalidates: [teamCalls.invitations], onError: (error: Error) => toast('bad', errorMessage(error)) }
  const revoke = useApiMutation(teamCalls.revokeInvitation, about)
  const again = useApiMutation(teamCalls.inviteAgain, { ...about, onSuccess: (reply) => setLink(reply.link) })
  return (
    <li className={styles.member}>
      <Face name={email} invited />
      <div className={styles.memberWords}>
        <span className={styles.rowName}>{email}</span>
        <p className={styles.rowQuiet}>{team.waiting.until(showDate(dateIn(zone, new Date(expiresAt))))}</p>
      </div>
      <span className={styles.memberRole}>{t.roles[role]}</span>
      <Group gap={4} className={styles.memberActs ?? ''}>
        {link !== null && <CopyLink link={link} />}
        <BusyButton
          variant="subtle"
          busy={again.isPending}
          busyText={team.invite.busy}
          aria-label={team.waiting.againTo(email)}
          onClick={() => again.mutate({ params: { id: _id } })}
        >
          {team.waiting.again}
        </BusyButton>
        <BusyButton
          variant="subtle"
          busy={revoke.isPending}
          busyText={team.waiting.revoking}
          aria-label={team.waiting.revokeOf(email)}
          onClick={() => revoke.mutate({ params: { id: _id } })}
        >
          {team.waiting.revoke}
        </BusyButton>
      </Group>
    </li>
  )
}

function CopyLink({ link }: { link: string }): ReactNode {
  const copy = async () => {
    if (await copyLater(Promise.resolve(link))) toast('good', team.invite.copied)
  }
  return (
    <Button variant="default" onClick={() => void copy()}>
      {team.invite.copy}
    </Button>
  )
}

const roleNames = (['admin', 'member', 'viewer'] as const).map((value) => ({ value, label: t.roles[value] }))

function Invite({ isAdmin }: { isAdmin: boolean }): ReactNode {
  const proof = useProof()
  const [sent, setSent] = useState<{ email: string; link: string; emailed: boolean } | null>(null)
  const state = useContractForm({
    call: teamCalls.invite,
    initialValues: { email: '', role: 'viewer', ...noProof },
    toInput: ({ email, role, ...given }) => ({
      body: {
        email,
        role: roleNames.find(({ value }) => value === role)?.value ?? 'viewer',
        ...(role === 'admin' ? proofIn(proof, given) : {}),
      },
    }),
    invalidates: [teamCalls.invitations],
    onSuccess: (reply) => {
      setSent(reply)
      state.reset()
    },
  })
  const { role } = state.form.getValues()
  return (
    <>
      <ContractForm state={state} submit={team.invite.submit} busy={team.invite.busy}>
        <div className={styles.invite}>
          <TextInput label={team.invite.email} type="email" required disabled={!isAdmin} {...state.form.getInputProps('email')} />
          <NativeSelect label={team.invite.role} data={roleNames} disabled={!isAdmin} {...state.form.getInputProps('role')} />
        </div>
        <p className={styles.note}>
          {`${team.roles[roleNames.find(({ value }) => value === role)?.value ?? 'viewer']}. ${team.invite.once}`}
        </p>
        {role === 'admin' && (
          <Box mt={16} maw={640}>
            <ProofField proof={proof} hint={team.promote.why} of={(field) => state.form.getInputProps(field)} />
          </Box>
        )}
      </ContractForm>
      {sent && (
        <Box mt={20}>
          <Notice tone="good" action={<CopyLink link={sent.link} />}>
            {sent.emailed ? team.invite.done(sent.email) : team.invite.byHand(sent.email)}
          </Notice>
        </Box>
      )}
    </>
  )
}

/** The business is offered to an admin: the owner withdraws the offer, the admin accepts it. */
function Offer({ to, until, business }: { to: Member; until: string; business: BusinessDetails }): ReactNode {
  const zone = useToday().zone
  const onError = (error: Error) => {
    toast('bad', errorMessage(error))
  }
  const withdraw = useApiMutation(teamCalls.withdrawOwnership, { invalidates: [teamCalls.members], onError })
  const accept = useApiMutation(teamCalls.acceptOwnership, {
    invalidates: [teamCalls.members, businessCalls.read, businessCalls.list, accountCalls.profile],
    onSuccess: () => {
      toast('good', team.handOver.accepted(business.name))
    },
    onError,
  })
  const day = showDate(dateIn(zone, new Date(until)))
  const action = to.self ? (
    <BusyButton busy={accept.isPending} busyText={team.handOver.accepting} onClick={() => accept.mutate({})}>
      {team.handOver.accept}
    </BusyButton>
  ) : (
    business.role === 'owner' && (
      <BusyButton variant="default" busy={withdraw.isPending} busyText={team.handOver.withdrawing} onClick={() => withdraw.mutate({})}>
        {team.handOver.withdraw}
      </BusyButton>
    )
  )
  return (
    <Box mb={16}>
      <Notice tone="warn" action={action}>
        {to.self
          ? team.handOver.offered(business.owner, business.name, day)
          : `${team.handOver.explained(to.displayName)} ${team.handOver.until(day)}`}
      </Notice>
    </Box>
  )
}

function Promote({ whom, onDone }: { whom: Member; onDone: () => void }): ReactNode {
  const proof = useProof()
  const state = useContractForm({
    call: teamCalls.changeMember,
    initialValues: noProof,
    toInput: (given) => ({ params: { personId: whom._id }, body: { role: 'admin' as const, ...proofIn(proof, given) } }),
    invalidates: [teamCalls.members],
    onSuccess: onDone,
  })
  return (
    <ContractForm
      state={state}
      submit={team.promote.submit}
      busy={team.promote.busy}
      actions={
        <Button variant="default" onClick={onDone}>
          {t.cancel}
        </Button>
      }
    >
      <p className={styles.text}>{team.promote.explained(whom.displayName)}</p>
      <ProofField proof={proof} hint={team.promote.why} of={(field) => state.form.getInputProps(field)} autofocus />
    </ContractForm>
  )
}

function HandOver({ to, onDone }: { to: Member; onDone: () => void }): ReactNode {
  const profile = useApiQuery(accountCalls.profile).data
  const state = useContractForm({
    call: teamCalls.offerOwnership,
    initialValues: { currentPassword: '', code: '' },
    toInput: ({ currentPassword, code }) => ({
      body: { personId: to._id, ...(currentPassword === '' ? {} : { currentPassword }), ...(code === '' ? {} : { code }) },
    }),
    invalidates: [teamCalls.members],
    onSuccess: onDone,
  })
  return (
    <ContractForm
      state={state}
      submit={team.handOver.open}
      busy={team.handOver.busy}
      actions={
        <Button variant="default" onClick={onDone}>
          {t.cancel}
        </Button>
      }
    >
      <p className={styles.text}>{team.handOver.explained(to.displayName)}</p>
      {profile && !profile.googleId && (
        <PasswordField
          label={team.handOver.password}
          autoComplete="current-password"
          required
          {...state.form.getInputProps('currentPassword')}
        />
      )}
      {profile?.twoFactor && (
        <TextInput mt={16} label={team.handOver.code} autoComplete="one-time-code" required {...state.form.getInputProps('code')} />
      )}
    </ContractForm>
  )
}
