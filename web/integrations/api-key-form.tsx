import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Problem } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import styles from './connections.module.css'
import { texts } from './texts.ts'

const words = texts.keys.dialog
const radio = { className: styles.choice ?? '', classNames: { description: styles.says ?? '' } }

interface ApiKeyFormProps {
  /** Told while it is being made: the dialog stays open then. */
  onBusy: (busy: boolean) => void
  onKey: (key: string) => void
  onClose: () => void
}

/** Name, what it may do, and when it runs out. */
export function ApiKeyForm({ onBusy, onKey, onClose }: ApiKeyFormProps): ReactNode {
  const queries = useQueryClient()
  const state = useContractForm({
    call: integrationCalls.addKey,
    initialValues: { name: '', scopes: 'write' as 'read' | 'write', expiresInDays: '90' },
    toInput: ({ name, scopes, expiresInDays }) => ({
      body: {
        name,
        scopes: scopes === 'write' ? (['read', 'write'] as const).slice() : (['read'] as const).slice(),
        expiresInDays: expiresInDays === 'never' ? null : Number(expiresInDays),
      },
    }),
    onSuccess: ({ key }) => {
      onKey(key)
      // After the key is on the screen: the list may wait, it may not.
      void invalidate(queries, [integrationCalls.keys])
    },
    onError: (error) => {
      // The plan has changed meanwhile: the screen says so then.
      if (error instanceof Problem && error.code === 'plan_limit') void invalidate(queries, [billingCalls.subscription])
    },
  })
  const { form, busy } = state
  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])
  return (
    <ContractForm
      state={state}
      submit={words.submit}
      busy={words.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {texts.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <TextInput
          label={words.name}
          description={words.nameHint}
          autoComplete="off"
          maxLength={80}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Radio.Group label={words.scopes} classNames={{ label: styles.label ?? '' }} {...form.getInputProps('scopes')}>
          <Radio {...radio} value="read" label={words.read} description={words.readSays} />
          <Radio {...radio} value="write" label={words.write} description={words.writeSays} />
        </Radio.Group>
        <NativeSelect
          label={words.ends}
          description={words.endsHint}
          data={Object.entries(words.lengths).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('expiresInDays')}
        />
      </div>
    </ContractForm>
  )
}
