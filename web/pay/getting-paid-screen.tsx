import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Button, NativeSelect, Skeleton, Switch, Textarea, TextInput } from '@mantine/core'
import { IconCash } from '@tabler/icons-react'
import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls } from '#contract/business.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { bankLines } from '#contract/pay.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { isTestKey, largestLogo, type PayMethods, type PaymentSettings, paymentSettingsCalls } from '#contract/payment-settings.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { Allowed, LinkButton } from '#web/platform/account.tsx'
import { ContractForm, changedFields, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton, openLater } from '#web/ui/buttons.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { AnswersCard } from './answers-card.tsx'
import { MethodDialog } from './method-dialog.tsx'
import styles from './pay.module.css'
import { RazorpayDialog, TryButton } from './razorpay-dialog.tsx'
import { bankCard, texts } from './texts.ts'

const t = texts.ways
export type Method = Exclude<keyof PayMethods, 'online'>
const methods: Method[] = ['upi', 'bank', 'ownLink']

export default function GettingPaidScreen(): ReactNode {
  const settings = useApiQuery(paymentSettingsCalls.read)
  const server = useApiQuery(accountCalls.server)
  const isPublic = server.data?.payLinks !== false
  const [editing, setEditing] = useState<Method | null>(null)
  const [connecting, setConnecting] = useState(false)
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      {server.data?.payLinks === false && <Notice tone="info">{texts.noAddress}</Notice>}
      <QueryView
        query={settings}
        loading={texts.loading}
        skeleton={<Skeleton height={320} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(found) => (
          <div className={styles.stack}>
            <AnswersCard />
            <Allowed by="admin" says>
              {methods.every((method) => found[method] === null) && found.razorpay === null ? (
                <EmptyState
                  icon={<IconCash />}
                  title={texts.none.title}
                  text={texts.none.text}
                  action={
                    <>
                      {methods.map((method, at) => (
                        <Button key={method} variant={at === 0 ? 'filled' : 'default'} onClick={() => setEditing(method)}>
                          {t.addOne[method]}
                        </Button>
                      ))}
                      <Button variant="default" onClick={() => setConnecting(true)}>
                        {texts.razorpay.connect}
                      </Button>
                    </>
                  }
                />
              ) : (
                <Ways settings={found} isPublic={isPublic} onEdit={setEditing} onConnect={() => setConnecting(true)} />
              )}
              <PayPageCard settings={found} isPublic={isPublic} />
            </Allowed>
            <Panel title={bankCard.title}>
              <p className={styles.text}>{bankCard.text}</p>
              <LinkButton by="member" to={screens.bankFile} variant="default">
                {bankCard.title}
              </LinkButton>
            </Panel>
            <MethodDialog method={editing} settings={found} onClose={() => setEditing(null)} />
            <RazorpayDialog opened={connecting} connection={found.razorpay} onClose={() => setConnecting(false)} />
          </div>
        )}
      </QueryView>
    </>
  )
}

interface WaysProps {
  settings: PaymentSettings
  /** Clients can reach this server. */
  isPublic: boolean
  onEdit: (method: Method) => void
  onConnect: () => void
}

function Ways({ settings, isPublic, onEdit, onConnect }: WaysProps): ReactNode {
  const { razorpay } = settings
  const r = texts.razorpay
  return (
    <Panel title={t.title}>
      <ul className={styles.list}>
        {methods.map((method) => {
          const shown = summaryOf(settings, method)
          return (
            <li key={method} className={styles.item}>
              <div className={styles.what}>
                <div className={styles.name}>{t.names[method]}</div>
                <div className={styles.quiet}>{shown ?? t.notSet}</div>
              </div>
              <Button variant="default" aria-label={(shown === null ? t.addOne : t.changeOne)[method]} onClick={() => onEdit(method)}>
                {shown === null ? t.add : t.change}
              </Button>
            </li>
          )
        })}
        <li className={styles.item}>
          <div className={styles.what}>
            <div className={styles.name}>{r.name}</div>
            <div className={styles.quiet}>{razorpay === null ? t.notSet : shownConnection(razorpay.keyId, isPublic)}</div>
          </div>
          <div className={styles.acts}>
            {razorpay !== null && isTestKey(razorpay.keyId) && <TryButton />}
            <Button variant="default" aria-label={razorpay === null ? r.connect : r.change} onClick={onConnect}>
              {razorpay === null ? r.connect : t.change}
            </Button>
          </div>
        </li>
      </ul>
    </Panel>
  )
}

function shownConnection(keyId: string, isPublic: boolean): string {
  const r = texts.razorpay
  return (isTestKey(keyId) ? r.shownTest : isPublic ? r.shown : r.unreachable)(keyId)
}

function summaryOf({ upi, bank, ownLink }: PaymentSettings, method: Method): string | null {
  if (method === 'upi') return upi && `${upi.id}, ${upi.name}`
  if (method === 'ownLink') return ownLink && `${ownLink.label}: ${ownLink.url}`
  return (
    bank &&
    bankLines(bank, '')
      .map(({ label, shown }) => (label === '' ? shown : `${label}: ${shown}`))
      .join(' · ')
  )
}

const pageTexts = texts.page

function PayPageCard({ settings, isPublic }: { settings: PaymentSettings; isPublic: boolean }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const proof = useProof()
  const { businessName, details, inEmails, pdf } = settings
  const state = useContractForm({
    call: paymentSettingsCalls.save,
    initialValues: { businessName, details, inEmails, pdf, ...noProof },
    follows: true,
    toInput: ({ currentPassword, code, ...values }, before) => ({
      body: { ...changedFields(before, values), ...proofIn(proof, { currentPassword, code }) },
    }),
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => {
      toast('good', texts.saved)
      form.setValues(noProof)
      form.resetDirty({ ...form.getInitialValues(), ...noProof })
    },
  })
  const { form } = state
  const changed = form.isDirty()
  return (
    <Panel title={pageTexts.title} aside={<SeeButton />}>
      <p className={styles.text}>{pageTexts.text}</p>
      <ContractForm state={state} submit={texts.save} busy={texts.saving}>
        <div className={styles.fields}>
          <TextInput
            label={pageTexts.businessName}
            description={pageTexts.businessNameHint(profile.data?.business.name ?? '')}
            autoComplete="organization"
            {...form.getInputProps('businessName')}
          />
          <Textarea label={pageTexts.details} description={pageTexts.detailsHint} rows={3} {...form.getInputProps('details')} />
          <Logo settings={settings} />
          <Switch label={pageTexts.inEmails} {...form.getInputProps('inEmails', { type: 'checkbox' })} />
          <NativeSelect
            label={pageTexts.pdf}
            description={pageTexts.pdfHint(isPublic)}
            data={[
              { value: 'link', label: pageTexts.pdfs.link },
              { value: 'attach', label: pageTexts.pdfs.attach },
            ]}
            {...form.getInputProps('pdf')}
          />
          {changed && <ProofField proof={proof} hint={texts.proofHint} of={(field) => form.getInputProps(field)} />}
        </div>
      </ContractForm>
      <UnsavedGuard unsaved={changed && !state.busy} />
    </Panel>
  )
}

/** Opens the page of the newest invoice. */
function SeeButton(): ReactNode {
  const invoices = useApiQuery(invoiceCalls.list, { query: { limit: 1 } })
  const [newest] = invoices.data ?? []
  const create = useApiMutation(payLinkCalls.create, {
    onError: (error) => toast('bad', errorMessage(error)),
  })
  if (!invoices.data) return null
  // On this address, also where clients use another one.
  const find = async (id: string) => window.location.origin + new URL((await create.mutateAsync({ params: { id } })).url).pathname
  if (!newest) return <span className={styles.quiet}>{pageTexts.noInvoice}</span>
  return (
    <BusyButton
      variant="default"
      busy={create.isPending}
      busyText={pageTexts.seeing}
      onClick={() => void openLater(() => find(newest._id))}
    >
      {pageTexts.see}
    </BusyButton>
  )
}

function Logo({ settings }: { settings: PaymentSettings }): ReactNode {
  const picker = useRef<HTMLInputElement>(null)
  const [image, setImage] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const business = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data
  const remove = useApiMutation(paymentSettingsCalls.removeLogo, {
    update: (cache, reply) => cache.write(paymentSettingsCalls.read, reply),
    onSuccess: () => toast('good', pageTexts.logoRemoved),
    onError: (error) => setProblem(texts.saveFailed(errorMessage(error))),
  })
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.currentTarget.files ?? []
    event.currentTarget.value = ''
    if (!file) return
    if (file.size > largestLogo) return setProblem(pageTexts.logoTooLarge)
    setProblem(null)
    const bytes = await file.arrayBuffer().catch(() => null)
    if (bytes) setImage(new Uint8Array(bytes).toBase64())
    else setProblem(pageTexts.logoUnreadable)
  }
  if (!business) return null
  // One place for one picture: there it is for emails too.
  if (business.whiteLabel)
    return (
      <div>
        <div className={styles.name}>{pageTexts.logo}</div>
        <p className={styles.text}>{pageTexts.logoOfBrand}</p>
        <Button component={Link} to={withQuery(screens.business, { tab: 'brand' })} variant="default">
          {pageTexts.openBrand}
        </Button>
      </div>
    )
  return (
    <div>
      <div className={styles.name}>{pageTexts.logo}</div>
      <p className={styles.text}>{settings.hasLogo ? pageTexts.logoSet : pageTexts.logoHint}</p>
      <div className={styles.logo}>
        <Button variant="default" onClick={() => picker.current?.click()}>
          {pageTexts.chooseLogo}
        </Button>
        {settings.hasLogo && (
          <BusyButton variant="default" busy={remove.isPending} busyText={texts.saving} onClick={() => remove.mutate({})}>
            {pageTexts.removeLogo}
          </BusyButton>
        )}
        <input
          ref={picker}
          type="file"
          accept="image/png,image/jpeg"
          aria-label={pageTexts.chooseLogo}
          hidden
          onChange={(event) => void choose(event)}
        />
      </div>
      <FormError message={problem} />
      <Dialog opened={image !== null} onClose={() => setImage(null)} title={pageTexts.chooseLogo}>
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
      <ProofField proof={proof} hint={texts.proofHint} autofocus of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}
