import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Button, NativeSelect, Switch, Textarea, TextInput } from '@mantine/core'
import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { largestLogo, type PaymentSettings, paymentSettingsCalls } from '#contract/payment-settings.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { noProof, ProofField, proofIn, useProof } from './method-dialog.tsx'
import styles from './pay.module.css'
import { texts } from './texts.ts'

const t = texts.page

export function PayPageCard({ settings }: { settings: PaymentSettings }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const proof = useProof()
  const { businessName, details, inEmails, pdf } = settings
  const state = useContractForm({
    call: paymentSettingsCalls.save,
    initialValues: { businessName, details, inEmails, pdf, ...noProof },
    toInput: ({ currentPassword, code, ...values }) => ({ body: { ...values, ...proofIn(proof, { currentPassword, code }) } }),
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: (_reply, values) => {
      toast('good', texts.saved)
      state.form.setInitialValues({ ...values, ...noProof })
      state.form.setValues(noProof)
    },
  })
  const { form } = state
  const changed = form.isDirty()
  return (
    <Panel title={t.title} aside={<SeeButton />}>
      <p className={styles.text}>{t.text}</p>
      <ContractForm state={state} submit={texts.save} busy={texts.saving}>
        <div className={styles.fields}>
          <TextInput
            label={t.businessName}
            description={t.businessNameHint(profile.data?.displayName ?? '')}
            autoComplete="organization"
            {...form.getInputProps('businessName')}
          />
          <Textarea label={t.details} description={t.detailsHint} rows={3} {...form.getInputProps('details')} />
          <Logo settings={settings} />
          <Switch label={t.inEmails} {...form.getInputProps('inEmails', { type: 'checkbox' })} />
          <NativeSelect
            label={t.pdf}
            description={t.pdfHint}
            data={[
              { value: 'link', label: t.pdfs.link },
              { value: 'attach', label: t.pdfs.attach },
            ]}
            {...form.getInputProps('pdf')}
          />
          {changed && <ProofField proof={proof} of={(field) => form.getInputProps(field)} />}
        </div>
      </ContractForm>
    </Panel>
  )
}

/** Opens the page of the newest invoice. */
function SeeButton(): ReactNode {
  const invoices = useApiQuery(invoiceCalls.list, { query: { limit: 1 } })
  const [newest] = invoices.data ?? []
  const create = useApiMutation(payLinkCalls.create, {
    onSuccess: ({ url }) => void window.open(new URL(url).pathname, '_blank', 'noopener'),
    onError: (error) => toast('bad', errorMessage(error)),
  })
  if (!newest) return <span className={styles.quiet}>{t.noInvoice}</span>
  return (
    <BusyButton variant="default" busy={create.isPending} busyText={t.seeing} onClick={() => create.mutate({ params: { id: newest._id } })}>
      {t.see}
    </BusyButton>
  )
}

function Logo({ settings }: { settings: PaymentSettings }): ReactNode {
  const picker = useRef<HTMLInputElement>(null)
  const [image, setImage] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const remove = useApiMutation(paymentSettingsCalls.removeLogo, {
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => toast('good', t.logoRemoved),
    onError: (error) => setProblem(texts.saveFailed(errorMessage(error))),
  })
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.currentTarget.files ?? []
    event.currentTarget.value = ''
    if (!file) return
    if (file.size > largestLogo) return setProblem(t.logoTooLarge)
    setProblem(null)
    setImage(new Uint8Array(await file.arrayBuffer()).toBase64())
  }
  return (
    <div>
      <div className={styles.name}>{t.logo}</div>
      <p className={styles.text}>{settings.hasLogo ? t.logoSet : t.logoHint}</p>
      <div className={styles.logo}>
        <Button variant="default" onClick={() => picker.current?.click()}>
          {t.chooseLogo}
        </Button>
        {settings.hasLogo && (
          <BusyButton variant="default" busy={remove.isPending} busyText={texts.saving} onClick={() => remove.mutate({})}>
            {t.removeLogo}
          </BusyButton>
        )}
        <input
          ref={picker}
          type="file"
          accept="image/png,image/jpeg"
          aria-label={t.chooseLogo}
          hidden
          onChange={(event) => void choose(event)}
        />
      </div>
      <FormError message={problem} />
      <Dialog opened={image !== null} onClose={() => setImage(null)} title={t.chooseLogo}>
        {image !== null && <LogoForm image={image} onDone={() => setImage(null)} />}
      </Dialog>
    </div>
  )
}

function LogoForm({ image, onDone }: { image: string; onDone: () => void }): ReactNode {
  const proof = useProof()
  const state = useContractForm({
    call: paymentSettingsCalls.saveLogo,
    initialValues: noProof,
    toInput: (values) => ({ body: { image, ...proofIn(proof, values) } }),
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => {
      toast('good', texts.saved)
      onDone()
    },
  })
  return (
    <ContractForm
      state={state}
      submit={texts.save}
      busy={texts.saving}
      actions={
        <Button variant="default" onClick={onDone}>
          {texts.cancel}
        </Button>
      }
    >
      <ProofField proof={proof} autofocus of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}
