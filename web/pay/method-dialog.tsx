import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import {
  type BankSettings,
  bankKinds,
  type PaymentSettings,
  type PaymentSettingsChange,
  paymentSettingsCalls,
} from '#contract/payment-settings.ts'
import { ContractForm, type ContractFormState, useContractForm } from '#web/platform/contract-form.tsx'
import { noProof, ProofField, type ProofValues, proofIn, useProof } from '#web/platform/proof.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import type { Method } from './getting-paid-screen.tsx'
import styles from './pay.module.css'
import { texts } from './texts.ts'

interface Values extends Record<string, unknown>, ProofValues {
  upi: { id: string; name: string; merchantCode: string }
  bank: Record<Exclude<keyof BankSettings, 'kind'>, string> & { kind: BankSettings['kind'] }
  ownLink: { label: string; url: string }
}

interface MethodDialogProps {
  /** null: closed. */
  method: Method | null
  settings: PaymentSettings
  onClose: () => void
}

export function MethodDialog({ method, settings, onClose }: MethodDialogProps): ReactNode {
  const [shown, setShown] = useState<Method>('upi')
  if (method !== null && method !== shown) setShown(method)
  const title = (settings[shown] === null ? texts.ways.addOne : texts.ways.changeOne)[shown]
  return (
    <Dialog opened={method !== null} onClose={onClose} title={title}>
      {method !== null && <MethodForm key={method} method={method} settings={settings} onClose={onClose} />}
    </Dialog>
  )
}

function MethodForm({ method, settings, onClose }: { method: Method; settings: PaymentSettings; onClose: () => void }): ReactNode {
  const proof = useProof()
  const [removing, setRemoving] = useState(false)
  const { upi, bank, ownLink } = settings
  const state = useContractForm<typeof paymentSettingsCalls.save, Values>({
    call: paymentSettingsCalls.save,
    initialValues: {
      upi: { id: upi?.id ?? '', name: upi?.name ?? '', merchantCode: upi?.merchantCode ?? '' },
      bank: {
        kind: bank?.kind ?? 'india',
        accountName: bank?.accountName ?? '',
        iban: bank?.iban ?? '',
        bic: bank?.bic ?? '',
        accountNumber: bank?.accountNumber ?? '',
        ifsc: bank?.ifsc ?? '',
        sortCode: bank?.sortCode ?? '',
        routingNumber: bank?.routingNumber ?? '',
        text: bank?.text ?? '',
      },
      ownLink: { label: ownLink?.label ?? '', url: ownLink?.url ?? '' },
      ...noProof,
    },
    toInput: (values) => ({
      body: {
        [method]: removing ? null : given(method, values),
        ...proofIn(proof, values),
      } as PaymentSettingsChange,
    }),
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => {
      toast('good', texts.saved)
      onClose()
    },
  })
  return (
    <ContractForm
      state={state}
      submit={removing ? texts.remove : texts.save}
      busy={texts.saving}
      {...(removing ? { tone: 'danger' as const } : {})}
      actions={
        <>
          {settings[method] !== null && !removing && (
            <Button variant="default" onClick={() => setRemoving(true)}>
              {texts.remove}
            </Button>
          )}
          <Button variant="default" onClick={removing ? () => setRemoving(false) : onClose}>
            {texts.cancel}
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        {!removing && <Fields method={method} state={state} />}
        <ProofField proof={proof} hint={texts.proofHint} of={(field) => state.form.getInputProps(field)} />
      </div>
    </ContractForm>
  )
}

const fieldsOf = {
  iban: ['iban', 'bic'],
  india: ['accountNumber', 'ifsc'],
  uk: ['sortCode', 'accountNumber'],
  us: ['routingNumber', 'accountNumber'],
  other: ['text'],
} as const satisfies Record<BankSettings['kind'], readonly string[]>

/** What a method is saved as: the fields of its kind, an empty one that may be left out as null. */
function given(method: Method, { upi, bank, ownLink }: Values): object {
  if (method === 'upi') return upi
  if (method === 'ownLink') return ownLink
  const own = Object.fromEntries(
    fieldsOf[bank.kind].map((field) => [field, field === 'bic' && bank.bic.trim() === '' ? null : bank[field]]),
  )
  return { kind: bank.kind, accountName: bank.accountName, ...own }
}

function Fields({ method, state: { form } }: { method: Method; state: ContractFormState<Values> }): ReactNode {
  const plain = { autoComplete: 'off', spellCheck: false } as const
  if (method === 'upi')
    return (
      <>
        <TextInput
          label={texts.upi.id}
          placeholder={texts.upi.idExample}
          autoCapitalize="none"
          required
          data-autofocus
          {...plain}
          {...form.getInputProps('upi.id')}
        />
        <TextInput label={texts.upi.name} required {...plain} {...form.getInputProps('upi.name')} />
        <TextInput label={texts.upi.merchantCode} inputMode="numeric" {...plain} {...form.getInputProps('upi.merchantCode')} />
      </>
    )
  if (method === 'ownLink')
    return (
      <>
        <TextInput
          label={texts.ownLink.label}
          placeholder={texts.ownLink.labelExample}
          required
          data-autofocus
          {...plain}
          {...form.getInputProps('ownLink.label')}
        />
        <TextInput
          label={texts.ownLink.url}
          description={texts.ownLink.urlHint}
          type="url"
          required
          {...plain}
          {...form.getInputProps('ownLink.url')}
        />
      </>
    )
  const t = texts.bank
  const { kind } = form.values.bank
  return (
    <>
      <NativeSelect
        label={t.kind}
        data={bankKinds.toSorted((one) => (one === 'india' ? -1 : 0)).map((value) => ({ value, label: t.kinds[value] }))}
        {...form.getInputProps('bank.kind')}
      />
      <TextInput label={t.accountName} required data-autofocus {...plain} {...form.getInputProps('bank.accountName')} />
      {fieldsOf[kind].map((field) =>
        field === 'text' ? (
          <Textarea key={field} label={t.text} description={t.textHint} rows={4} required {...plain} {...form.getInputProps('bank.text')} />
        ) : (
          <TextInput
            key={field}
            label={t[field]}
            {...(field === 'ifsc' ? { placeholder: t.ifscExample } : {})}
            required={field !== 'bic'}
            {...plain}
            {...form.getInputProps(`bank.${field}`)}
          />
        ),
      )}
    </>
  )
}
