import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Checkbox, Group, NativeSelect, Radio } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type BusinessDetails, type Made, type Member, teamCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { madeTexts } from '#web/accounts/made-texts.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { openBusiness } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import styles from './profile.module.css'

const t = texts.team.remove

interface RemoveMemberProps {
  member: Member
  business: BusinessDetails
  /** Who may take over what they made. */
  heirs: Member[]
  onDone: () => void
}

/** Removes a member, or leaves: what they set up ends, or is for someone else to take over. */
export function RemoveMember(props: RemoveMemberProps): ReactNode {
  const { member, business } = props
  const { self, displayName } = member
  const made = useApiQuery(teamCalls.made, { params: { personId: member._id } }, { staleTime: 0 })
  const asks = (made.data ?? []).length > 0
  const leaving = asks ? t.leaveMade(business.name) : t.leaveQuestion(business.name)
  const removing = (asks ? t.made : t.question)(displayName, business.name)
  return (
    <>
      <p className={styles.text}>{self ? leaving : removing}</p>
      <QueryView query={made} loading={madeTexts.loading} error={madeTexts.failed} empty={<Confirm {...props} made={[]} />}>
        {(list) => <Confirm key={list.length} {...props} made={list} />}
      </QueryView>
    </>
  )
}

type Choice = 'revoke' | 'take_over'

function Confirm({ member, heirs, made, onDone }: RemoveMemberProps & { made: Made[] }): ReactNode {
  const { self } = member
  const [choice, setChoice] = useState<Choice>('revoke')
  const [leftOut, setLeftOut] = useState<ReadonlySet<Made>>(new Set())
  const byDefault = heirs.find((one) => (self ? one.role === 'owner' : one.self))
  const [heirId, setHeirId] = useState(byDefault?._id)
  const remove = useApiMutation(teamCalls.removeMember, {
    invalidates: [teamCalls.members, teamCalls.handedOver],
    onSuccess: () => {
      if (self) openBusiness(null, screens.dashboard)
      else onDone()
    },
  })
  const kept = made.filter((one) => !leftOut.has(one))
  const send = () => {
    const takeOver = kept.map(({ kind, _id: id }) => ({ kind, id }))
    const chosen = choice === 'revoke' ? { programs: choice } : { programs: choice, takeOver, ...(heirId === undefined ? {} : { heirId }) }
    remove.mutate({ params: { personId: member._id }, body: made.length === 0 ? {} : chosen })
  }
  return (
    <>
      {made.length > 0 && (
        <>
          <MadeList made={made} choosing={choice === 'take_over'} leftOut={leftOut} onLeaveOut={setLeftOut} />
          <p className={styles.note}>{self ? madeTexts.ownKnows : madeTexts.knows(member.displayName)}</p>
          <Radio.Group<Choice> value={choice} onChange={setChoice} aria-label={t.choice}>
            <div className={styles.choices}>
              <Radio value="revoke" label={t.revoke} description={madeTexts.end} />
              <Radio
                value="take_over"
                label={self ? madeTexts.ask : t.takeOver}
                description={self ? madeTexts.askHint : madeTexts.takeOver}
              />
            </div>
          </Radio.Group>
          {choice === 'take_over' && heirs.length > 1 && (
            <NativeSelect
              className={styles.heir ?? ''}
              label={madeTexts.heir}
              {...(heirs.find(({ _id }) => _id === heirId)?.self ? {} : { description: madeTexts.heirHint })}
              data={heirs.map((one) => ({ value: one._id, label: one.self ? madeTexts.me : one.displayName }))}
              value={heirId ?? ''}
              onChange={(event) => setHeirId(event.currentTarget.value)}
            />
          )}
        </>
      )}
      <FormError message={remove.isError ? errorMessage(remove.error) : null} />
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onDone}>
          {texts.business.cancel}
        </Button>
        <BusyButton color="coral" busy={remove.isPending} busyText={t.busy} onClick={send}>
          {self ? t.leave : t.open}
        </BusyButton>
      </Group>
    </>
  )
}

interface MadeListProps {
  made: Made[]
  /** Whether each can be left out of what is taken over. */
  choosing: boolean
  leftOut: ReadonlySet<Made>
  onLeaveOut: (leftOut: ReadonlySet<Made>) => void
}

function MadeList({ made, choosing, leftOut, onLeaveOut }: MadeListProps): ReactNode {
  const change = (one: Made, isKept: boolean) =>
    onLeaveOut(new Set(isKept ? [...leftOut].filter((other) => other !== one) : [...leftOut, one]))
  return (
    <ul className={styles.made}>
      {made.map((one) => {
        const { kind, name } = one
        return (
          <li key={`${kind} ${one._id}`} className={styles.madeRow}>
            <div className={styles.memberWords}>
              <span className={styles.rowName}>{name}</span>
              <MadeFacts made={one} />
              {(kind === 'mailbox' || kind === 'razorpay') && <p className={styles.rowQuiet}>{madeTexts[kind]}</p>}
            </div>
            {choosing && (
              <Checkbox
                label={madeTexts.chosen}
                aria-label={madeTexts.panel.takeOverOf(name)}
                checked={!leftOut.has(one)}
                onChange={(event) => change(one, event.currentTarget.checked)}
              />
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** What it is, and where it leads to. */
export function MadeFacts({ made: { kind, detail } }: { made: Made }): ReactNode {
  return <p className={styles.rowQuiet}>{[madeTexts.kinds[kind], ...(detail === null ? [] : [detail])].join(' · ')}</p>
}
