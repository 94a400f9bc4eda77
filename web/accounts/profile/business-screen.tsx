import { Box, Button, Group, Modal, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { brandLogoSides, brand as brandSchema, largestBrandLogo, mailBrandOf, readableOn, withBrand } from '#contract/brand.ts'
import { type BusinessDetails, businessCalls } from '#contract/business.ts'
import { planThatLifts } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { escapeHtml, reminderDocument } from '#contract/templates.ts'
import { texts } from '#web/accounts/texts.ts'
import { useRefusal, useToday } from '#web/platform/account.tsx'
import { ContractForm, type ContractFormState, changedFields, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { openBusiness } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import controls from '#web/ui/controls.module.css'
import { LanguageField } from '#web/ui/fields.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import styles from './profile.module.css'
import { Activity } from './sessions.tsx'
import { Team } from './team.tsx'

const t = texts.business

/** /dashboard/business */
export default function BusinessScreen(): ReactNode {
  const business = useApiQuery(businessCalls.read)
  return (
    <>
      <PageHeader title={t.title} subtitle={t.subtitle} />
      <QueryView query={business} loading={t.loading} error={t.failed} empty={null}>
        {(found) => (
          <UrlTabs
            label={t.title}
            tabs={[
              {
                value: 'details',
                label: t.details.title,
                content: (
                  <>
                    <Details key={found._id} business={found} />
                    <Businesses current={found} />
                  </>
                ),
              },
              { value: 'brand', label: texts.brand.title, content: <Brand key={found._id} business={found} /> },
              { value: 'team', label: texts.team.title, content: <Team business={found} /> },
              { value: 'activity', label: texts.security.activity.title, content: <BusinessActivity /> },
            ]}
          />
        )}
      </QueryView>
    </>
  )
}

/** What happened in the business, for those who may see it. */
function BusinessActivity(): ReactNode {
  const { zone } = useToday()
  const [asked] = useSearchParams()
  const refused = useRefusal('admin')
  if (refused !== undefined)
    return (
      <Panel title={texts.security.activity.title}>
        <p className={styles.rowQuiet}>{refused}</p>
      </Panel>
    )
  return <Activity log="business" zone={zone} visible={asked.get('tab') === 'activity'} />
}

function Details({ business }: { business: BusinessDetails }): ReactNode {
  const state = useContractForm({
    call: businessCalls.change,
    initialValues: { name: business.name, language: business.language },
    follows: true,
    // A name that was not given stays that of the owner.
    toInput: (values, before) => ({ body: changedFields(before, values) }),
    invalidates: [businessCalls.list, accountCalls.profile],
    update: (cache, reply) => cache.write(businessCalls.read, reply),
    onSuccess: () => {
      toast('good', t.details.saved)
    },
  })
  return (
    <Panel title={t.details.title}>
      <ContractForm state={state} submit={t.details.save} busy={t.details.saving}>
        <div className={styles.column}>
          <TextInput
            label={t.details.name}
            description={business.named ? t.details.nameHint : t.details.unnamed}
            required
            {...state.form.getInputProps('name')}
          />
          <LanguageField
            label={t.details.language}
            description={t.details.languageHint}
            known={business.languages}
            {...state.form.getInputProps('language')}
          />
        </div>
      </ContractForm>
      <UnsavedGuard unsaved={state.form.isDirty() && !state.busy} />
    </Panel>
  )
}

/** What emails and client pages say about the business, and how that looks. */
function Brand({ business }: { business: BusinessDetails }): ReactNode {
  const { brand, whiteLabel } = business
  const isAdmin = business.role === 'owner' || business.role === 'admin'
  const b = texts.brand
  const state = useContractForm({
    call: businessCalls.change,
    initialValues: { ...brand, address: brand.address.join('\n'), colour: brand.colour ?? '' },
    follows: true,
    toInput: (values, before) => ({ body: { brand: changedFields(toBrand(before), toBrand(values)) } }),
    update: (cache, reply) => cache.write(businessCalls.read, reply),
    onSuccess: () => {
      toast('good', b.saved)
    },
  })
  const { form } = state
  const field = (name: 'name' | 'taxLabel' | 'taxNumber' | 'phone' | 'website') => ({
    label: b[name],
    disabled: !isAdmin,
    ...form.getInputProps(name),
  })
  const shown = brandSchema.safeParse(toBrand(form.values))
  return (
    <>
      <Panel title={b.identity}>
        {isAdmin && <p className={styles.text}>{b.hint}</p>}
        <ContractForm state={state} submit={b.save} busy={b.saving}>
          <div className={styles.column}>
            <TextInput {...field('name')} />
            <Textarea label={b.address} description={b.addressHint} rows={4} disabled={!isAdmin} {...form.getInputProps('address')} />
            <TextInput {...field('taxLabel')} />
            <TextInput {...field('taxNumber')} />
            <TextInput {...field('phone')} />
            <TextInput {...field('website')} />
            <Textarea label={b.footer} description={b.footerHint} rows={3} disabled={!isAdmin} {...form.getInputProps('footer')} />
            <TextInput
              label={b.colour}
              description={whiteLabel ? b.colourHint : b.notInPlan(planThatLifts('whiteLabel').title)}
              disabled={!isAdmin || !whiteLabel}
              {...form.getInputProps('colour')}
            />
          </div>
        </ContractForm>
        <UnsavedGuard unsaved={form.isDirty() && !state.busy} />
      </Panel>
      <Logo business={business} disabled={!isAdmin} />
      <Replies business={business} disabled={!isAdmin} />
      <BrandPreview business={business} brand={shown.success ? shown.data : brand} />
    </>
  )
}

type BrandValues = Omit<BusinessDetails['brand'], 'address' | 'colour'> & { address: string; colour: string }

function toBrand({ address, colour, ...rest }: BrandValues): BusinessDetails['brand'] {
  const lines = address.split('\n').filter((line) => line.trim() !== '')
  return { ...rest, address: lines, colour: colour.trim() === '' ? null : colour.trim() }
}

/** Where clients reply to: another address than the mailbox counts once its code was entered. */
function Replies({ business, disabled }: { business: BusinessDetails; disabled: boolean }): ReactNode {
  const b = texts.brand
  const { replyTo, pendingReplyTo } = business
  const [again, setAgain] = useState(false)
  const proof = useProof()
  const ask = useContractForm({
    call: businessCalls.askReplyTo,
    initialValues: { email: '', ...noProof },
    toInput: ({ email, ...given }) => ({ body: { email, ...proofIn(proof, given) } }),
    invalidates: [businessCalls.read],
    onSuccess: () => {
      setAgain(false)
      ask.reset()
    },
  })
  const confirm = useContractForm({
    call: businessCalls.confirmReplyTo,
    initialValues: { code: '' },
    toInput: (body) => ({ body }),
    invalidates: [businessCalls.read],
    onSuccess: () => {
      confirm.reset()
      toast('good', b.confirmed)
    },
  })
  const remove = useApiMutation(businessCalls.removeReplyTo, {
    invalidates: [businessCalls.read],
    onError: (error) => toast('bad', errorMessage(error)),
  })
  return (
    <Panel title={b.replies}>
      <p className={styles.text}>{replyTo === null ? b.repliesHint : b.repliesTo(replyTo)}</p>
      {replyTo !== null && (
        <Box mb={20}>
          <BusyButton variant="default" busy={remove.isPending} busyText={b.saving} disabled={disabled} onClick={() => remove.mutate({})}>
            {b.toMailbox}
          </BusyButton>
        </Box>
      )}
      {pendingReplyTo === null || again ? (
        <ContractForm state={ask} submit={b.send} busy={b.sending}>
          <div className={styles.column}>
            <TextInput label={b.replyTo} type="email" autoComplete="off" disabled={disabled} {...ask.form.getInputProps('email')} />
            {ask.form.isDirty('email') && (
              <ProofField proof={proof} hint={b.replyProofHint} of={(field) => ask.form.getInputProps(field)} />
            )}
          </div>
        </ContractForm>
      ) : (
        <>
          <p className={styles.text}>{b.codeSent(pendingReplyTo)}</p>
          <ContractForm
            state={confirm}
            submit={b.confirm}
            busy={b.confirming}
            actions={
              <Button variant="default" disabled={disabled} onClick={() => setAgain(true)}>
                {b.otherAddress}
              </Button>
            }
          >
            <div className={styles.column}>
              <TextInput
                label={b.code}
                inputMode="numeric"
                autoComplete="one-time-code"
                disabled={disabled}
                {...confirm.form.getInputProps('code')}
              />
            </div>
          </ContractForm>
        </>
      )}
    </Panel>
  )
}

function Logo({ business, disabled }: { business: BusinessDetails; disabled: boolean }): ReactNode {
  const b = texts.brand
  const picker = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const about = { invalidates: [businessCalls.read], onError: (error: Error) => setProblem(errorMessage(error)) }
  const save = useApiMutation(businessCalls.saveLogo, { ...about, onSuccess: () => toast('good', b.logoSaved) })
  const remove = useApiMutation(businessCalls.removeLogo, { ...about, onSuccess: () => toast('good', b.logoRemoved) })
  const choose = async (file: File | undefined) => {
    if (!file) return
    setProblem(null)
    try {
      const image = await drawLogo(file)
      if (image === null) setProblem(b.tooDetailed)
      else save.mutate({ body: { image } })
    } catch {
      setProblem(b.unreadable)
    }
  }
  const refused = useRefusal('admin')
  const { logo, logoInEmails, whiteLabel } = business
  const hint = !whiteLabel ? b.notInPlan(planThatLifts('whiteLabel').title) : logo !== null && !logoInEmails ? b.pagesOnly : b.logoHint
  return (
    <Panel title={b.logo}>
      <p className={styles.text}>{hint}</p>
      {logo !== null && <img src={logo} alt={b.current} className={styles.brandLogo} />}
      <Group>
        <BusyButton
          variant="default"
          busy={save.isPending}
          busyText={b.saving}
          disabled={disabled || !whiteLabel}
          onClick={() => picker.current?.click()}
        >
          {b.choose}
        </BusyButton>
        {logo !== null && (
          <BusyButton variant="default" busy={remove.isPending} busyText={b.saving} disabled={disabled} onClick={() => remove.mutate({})}>
            {b.remove}
          </BusyButton>
        )}
      </Group>
      <input
        ref={picker}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/svg+xml"
        aria-label={b.choose}
        hidden
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          void choose(file)
        }}
      />
      {refused !== undefined && <p className={controls.refused}>{refused}</p>}
      <FormError message={problem} />
    </Panel>
  )
}

/** A picture as a PNG that fits, in base64; null where it is too large even when small. Throws where it cannot be read. */
async function drawLogo(file: File): Promise<string | null> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  const picture = new Image()
  picture.src = address
  await picture.decode()
  // A drawing without a size of its own fills what there is.
  const [width, height] = [picture.naturalWidth || brandLogoSides.width, picture.naturalHeight || brandLogoSides.height]
  const fit = Math.min(
    brandLogoSides.width / width,
    brandLogoSides.height / height,
    file.type === 'image/svg+xml' ? Number.POSITIVE_INFINITY : 1,
  )
  for (let scale = fit; Math.min(width, height) * scale >= 8; scale *= 0.8) {
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.floor(width * scale))
    canvas.height = Math.max(1, Math.floor(height * scale))
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
    const drawn = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    if (drawn && drawn.size <= largestBrandLogo) return new Uint8Array(await drawn.arrayBuffer()).toBase64()
  }
  return null
}

/** The end of an email, and a button of a client page. */
function BrandPreview({ business, brand }: { business: BusinessDetails; brand: BusinessDetails['brand'] }): ReactNode {
  const b = texts.brand
  const { html } = withBrand(
    { subject: '', text: '', html: `${b.sample}<br>${escapeHtml(business.name)}` },
    mailBrandOf({ ...business, brand }),
  )
  const colour = business.whiteLabel ? brand.colour : null
  return (
    <Panel title={b.preview}>
      <iframe title={b.frame} sandbox="" srcDoc={reminderDocument(html)} className={styles.brandFrame} />
      {colour !== null && (
        <div className={styles.brandButton} style={{ background: colour, color: readableOn(colour) }}>
          {b.button}
        </div>
      )}
    </Panel>
  )
}

/** The person's businesses, with what adds and deletes one; `?add` opens the dialog that adds one. */
function Businesses({ current }: { current: BusinessDetails }): ReactNode {
  const [address, setAddress] = useSearchParams()
  const [removing, setRemoving] = useState(false)
  const list = useApiQuery(businessCalls.list).data ?? []
  const add = (wanted: boolean) => {
    const after = new URLSearchParams(address)
    if (wanted) after.set('add', '')
    else after.delete('add')
    setAddress(after, { replace: true, preventScrollReset: true })
  }
  return (
    <>
      <Panel title={t.list.title}>
        <p className={styles.text}>{t.list.text}</p>
        {list.length > 1 &&
          list.map(({ _id, name, role }) => (
            <Group key={_id} justify="space-between" mb={16} maw={520}>
              <span className={styles.rowName}>
                {name} <Pill tone="quiet">{t.roles[role]}</Pill>
              </span>
              {_id === current._id ? (
                <p className={styles.rowQuiet}>{t.list.current}</p>
              ) : (
                <Button variant="default" onClick={() => openBusiness(_id, screens.dashboard)} aria-label={t.list.switchTo(name)}>
                  {t.list.switch}
                </Button>
              )}
            </Group>
          ))}
        <Button variant="default" onClick={() => add(true)}>
          {t.add.open}
        </Button>
      </Panel>
      {current.role === 'owner' && list.filter(({ role }) => role === 'owner').length > 1 && (
        <Panel title={t.remove.title}>
          <p className={styles.text}>{t.remove.text}</p>
          <Button variant="default" className={styles.danger ?? ''} onClick={() => setRemoving(true)}>
            {t.remove.open}
          </Button>
        </Panel>
      )}
      <Modal opened={address.has('add')} onClose={() => add(false)} title={t.add.open}>
        <AddBusiness onCancel={() => add(false)} />
      </Modal>
      <Modal opened={removing} onClose={() => setRemoving(false)} title={t.remove.open}>
        <RemoveBusiness business={current} onCancel={() => setRemoving(false)} />
      </Modal>
    </>
  )
}

function AddBusiness({ onCancel }: { onCancel: () => void }): ReactNode {
  const state = useContractForm({
    call: businessCalls.create,
    initialValues: { name: '' },
    toInput: ({ name }) => ({ body: { name } }),
    onSuccess: ({ _id }) => openBusiness(_id, screens.dashboard),
  })
  return <NameForm state={state} label={t.details.name} submit={t.add.submit} busy={t.add.busy} text={t.add.text} onCancel={onCancel} />
}

function RemoveBusiness({ business, onCancel }: { business: BusinessDetails; onCancel: () => void }): ReactNode {
  const state = useContractForm({
    call: businessCalls.remove,
    initialValues: { name: '' },
    toInput: ({ name }) => ({ body: { name } }),
    onSuccess: () => openBusiness(null, screens.dashboard),
  })
  const { submit, busy, question, label } = t.remove
  return <NameForm state={state} label={label(business.name)} submit={submit} busy={busy} text={question} onCancel={onCancel} />
}

interface NameFormProps {
  state: ContractFormState<{ name: string }>
  label: string
  text: string
  submit: string
  busy: string
  onCancel: () => void
}

function NameForm({ state, label, text, submit, busy, onCancel }: NameFormProps): ReactNode {
  return (
    <ContractForm
      state={state}
      submit={submit}
      busy={busy}
      actions={
        <Button variant="default" onClick={onCancel}>
          {t.cancel}
        </Button>
      }
    >
      <p className={styles.text}>{text}</p>
      <TextInput label={label} autoComplete="off" required data-autofocus {...state.form.getInputProps('name')} />
    </ContractForm>
  )
}
