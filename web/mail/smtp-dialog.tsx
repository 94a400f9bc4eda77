import '@mantine/core/styles/NumberInput.layer.css'
import { Button, Modal, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { readSmtpServer } from '#contract/smtp-server.ts'
import { ContractForm, type ContractFormState, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { noProof, ProofField, type ProofValues, proofIn, useProof } from '#web/platform/proof.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

const t = texts.smtp
const usualPort = { ssl: 465, tls: 587 }

interface SmtpDialogProps {
  opened: boolean
  /** Chosen at first, where no mailbox is connected. */
  provider: ProviderName
  mailbox: ShownMailbox | null
  /** A further mailbox is added, or connected again; otherwise it is the default one. */
  further?: boolean
  /** The address of the mailbox that was saved. */
  onConnected: (user: string | null) => void
  onClose: () => void
}

/** What the form begins with. */
type ShownMailbox = Pick<MailConfig, 'host' | 'port' | 'secure' | 'user' | 'username'>

/** The form must be unmounted on closing, so that the typed password is discarded. */
export function SmtpDialog({ opened, provider, mailbox, further = false, onConnected, onClose }: SmtpDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const close = () => {
    if (!busy) onClose()
  }
  const Form = further ? FurtherForm : DefaultForm
  return (
    <Modal opened={opened} onClose={close} title={t.title} size={600}>
      <div className={styles.form}>
        <Form provider={provider} mailbox={mailbox} onBusy={setBusy} onConnected={onConnected} onClose={onClose} />
      </div>
    </Modal>
  )
}

interface Values extends Record<string, unknown>, ProofValues {
  host: string
  port: number | string
  secure: boolean
  user: string
  username: string
  pass: string
}

interface SmtpFormProps {
  provider: ProviderName
  mailbox: ShownMailbox | null
  /** The dialog cannot be closed while the connection is tested. */
  onBusy: (busy: boolean) => void
  onConnected: (user: string | null) => void
  onClose: () => void
}

/** What shows a mailbox. */
export const mailboxInvalidates = [mailCalls.config, mailCalls.mailboxes, reminderCalls.status, reminderCalls.preview, accountCalls.stats]

/** `asks`: whether the form asks who it is. Right after signing in, the first mailbox needs no password; else the server asks for it. */
function useForm({ provider, mailbox, further = false, onConnected, onClose }: SmtpFormProps & { further?: boolean }) {
  const empty = presets[provider]
  const proof = useProof()
  const [isAsked, setAsked] = useState(further || !!mailbox?.user)
  const asks = isAsked ? proof : null
  // Port and security of a pasted host count, also where Enter was pressed before the field was left.
  const draftOf = ({ host, port, secure, currentPassword, code, ...rest }: Values) => {
    const pasted = readSmtpServer(host)
    return {
      ...rest,
      host,
      port: pasted.port ?? (port === '' ? Number.NaN : Number(port)),
      secure: pasted.secure ?? secure,
      ...proofIn(asks, { currentPassword, code }),
    }
  }
  const options = {
    initialValues: {
      host: mailbox?.host ?? empty.host,
      port: mailbox?.port ?? empty.port,
      secure: mailbox?.secure ?? empty.secure,
      user: mailbox?.user ?? '',
      username: mailbox?.username ?? '',
      pass: '',
      ...noProof,
    } as Values,
    invalidates: mailboxInvalidates,
    onSuccess: ({ user }: Pick<MailConfig, 'user'>) => {
      toast('good', t.done)
      onConnected(user)
      onClose()
    },
    onError: (error: unknown) => {
      if (error instanceof Problem && error.code === 'wrong_password' && !isAsked) setAsked(true)
      else toast('bad', brief(t.failed(errorMessage(error))))
    },
  }
  return { asks, draftOf, options }
}

function DefaultForm(props: SmtpFormProps): ReactNode {
  const { asks, draftOf, options } = useForm(props)
  const state = useContractForm<typeof mailCalls.configureSmtp, Values>({
    call: mailCalls.configureSmtp,
    toInput: (values) => ({ body: draftOf(values) }),
    ...options,
  })
  return <SmtpForm state={state} asks={asks} {...props} />
}

/** A mailbox with the same address is replaced. */
function FurtherForm(props: SmtpFormProps): ReactNode {
  const { asks, draftOf, options } = useForm({ ...props, further: true })
  const state = useContractForm<typeof mailCalls.addMailbox, Values>({
    call: mailCalls.addMailbox,
    toInput: (values) => ({ body: { provider: 'smtp', ...draftOf(values) } }),
    ...options,
  })
  return <SmtpForm state={state} asks={asks} {...props} />
}

interface FieldsProps extends SmtpFormProps {
  state: ContractFormState<Values>
  asks: ReturnType<typeof useProof>
}

function SmtpForm({ state, asks, mailbox, onBusy, onClose }: FieldsProps): ReactNode {
  const portTyped = useRef(false)
  const { form, busy } = state
  const { host, user } = form.values
  const provider = providerOf(host)

  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])

  const fillIn = (chosen: ProviderName) => {
    form.setValues({ ...presets[chosen], username: '' })
    for (const field of ['host', 'port', 'secure', 'username', 'pass']) form.clearFieldError(field)
    portTyped.current = false
  }
  return (
    <ContractForm
      state={state}
      submit={t.submit}
      busy={t.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {t.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <ProviderChoice chosen={provider} onChoose={fillIn} />
        <TextInput
          label={t.user}
          description={t.userHint}
          type="email"
          autoComplete="email"
          data-autofocus={mailbox?.user ? undefined : true}
          required
          {...form.getInputProps('user')}
          onBlur={() => {
            const known = providerOfAddress(user)
            if (host === '' && known !== 'custom') fillIn(known)
          }}
          name="user"
        />
        <PasswordField
          label={t.pass}
          description={<PasswordHint provider={provider} />}
          // "current-password" would fill in the Duely password.
          autoComplete="new-password"
          data-autofocus={mailbox?.user ? true : undefined}
          required
          {...form.getInputProps('pass')}
          name="pass"
        />
        <ServerFields state={state} provider={provider} portTyped={portTyped} />
        <ProofField proof={asks} hint={t.proofHint} of={(field) => form.getInputProps(field)} />
      </div>
      <p role="status" className={styles.patience}>
        {busy && t.patience}
      </p>
    </ContractForm>
  )
}

interface ProviderChoiceProps {
  chosen: ProviderName
  onChoose: (provider: ProviderName) => void
}

function ProviderChoice({ chosen, onChoose }: ProviderChoiceProps): ReactNode {
  const id = useId()
  return (
    <fieldset className={styles.providers}>
      <legend className={styles.legend}>{texts.presets.label}</legend>
      <div className={styles.choices}>
        {providers.map((provider) => (
          <label key={provider} className={styles.choice}>
            <input type="radio" name={`${id}-provider`} checked={chosen === provider} onChange={() => onChoose(provider)} />
            {texts.presets.names[provider]}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Where the provider makes the password. */
function PasswordHint({ provider }: { provider: ProviderName }): ReactNode {
  const hint = texts.presets.hints[provider]
  if (hint === null) return t.passHint
  return (
    <>
      {hint.text}{' '}
      <a href={hint.link} target="_blank" rel="noreferrer" className={styles.hintLink}>
        {hint.linkText}
      </a>
      {hint.rest}
    </>
  )
}

interface ServerFieldsProps {
  state: ContractFormState<Values>
  provider: ProviderName
  /** The port was typed, so that a change of the security must keep it. */
  portTyped: { current: boolean }
}

/** Host, port, security and username: one line for a known provider, until they are asked for or one of them was refused. */
function ServerFields({ state: { form }, provider, portTyped }: ServerFieldsProps): ReactNode {
  const [asked, setAsked] = useState(false)
  const { host, port, secure } = form.values
  const refused = ['host', 'port', 'secure', 'username'].some((field) => form.errors[field] !== undefined)
  if (provider !== 'custom' && !asked && !refused) {
    return (
      <p className={styles.server}>
        {texts.configured.line(host, Number(port), secure)}{' '}
        <button type="button" className={styles.use} onClick={() => setAsked(true)}>
          {t.changeServer}
        </button>
      </p>
    )
  }
  const choose = (ssl: boolean) => {
    form.setFieldValue('secure', ssl)
    // A refusal of the port may have been about the combination of both.
    form.clearFieldError('port')
    if (!portTyped.current) form.setFieldValue('port', ssl ? usualPort.ssl : usualPort.tls)
  }
  const setPort = (value: number | string) => {
    form.setFieldValue('port', value)
    form.clearFieldError('secure')
  }
  return (
    <>
      <TextInput
        label={t.host}
        placeholder={t.hostExample}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        inputMode="url"
        // A refused field takes the focus itself.
        data-autofocus={asked || undefined}
        required
        {...form.getInputProps('host')}
        onChange={(event) => {
          // Typing the name of a known provider must not fold away the field.
          setAsked(true)
          form.setFieldValue('host', event.currentTarget.value)
        }}
        onBlur={() => {
          const pasted = readSmtpServer(host)
          if (pasted.host === host) return
          form.setValues({ host: pasted.host, port: pasted.port ?? port, secure: pasted.secure ?? secure })
          if (pasted.port !== null) portTyped.current = true
        }}
        name="host"
      />
      <div className={styles.pair}>
        <NumberInput
          label={t.port}
          hideControls
          allowDecimal={false}
          allowNegative={false}
          clampBehavior="none"
          autoComplete="off"
          required
          {...form.getInputProps('port')}
          onChange={(value) => {
            portTyped.current = true
            setPort(value)
          }}
          name="port"
        />
        <NativeSelect
          label={t.secure}
          data={[
            { value: 'true', label: t.ssl },
            { value: 'false', label: t.tls },
          ]}
          required
          value={String(secure)}
          onChange={(event) => choose(event.currentTarget.value === 'true')}
          error={form.errors.secure}
          name="secure"
        />
        <PortHint secure={secure} port={port} touched={form.isDirty()} refused={form.errors.secure !== undefined} onUse={setPort} />
      </div>
      <TextInput
        label={t.username}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder={t.usernameExample}
        {...form.getInputProps('username')}
        name="username"
      />
    </>
  )
}

interface PortHintProps {
  secure: boolean
  port: number | string
  /** A field was changed: before, the mismatch is the form's own. */
  touched: boolean
  /** The server has reported the mismatch already. */
  refused: boolean
  onUse: (port: number) => void
}

/** Names the usual port before the connection is tested. */
function PortHint({ secure, port, touched, refused, onUse }: PortHintProps): ReactNode {
  const [usual, other] = secure ? [usualPort.ssl, usualPort.tls] : [usualPort.tls, usualPort.ssl]
  if (Number(port) !== other) return null
  return (
    <p className={styles.hint} data-tone={touched ? 'warn' : undefined}>
      {!refused && `${t.mismatch(secure)} `}
      <button type="button" className={styles.use} onClick={() => onUse(usual)}>
        {t.portButton(usual)}
      </button>
    </p>
  )
}

interface Preset {
  host: string
  port: number
  /** true: TLS from the first byte; false: STARTTLS. */
  secure: boolean
}

export const providers = ['gmail', 'microsoft', 'zoho', 'yahoo', 'fastmail', 'custom'] as const
export type ProviderName = (typeof providers)[number]

/** Published by each provider, as of November 2026; `custom` is the empty form, whose values the specification fixes. */
export const presets: Record<ProviderName, Preset> = {
  gmail: { host: 'smtp.gmail.com', port: 465, secure: true },
  microsoft: { host: 'smtp.office365.com', port: 587, secure: false },
  zoho: { host: 'smtp.zoho.in', port: 465, secure: true },
  yahoo: { host: 'smtp.mail.yahoo.com', port: 465, secure: true },
  fastmail: { host: 'smtp.fastmail.com', port: 465, secure: true },
  custom: { host: '', port: 587, secure: true },
}

/** Zoho has a host for each region, and another for paid accounts. */
const aliases: [pattern: RegExp, provider: ProviderName][] = [
  [/^smtp(?:pro)?\.zoho\.(?:com|in|eu|jp|sa|uk|com\.au|com\.cn)$/, 'zoho'],
  [/^smtp\.zohocloud\.ca$/, 'zoho'],
  [/^smtp-mail\.outlook\.com$|^outlook\.office365\.com$/, 'microsoft'],
]

export function providerOf(host: string): ProviderName {
  const name = host.trim().toLowerCase()
  const known = providers.find((provider) => provider !== 'custom' && presets[provider].host === name)
  return known ?? aliases.find(([pattern]) => pattern.test(name))?.[1] ?? 'custom'
}

/** Domains at which a provider gives addresses to everyone. */
const domains: [pattern: RegExp, provider: ProviderName][] = [
  [/^(?:gmail|googlemail)\.com$/, 'gmail'],
  [/^(?:outlook|hotmail|live|msn)\.[a-z.]+$/, 'microsoft'],
  [/^zoho(?:mail)?\.(?:com|in)$/, 'zoho'],
  [/^(?:yahoo|ymail|rocketmail)\.[a-z.]+$/, 'yahoo'],
  [/^fastmail\.(?:com|fm)$/, 'fastmail'],
]

/** The provider of a mailbox by the domain of its address; `custom` where the address does not tell. */
export function providerOfAddress(address: string): ProviderName {
  const domain = address.trim().toLowerCase().split('@')[1] ?? ''
  return domains.find(([pattern]) => pattern.test(domain))?.[1] ?? 'custom'
}
