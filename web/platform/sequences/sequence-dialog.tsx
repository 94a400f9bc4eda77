import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import type { Call } from '#contract/call.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { planThatLifts } from '#contract/plans.ts'
import type { QuietSettings } from '#contract/quiet-days.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { isBuiltIn } from '#contract/sequence-choice.ts'
import { type Sequence, sequenceCalls } from '#contract/sequences.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { type Change, PlanChanges, SequenceLine, saveLabel, useSimulation } from './plan-changes.tsx'
import styles from './sequences.module.css'
import { nameOf, sequenceTexts, summaryOf } from './texts.ts'

const texts = sequenceTexts.choose

/** The queries that a sequence, or a choice of one, makes out of date. */
export const sequenceInvalidates: Call[] = [
  sequenceCalls.list,
  sequenceCalls.read,
  sequenceCalls.plan,
  sequenceCalls.simulate,
  reminderCalls.settings,
  reminderCalls.preview,
  reminderCalls.status,
  reminderCalls.history,
  invoiceCalls.list,
  invoiceCalls.read,
  clientCalls.list,
  clientCalls.read,
]

/** Whose sequence is chosen. `current`: its own choice; null where it has none. `chosen`: ticked in advance. */
export type Whose = { current: string | null; chosen?: string } & (
  | { kind: 'account' }
  | { kind: 'client' | 'invoice'; id: string; name: string }
)

/** Whether the plan has sequences; undefined until it is known. */
export function useHasSequences(): boolean | undefined {
  return useApiQuery(billingCalls.subscription).data?.entitlements.abilities.includes('scheduling')
}

/** The quiet days that are saved together with a sequence, and the fields that choose them. */
export interface QuietTicks {
  settings: Partial<Pick<QuietSettings, 'quietWeekends' | 'quietHolidays'>>
  fields: ReactNode
}

/** Weekends and public holidays, ticked in advance where an account leaves Every day for the first time; `leaves`: for a sequence of its own. */
export function useQuietTicks(leaves: boolean): QuietTicks {
  const stored = useApiQuery(reminderCalls.settings).data
  const [settings, setSettings] = useState({ quietWeekends: true, quietHolidays: true })
  if (!leaves || stored?.sequence !== 'every_day' || stored.quietChosen) return { settings: {}, fields: null }
  const tick = (name: keyof typeof settings) => (
    <Checkbox
      label={sequenceTexts.quiet[name]}
      checked={settings[name]}
      onChange={({ currentTarget }) => setSettings({ ...settings, [name]: currentTarget.checked })}
    />
  )
  const fields = (
    <fieldset className={styles.ticks}>
      <legend>{sequenceTexts.quiet.title}</legend>
      {tick('quietWeekends')}
      {tick('quietHolidays')}
    </fieldset>
  )
  return { settings, fields }
}

/** Why a sequence can't be chosen or saved, and the plan that has them. */
export function FreePlanNotice(): ReactNode {
  const plan = planThatLifts('scheduling')
  return (
    <Notice
      tone="info"
      action={
        <Button component={Link} to={withQuery(screens.pricing, { plan: plan.name })} reloadDocument variant="default">
          {texts.see(plan.title)}
        </Button>
      }
    >
      {texts.free(plan.title)}
    </Notice>
  )
}

/** Chooses the sequence of the account, a client or an invoice, and shows what that changes before it is saved. */
export function SequenceDialog({ whose, onClose }: { whose: Whose | null; onClose: () => void }): ReactNode {
  const shown = useKept(whose)
  const sequences = useApiQuery(sequenceCalls.list, {}, { enabled: whose !== null })
  if (!shown) return null
  const title = shown.kind === 'account' ? texts.account : texts[shown.kind](shown.name)
  return (
    <Dialog opened={whose !== null} onClose={onClose} title={title} size={760}>
      <QueryView query={sequences} loading={texts.loading} error={texts.failed} empty={null}>
        {(list) => <Choice whose={shown} sequences={list} onClose={onClose} />}
      </QueryView>
    </Dialog>
  )
}

interface ChoiceProps {
  whose: Whose
  sequences: Sequence[]
  onClose: () => void
}

/** Unmounted on closing. */
function Choice({ whose, sequences, onClose }: ChoiceProps): ReactNode {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState(whose.chosen ?? whose.current)
  const has = useHasSequences()
  const changed = chosen !== whose.current
  const quiet = useQuietTicks(whose.kind === 'account' && chosen !== null && !isBuiltIn(chosen))
  const simulated = useSimulation(changed ? changeOf(whose, chosen, quiet.settings) : null)
  const { now } = simulated
  const save = useMutation({
    mutationFn: async () => {
      await assign(whose, chosen, { ...quiet.settings, fingerprint: now?.fingerprint })
      await invalidate(queries, sequenceInvalidates)
    },
    onSuccess: () => {
      toast('good', texts.saved)
      onClose()
    },
    onError: (error) => {
      if (error instanceof Problem && error.code === 'plan_changed') void simulated.refetch()
    },
  })
  // An account whose plan has ended can still return to the default.
  const allowed = has !== false || chosen === 'every_day' || chosen === null
  const own = sequences.filter(({ builtIn }) => !builtIn)
  return (
    <>
      {has === false && <FreePlanNotice />}
      <fieldset className={styles.choices} aria-label={texts.list}>
        {whose.kind !== 'account' && (
          <Option checked={chosen === null} name={texts.inherit[whose.kind]} about={null} onChoose={() => setChosen(null)} />
        )}
        {[...own, ...sequences.filter(({ builtIn }) => builtIn)].map((one) => (
          <Option
            key={one._id}
            checked={chosen === one._id}
            name={nameOf(one)}
            about={summaryOf(one)}
            line={one.steps.length > 0 ? <SequenceLine rhythm={one} /> : undefined}
            onChoose={() => setChosen(one._id)}
          />
        ))}
      </fieldset>
      <p className={styles.links}>
        <Link to={screens.sequences}>{own.length === 0 ? texts.make : texts.edit}</Link>
      </p>
      {quiet.fields}
      {changed && <PlanChanges simulated={simulated} heading="h3" />}
      <div className={styles.foot}>
        <FormError message={save.isError ? errorMessage(save.error) : null} />
        <Group justify="flex-end" gap={12}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancel}
          </Button>
          <BusyButton
            busy={save.isPending}
            busyText={texts.saving}
            disabled={!changed || !allowed || now === undefined}
            onClick={() => save.mutate()}
          >
            {changed && now ? saveLabel(now) : texts.save}
          </BusyButton>
        </Group>
      </div>
    </>
  )
}

interface OptionProps {
  checked: boolean
  name: string
  about: string | null
  line?: ReactNode
  onChoose: () => void
}

function Option({ checked, name, about, line, onChoose }: OptionProps): ReactNode {
  return (
    <label className={styles.choice}>
      <input type="radio" name="sequence" checked={checked} onChange={onChoose} />
      <span>
        <span className={styles.choiceName}>{name}</span>
        {about !== null && <span className={styles.choiceAbout}>{about}</span>}
      </span>
      {line}
    </label>
  )
}

type Quiet = QuietTicks['settings']

function changeOf(whose: Whose, sequence: string | null, quiet: Quiet): Change {
  if (whose.kind === 'account') return sequence === null ? {} : { settings: { sequence, ...quiet } }
  return { assignments: [{ ...(whose.kind === 'client' ? { clientId: whose.id } : { invoiceId: whose.id }), sequence }] }
}

async function assign(
  whose: Whose,
  sequence: string | null,
  { fingerprint, ...quiet }: Quiet & { fingerprint: string | undefined },
): Promise<void> {
  if (whose.kind === 'client') await send(clientCalls.update, { params: { id: whose.id }, body: { sequence, fingerprint } })
  else if (whose.kind === 'invoice') await send(sequenceCalls.assign, { params: { id: whose.id }, body: { sequence, fingerprint } })
  else if (sequence !== null) await send(reminderCalls.changeSettings, { body: { sequence, ...quiet, fingerprint } })
}
