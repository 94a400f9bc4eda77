import { Button, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type ClientDetails, clientCalls } from '#contract/clients.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { nameAndSteps } from '#web/platform/sequences/texts.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './clients.module.css'
import { clientPageTexts as texts } from './texts.ts'

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)
const t = texts.reminders

/** How a client is reminded: the sequence, and the second contact. */
export function ClientReminders({ client }: { client: ClientDetails }): ReactNode {
  return (
    <Panel title={t.title}>
      <div className={styles.reminders}>
        <ClientSequence client={client} />
        <SecondContact key={client.secondContact} client={client} />
      </div>
    </Panel>
  )
}

function ClientSequence({ client: { _id: id, name, sequence } }: { client: ClientDetails }): ReactNode {
  const [choosing, setChoosing] = useState(false)
  const list = useApiQuery(sequenceCalls.list, {}, { staleTime: 60_000 }).data
  const its = list?.find(({ _id, isDefault }) => (sequence === null ? isDefault : _id === sequence))
  const named = its ? nameAndSteps(its) : ''
  return (
    <div>
      <h3 className={styles.setting}>{t.sequence}</h3>
      <p className={styles.settingText}>{sequence === null && named !== '' ? t.inherited(named) : named}</p>
      <Button variant="default" onClick={() => setChoosing(true)}>
        {t.change}
      </Button>
      <LazyMount wanted={choosing}>
        <SequenceDialog whose={choosing ? { kind: 'client', id, name, current: sequence } : null} onClose={() => setChoosing(false)} />
      </LazyMount>
    </div>
  )
}

/** Gets copies of the steps that have one. */
function SecondContact({ client: { _id: id, secondContact } }: { client: ClientDetails }): ReactNode {
  const state = useContractForm({
    call: clientCalls.update,
    initialValues: { secondContact: secondContact ?? '' },
    toInput: ({ secondContact: typed }) => ({ params: { id }, body: { secondContact: typed.trim() === '' ? null : typed } }),
    invalidates: [clientCalls.list, clientCalls.read],
    onSuccess: () => {
      toast('good', t.saved)
    },
  })
  return (
    <ContractForm state={state} submit={t.save} busy={t.saving}>
      <TextInput
        type="email"
        label={t.secondContact}
        description={t.secondContactHint}
        autoComplete="off"
        {...state.form.getInputProps('secondContact')}
      />
    </ContractForm>
  )
}
