import { Button, NativeSelect, Skeleton } from '@mantine/core'
import { IconTimelineEvent } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { readySequences } from '#contract/ready-sequences.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { mostSequences, type Sequence, sequenceCalls } from '#contract/sequences.ts'
import { Allowed, LinkButton } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { PlanChanges, SequenceLine, useSimulation } from '#web/platform/sequences/plan-changes.tsx'
import {
  FreePlanNotice,
  SequenceDialog,
  sequenceInvalidates,
  useHasSequences,
  type Whose,
} from '#web/platform/sequences/sequence-dialog.tsx'
import { nameOf, sequenceTexts, summaryOf } from '#web/platform/sequences/texts.ts'
import { editorTexts as texts } from '#web/templates/texts.ts'
import { ConfirmDialog, useKept } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { slugOf } from './draft.ts'
import styles from './sequences.module.css'

/** /dashboard/sequences: the sequences of the account, and those that every account has. */
export default function SequencesScreen(): ReactNode {
  const sequences = useApiQuery(sequenceCalls.list)
  const has = useHasSequences()
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      {has === false && <FreePlanNotice />}
      <QueryView
        query={sequences}
        loading={texts.loading}
        skeleton={<Skeleton height={320} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(list) => (
          <Allowed by="admin" says>
            <Lists sequences={list} />
          </Allowed>
        )}
      </QueryView>
    </>
  )
}

function Lists({ sequences }: { sequences: Sequence[] }): ReactNode {
  const [choosing, setChoosing] = useState<Whose | null>(null)
  const [deleting, setDeleting] = useState<Sequence | null>(null)
  const own = sequences.filter(({ builtIn }) => !builtIn)
  const row = (one: Sequence) => (
    <Row
      key={one._id}
      sequence={one}
      onUse={() => setChoosing({ kind: 'account', current: sequences.find(({ isDefault }) => isDefault)?._id ?? null, chosen: one._id })}
      onDelete={() => setDeleting(one)}
    />
  )
  return (
    <>
      {own.length === 0 ? (
        <div className={styles.none}>
          <EmptyState
            icon={<IconTimelineEvent size={26} stroke={1.6} />}
            title={texts.none.title}
            text={texts.none.text}
            action={<Starts filled />}
          />
        </div>
      ) : (
        <Panel title={texts.own}>
          <ul className={styles.list}>{own.map(row)}</ul>
        </Panel>
      )}
      <Panel title={texts.builtIn}>
        <ul className={styles.list}>{sequences.filter(({ builtIn }) => builtIn).map(row)}</ul>
      </Panel>
      {own.length > 0 && (
        <Panel title={texts.another}>
          {own.length >= mostSequences ? <p className={styles.hint}>{texts.tooMany(mostSequences)}</p> : <Starts />}
        </Panel>
      )}
      <SequenceDialog whose={choosing} onClose={() => setChoosing(null)} />
      <DeleteDialog sequence={deleting} sequences={sequences} onClose={() => setDeleting(null)} />
    </>
  )
}

function Starts({ filled = false }: { filled?: boolean }): ReactNode {
  return (
    <div className={styles.starts}>
      {readySequences.map(({ name }, nth) => (
        <LinkButton
          key={name}
          by="admin"
          to={withQuery(screens.sequence('new'), { from: slugOf(name) })}
          variant={filled && nth === 0 ? 'filled' : 'default'}
        >
          {texts.start(name)}
        </LinkButton>
      ))}
      <LinkButton by="admin" to={screens.sequence('new')} variant={filled ? 'subtle' : 'default'}>
        {texts.startEmpty}
      </LinkButton>
    </div>
  )
}

interface RowProps {
  sequence: Sequence
  onUse: () => void
  onDelete: () => void
}

function Row({ sequence, onUse, onDelete }: RowProps): ReactNode {
  const { _id, builtIn, isDefault, clients, invoices, steps } = sequence
  const name = nameOf(sequence)
  const { all, some, none } = sequenceTexts.uses
  const used = clients + invoices > 0
  return (
    <li>
      <div className={styles.what}>
        <h3 className={styles.itemName}>{builtIn ? name : <Link to={screens.sequence(_id)}>{name}</Link>}</h3>
        <p>{summaryOf(sequence)}</p>
        <p className={styles.uses}>
          {isDefault && <Pill tone="paid">{all}</Pill>}
          {used && <Pill tone="quiet">{some(sequence)}</Pill>}
          {!isDefault && !used && !builtIn && <span>{none}</span>}
        </p>
      </div>
      {steps.length > 0 && <SequenceLine rhythm={sequence} />}
      <div className={styles.itemTools}>
        {!isDefault && (
          <Button variant="default" onClick={onUse} aria-label={texts.forAllClients(name)}>
            {texts.useForAll}
          </Button>
        )}
        {_id === 'every_day' && (
          <Button component={Link} to={screens.emailTemplates} variant="default">
            {texts.editTexts}
          </Button>
        )}
        {!builtIn && (
          <>
            <Button component={Link} to={screens.sequence(_id)} variant="default" aria-label={texts.editNamed(name)}>
              {texts.edit}
            </Button>
            <Button variant="subtle" className={styles.danger ?? ''} onClick={onDelete} aria-label={texts.removeNamed(name)}>
              {texts.remove}
            </Button>
          </>
        )}
      </div>
    </li>
  )
}

interface DeleteDialogProps {
  sequence: Sequence | null
  sequences: Sequence[]
  onClose: () => void
}

/** Asks for the sequence that takes the place of one in use. */
function DeleteDialog({ sequence, sequences, onClose }: DeleteDialogProps): ReactNode {
  const queries = useQueryClient()
  const shown = useKept(sequence)
  const [chosen, setChosen] = useState('every_day')
  const use = sequences.find(({ _id }) => _id === chosen && _id !== shown?._id) ?? sequences.find(({ _id }) => _id === 'every_day')
  const used = shown !== null && (shown.isDefault || shown.clients + shown.invoices > 0)
  const remove = useMutation({
    mutationFn: async (id: string) => {
      await send(sequenceCalls.remove, { params: { id }, query: used && use ? { use: use._id } : {} })
      await invalidate(queries, sequenceInvalidates)
    },
    onSuccess: () => {
      toast('good', texts.deleting.done)
      onClose()
    },
  })
  // Whose steps it would have: what its clients would hear then.
  const simulated = useSimulation(
    sequence !== null && used && use && use.steps.length > 0
      ? {
          sequences: [
            {
              _id: sequence._id,
              name: sequence.name,
              steps: use.steps,
              everyDays: use.everyDays,
              atMost: use.atMost,
              atLeast: use.atLeast,
            },
          ],
        }
      : null,
  )
  const t = texts.deleting
  if (!shown) return null
  return (
    <ConfirmDialog
      opened={sequence !== null}
      title={t.title(shown.name)}
      confirm={t.confirm}
      confirmBusy={t.busy}
      cancel={t.cancel}
      busy={remove.isPending}
      tone="danger"
      onConfirm={() => remove.mutate(shown._id)}
      onCancel={() => {
        remove.reset()
        onClose()
      }}
    >
      {used ? (
        <>
          <NativeSelect
            label={shown.clients + shown.invoices > 0 ? t.used(shown.invoices, shown.clients) : t.usedByAll}
            data={sequences.filter(({ _id }) => _id !== shown._id).map((one) => ({ value: one._id, label: nameOf(one) }))}
            value={use?._id}
            mb={20}
            onChange={(event) => setChosen(event.currentTarget.value)}
          />
          {use && use.steps.length > 0 && <PlanChanges simulated={simulated} heading="h3" />}
        </>
      ) : (
        <p className={styles.hint}>{t.unused}</p>
      )}
      <FormError message={remove.isError ? errorMessage(remove.error) : null} />
    </ConfirmDialog>
  )
}
