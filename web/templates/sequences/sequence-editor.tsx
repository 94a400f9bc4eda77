import { Button, Checkbox, TextInput } from '@mantine/core'
import { IconChartDots, IconList, IconPlus, IconSend2 } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { type CallInput, tagOfVersion } from '#contract/call.ts'
import { planThatLifts } from '#contract/plans.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { mostSteps, type Sequence, sequenceCalls, versionOfSequence } from '#contract/sequences.ts'
import { firstLanguage } from '#contract/speech.ts'
import { useSaveOnTop } from '#web/platform/conflict.tsx'
import { changedFields } from '#web/platform/contract-form.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { send, sendMatching } from '#web/platform/send.ts'
import { PlanChanges, type Simulated, saveLabel, useSimulation } from '#web/platform/sequences/plan-changes.tsx'
import {
  FreePlanNotice,
  type QuietTicks,
  sequenceInvalidates,
  useHasSequences,
  useQuietTicks,
} from '#web/platform/sequences/sequence-dialog.tsx'
import { heard } from '#web/platform/sequences/steps.ts'
import { sequenceTexts } from '#web/platform/sequences/texts.ts'
import templateStyles from '#web/templates/email-templates.module.css'
import type { TemplateKind } from '#web/templates/templates.ts'
import { signed, editorTexts as texts } from '#web/templates/texts.ts'
import { LanguageChoice, Preview, useSpoken, type useWriting } from '#web/templates/wording.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { showDate } from '#web/ui/dates.ts'
import { useWidth } from '#web/ui/hooks.ts'
import { FormError } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { addStep, changeStep, type Draft, type DraftStep, type Faults, faultsOf, removeStep, toBody, toDraft } from './draft.ts'
import { fitsScore, Score, type ScoreProps, StepList } from './score.tsx'
import styles from './sequences.module.css'
import { DayInput, StepForm } from './step-form.tsx'

/** The sequence that an editor has just made. The editor that takes its place reports it: what is typed into the first one until then is lost. */
const created: { id: string | null } = { id: null }
/** The id of a sequence that is not saved yet, in a simulation. */
const newId = 'new'

interface SequenceEditorProps {
  /** Null: it is new. */
  saved: Sequence | null
  start: Draft
  /** The language of its texts. */
  writing: ReturnType<typeof useWriting>
}

/** Steps, texts, and what saving them changes in the next 30 days. */
export function SequenceEditor({ saved, start, writing }: SequenceEditorProps): ReactNode {
  const { language, known, write } = writing
  const navigate = useNavigate()
  const [draft, setDraft] = useState(start)
  const [selected, setSelected] = useState(start.steps[0]?.key ?? 0)
  const [kind, setKind] = useState<TemplateKind>('one')
  const settings = useApiQuery(reminderCalls.settings).data
  const [wantsAll, setWantsAll] = useState<boolean | null>(null)
  // The first sequence of an account is for all clients, unless it chose one before.
  const forAll = saved === null && (wantsAll ?? settings?.sequence === 'every_day')
  const quiet = useQuietTicks(forAll)
  const [base, setBase] = useSavedBase(saved, start, draft, setDraft)
  const faults = faultsOf(draft)
  const body = toBody(draft)
  const dirty = saved === null || !isSame(draft, base.draft)
  const simulated = useSimulation(
    faults.first === null || isOnlyNameless(faults)
      ? {
          sequences: [{ ...body, name: body.name.trim() || newId, _id: saved?._id ?? newId }],
          ...(language === firstLanguage ? {} : { language }),
          ...(forAll ? { settings: { sequence: newId, ...quiet.settings } } : {}),
        }
      : null,
  )
  const onCreated = (id: string) => navigate(screens.sequence(id))
  useEffect(() => {
    if (saved === null || saved._id !== created.id) return
    created.id = null
    toast('good', texts.save.done)
  }, [saved])
  // What was typed meanwhile stays.
  const onKnown = (newest: Sequence, merged: Draft) => {
    setBase({ draft: toDraft(newest), version: newest.version })
    setDraft((now) => (isSame(now, draft) ? merged : now))
  }
  const saving = useSaving({ saved, base, language, forAll: forAll ? quiet.settings : null, draft, simulated, onCreated, onKnown })
  const step = draft.steps.find(({ key }) => key === selected) ?? draft.steps[0]
  const change: ScoreProps['onChange'] = (key, changed) => setDraft((before) => changeStep(before, key, changed, language))
  const has = useHasSequences()
  const spoken = useSpoken(kind, language)
  return (
    <>
      <PageHeader
        title={draft.name.trim() || (saved ? saved.name : texts.newTitle)}
        subtitle={saved === null ? texts.subtitle : usesOf(saved)}
      />
      {has === false && <FreePlanNotice />}
      <LanguageChoice
        language={language}
        known={known}
        locked={dirty && (saved !== null || draft !== base.draft) ? texts.otherLanguage : null}
        onChange={write}
      />
      <ScorePanel
        draft={draft}
        faults={faults}
        selected={step?.key ?? 0}
        onSelect={setSelected}
        onChange={change}
        onDraft={setDraft}
        onAdd={() => {
          const added = addStep(draft, language)
          setDraft(added.draft)
          setSelected(added.key)
        }}
      />
      {step && (
        <div className={templateStyles.columns}>
          <StepForm
            step={step}
            number={draft.steps.indexOf(step) + 1}
            of={draft.steps.length}
            faults={faults.steps.get(step.key) ?? {}}
            kind={kind}
            onKind={setKind}
            onChange={(changed) => change(step.key, changed)}
            onRemove={() => setDraft(removeStep(draft, step.key))}
          />
          <div>
            <Preview
              kind={kind}
              title={texts.preview}
              spoken={spoken}
              step={{ offset: step.offset, copies: copiesOf(step) }}
              wording={
                kind === 'one'
                  ? { subject: step.subject, content: step.content }
                  : { subject: step.groupSubject, content: step.groupContent }
              }
            />
            <NextToGet step={step} id={saved?._id ?? newId} simulated={simulated}>
              <SendTest step={step} kind={kind} language={language} saved={saved} faulty={faults.steps.has(step.key)} />
            </NextToGet>
          </div>
        </div>
      )}
      <section className={styles.result} aria-label={sequenceTexts.changes.emails(simulated.last?.counts.after ?? 0)}>
        <PlanChanges simulated={simulated} heading="h2" />
        {saved === null && (
          <Checkbox
            mt={20}
            label={texts.save.forAll}
            description={texts.save.forAllHint}
            checked={forAll}
            onChange={(event) => setWantsAll(event.currentTarget.checked)}
          />
        )}
        {quiet.fields}
      </section>
      <div className={styles.bar}>
        <FormError message={saving.problem} />
        <div className={styles.barRow}>
          <p role="status">
            {has === false
              ? sequenceTexts.choose.free(planThatLifts('scheduling').title)
              : faults.first !== null
                ? texts.save.wrong(faults.first)
                : dirty
                  ? ''
                  : texts.save.saved}
          </p>
          {dirty && saved !== null && (
            <Button variant="subtle" disabled={saving.busy} onClick={() => setDraft(base.draft)}>
              {texts.save.discard}
            </Button>
          )}
          <BusyButton
            busy={saving.busy}
            busyText={texts.save.busy}
            disabled={!dirty || faults.first !== null || has === false || simulated.now === undefined}
            onClick={() => void saving.save()}
          >
            {!dirty || faults.first !== null
              ? texts.save.label
              : simulated.now === undefined
                ? texts.save.checking
                : saveLabel(simulated.now)}
          </BusyButton>
        </div>
      </div>
      <UnsavedGuard unsaved={dirty && !saving.busy && (saved !== null || draft !== base.draft)} />
      {saving.dialog}
    </>
  )
}

interface Base {
  draft: Draft
  version: number
}

function isSame(one: Draft, other: Draft): boolean {
  return JSON.stringify(toBody(one)) === JSON.stringify(toBody(other))
}

/** What the draft began from: after a save, or a change elsewhere while nothing is unsaved here, the newest. */
function useSavedBase(saved: Sequence | null, start: Draft, draft: Draft, setDraft: (draft: Draft) => void) {
  const [base, setBase] = useState<Base>({ draft: start, version: saved?.version ?? 0 })
  useEffect(() => {
    if (!saved || saved.version <= base.version) return
    const newest = toDraft(saved)
    // What someone else saves meanwhile must not count as known.
    if (!isSame(draft, base.draft) && !isSame(draft, newest)) return
    setDraft(newest)
    setBase({ draft: newest, version: saved.version })
  })
  return [base, setBase] as const
}

/** A name is typed last; the plan does not depend on it. */
function isOnlyNameless({ fields, steps }: Faults): boolean {
  return steps.size === 0 && Object.keys(fields).every((field) => field === 'name')
}

function usesOf({ isDefault, clients, invoices }: Sequence): string {
  const { all, some } = sequenceTexts.uses
  const chosen = clients + invoices > 0 ? some({ clients, invoices }) : null
  if (isDefault) return chosen === null ? all : `${all}, and ${chosen}`
  return chosen ?? texts.unused
}

function copiesOf({ copyToMe, copyToSecondContact }: DraftStep): string {
  return [copyToMe ? texts.copies.me : '', copyToSecondContact ? texts.copies.second : ''].filter((one) => one !== '').join(', ')
}

interface SavingProps {
  saved: Sequence | null
  /** What the draft began from. */
  base: Base
  language: string
  /** The settings that it is chosen with for all clients; null: it is not. */
  forAll: QuietTicks['settings'] | null
  draft: Draft
  simulated: Simulated
  onCreated: (id: string) => unknown
  /** The sequence as it is stored now, and what the draft becomes on top of it. */
  onKnown: (newest: Sequence, merged: Draft) => void
}

type Field = keyof typeof texts.conflict.fields
type Shared = Pick<Sequence, Field> & { newest: Sequence }

function useSaving({ saved, base, language, forAll, draft, simulated, onCreated, onKnown }: SavingProps) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const about = { params: { id: saved?._id ?? newId }, query: { language } }
  const fingerprint = simulated.now?.fingerprint
  const { save: saveOnTop, dialog } = useSaveOnTop<Shared, Field>({
    fields: texts.conflict.fields,
    read: async () => sharedOf(await send(sequenceCalls.read, about)),
    write: async (mine, { newest }) => {
      const body = { ...toBody(base.draft), ...mine }
      if (newest.version === base.version)
        return sharedOf(
          await sendMatching(
            sequenceCalls.replace,
            { ...about, body: { ...body, fingerprint } },
            tagOfVersion({ version: versionOfSequence(newest) }),
          ),
        )
      // Someone changed it meanwhile: what both changes would send is shown before it is saved.
      onKnown(newest, toDraft({ ...newest, ...mine }))
      throw new Problem('plan_changed', texts.conflict.merged)
    },
    shown: (field, of) => shownValue(field, of),
    other: texts.conflict.other,
  })
  const save = async () => {
    const body = toBody(draft)
    setBusy(true)
    setProblem(null)
    try {
      if (saved) {
        const was = { ...saved, version: base.version }
        const mine = changedFields(toBody(base.draft), body)
        const reply = await saveOnTop({ ...toBody(base.draft), newest: was }, mine)
        if (reply === null) return setBusy(false)
        onKnown(reply.newest, toDraft(reply.newest))
        await invalidate(queries, sequenceInvalidates)
        toast('good', texts.save.done)
        setBusy(false)
      } else {
        const { _id } = await send(sequenceCalls.create, { query: { language }, body })
        // The sequence exists from here on: a refusal must not make a second one.
        const refused = forAll && (await chooseForAll({ ...forAll, sequence: _id, fingerprint }))
        await invalidate(queries, sequenceInvalidates)
        if (refused !== null) toast('bad', texts.save.notChosen(refused))
        // Busy until another editor takes the place of this one: a second press must not make a second sequence.
        created.id = _id
        await onCreated(_id)
      }
    } catch (error) {
      setBusy(false)
      setProblem(errorMessage(error))
      if (error instanceof Problem && error.code === 'plan_changed') await invalidate(queries, [sequenceCalls.read, sequenceCalls.simulate])
    }
  }
  return { busy, problem, save, dialog }
}

function sharedOf(newest: Sequence): Shared {
  return { ...toBody(toDraft(newest)), newest }
}

/** A value of a sequence in the dialog that asks whose stays. */
function shownValue(field: Field, of: Pick<Sequence, Field>): string {
  if (field === 'name') return of.name
  if (field === 'steps')
    return of.steps
      .map(({ offset, tone, subject, content }) => `${signed(offset)} ${sequenceTexts.tones[tone]}: ${subject}. ${content}`)
      .join(' · ')
  if (field === 'atLeast') return String(of.atLeast)
  return of[field] === null ? texts.rules[field === 'everyDays' ? 'none' : 'noLimit'] : String(of[field])
}

/** The refusal, or null. */
async function chooseForAll(body: CallInput<typeof reminderCalls.changeSettings>['body']): Promise<string | null> {
  try {
    await send(reminderCalls.changeSettings, { body })
    return null
  } catch (error) {
    return errorMessage(error)
  }
}

interface ScorePanelProps extends ScoreProps {
  onDraft: (draft: Draft) => void
  onAdd: () => void
}

function ScorePanel({ onDraft, onAdd, ...score }: ScorePanelProps): ReactNode {
  const { draft, faults } = score
  const [frame, width] = useWidth<HTMLDivElement>()
  const [asList, setAsList] = useState(false)
  const fits = width !== null && fitsScore(width, draft.steps.length)
  const { emails } = heard(draft)
  const silent = draft.steps.filter(({ offset }) => !emails.some((email) => email.offset === offset)).length
  const t = texts.score
  return (
    <Panel
      title={titleOf(draft)}
      aside={
        <div className={styles.tools}>
          {fits && (
            <Button
              variant="default"
              leftSection={asList ? <IconChartDots size={18} stroke={1.7} /> : <IconList size={18} stroke={1.7} />}
              onClick={() => setAsList(!asList)}
            >
              {asList ? t.asScore : t.asList}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconPlus size={18} stroke={1.7} />}
            disabled={draft.steps.length >= mostSteps}
            onClick={onAdd}
          >
            {t.add}
          </Button>
        </div>
      }
    >
      <div ref={frame}>
        {width !== null && (fits && !asList ? <Score {...score} width={width} /> : <StepList {...score} />)}
        {fits && !asList && <p className={styles.help}>{t.help}</p>}
        {silent > 0 && (
          <p className={styles.help}>
            {draft.atMost !== null && emails.length >= draft.atMost ? t.silent(silent, draft.atMost) : t.overtaken(silent, draft.atLeast)}
          </p>
        )}
        {faults.fields.steps !== undefined && <p className={styles.fault}>{faults.fields.steps}</p>}
      </div>
      <Rules draft={draft} faults={faults} onDraft={onDraft} />
    </Panel>
  )
}

function titleOf(draft: Draft): string {
  const { emails, endless } = heard(draft)
  const shown = endless ? emails.filter(({ repeated }) => !repeated) : emails
  const [first, last] = [shown[0], shown.at(-1)]
  if (!first || !last) return texts.score.never
  const days = last.day - first.day
  return endless ? texts.score.endless(shown.length, days, draft.everyDays ?? 1) : texts.score.title(shown.length, days)
}

function Rules({ draft, faults, onDraft }: { draft: Draft; faults: Faults; onDraft: (draft: Draft) => void }): ReactNode {
  const t = texts.rules
  const rule = (field: 'everyDays' | 'atMost' | 'atLeast', label: string, words: string[], placeholder: string) => (
    <span className={styles.rule}>
      {words[0]}
      <DayInput
        label={label}
        value={draft[field]}
        placeholder={placeholder}
        data={{ invalid: faults.fields[field] !== undefined }}
        onChange={(value) => onDraft({ ...draft, [field]: value })}
        {...(field === 'atLeast' ? {} : { onClear: () => onDraft({ ...draft, [field]: null }) })}
      />
      {words[1]}
      {faults.fields[field] !== undefined && <small className={styles.fault}>{faults.fields[field]}</small>}
    </span>
  )
  const repeatsNothing = draft.everyDays !== null && (draft.steps.at(-1)?.offset ?? 1) <= 0
  return (
    <div className={styles.rules}>
      <div className={styles.name}>
        <TextInput
          label={texts.name}
          maxLength={80}
          autoComplete="off"
          value={draft.name}
          error={draft.name === '' ? undefined : faults.fields.name}
          onChange={(event) => onDraft({ ...draft, name: event.currentTarget.value })}
        />
      </div>
      {rule('everyDays', t.everyLabel, t.every, t.none)}
      {rule('atMost', t.mostLabel, t.most, t.noLimit)}
      {rule('atLeast', t.leastLabel, t.least, '')}
      {repeatsNothing && <p className={styles.help}>{t.early}</p>}
    </div>
  )
}

/** Clients named before the rest is counted. */
const named = 3

interface NextToGetProps {
  step: DraftStep
  id: string
  simulated: Simulated
  children: ReactNode
}

/** Who gets the selected step in the next 30 days, as it would be saved. */
function NextToGet({ step, id, simulated, children }: NextToGetProps): ReactNode {
  const t = texts.next
  const its = (simulated.last?.after ?? []).filter(({ sequence, offset }) => sequence === id && offset === step.offset)
  return (
    <Panel title={t.title}>
      {its.length === 0 ? (
        <p className={styles.hint}>{simulated.last === undefined ? sequenceTexts.changes.checking : t.none}</p>
      ) : (
        <ul className={styles.next}>
          {its.slice(0, named).map(({ clientName, localDate, invoiceIds }) => (
            <li key={`${localDate} ${invoiceIds.join()}`}>
              <span>{clientName}</span>
              {showDate(localDate)}
            </li>
          ))}
          {its.length > named && <li>{t.more(its.length - named)}</li>}
        </ul>
      )}
      {children}
    </Panel>
  )
}

function SendTest({
  step,
  kind,
  language,
  saved,
  faulty,
}: {
  step: DraftStep
  kind: TemplateKind
  language: string
  saved: Sequence | null
  faulty: boolean
}): ReactNode {
  const t = texts.test
  const test = useApiMutation(sequenceCalls.test, { onSuccess: ({ to }) => toast('good', t.sent(to)) })
  const { offset, subject, content, groupSubject, groupContent } = step
  const body = { offset, group: kind === 'group', text: { subject, content, groupSubject, groupContent } }
  return (
    <div className={styles.test}>
      <BusyButton
        variant="default"
        leftSection={<IconSend2 size={18} stroke={1.7} />}
        busy={test.isPending}
        busyText={t.sending}
        disabled={saved === null || faulty}
        onClick={() => test.mutate({ params: { id: saved?._id ?? '' }, query: { language }, body })}
      >
        {t.send}
      </BusyButton>
      <p className={styles.hint}>{saved === null ? t.saveFirst : faulty ? t.faulty : t.about}</p>
      <FormError message={test.isError ? errorMessage(test.error) : null} />
    </div>
  )
}
