import '@mantine/core/styles/NumberInput.layer.css'
import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { PasswordField } from '#web/ui/password-field.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { type ProviderName, presets, providerOf } from './presets.ts'
import { ProviderChoice } from './provider-choice.tsx'
import { texts } from './texts.ts'

const words = texts.smtp
const usualPort = { ssl: 465, tls: 587 }
const empty = presets.custom

interface SmtpFormProps {
  mailbox: MailConfig | null
  /** Told while the connection is being tried: the dialog stays open then. */
  onBusy: (busy: boolean) => void
  onClose: () => void
}

/** Host, port, security, email and app password; tried by the server before they are saved. */
export function SmtpForm({ mailbox, onBusy, onClose }: SmtpFormProps): ReactNode {
  const portTyped = useRef(false)
  const state = useContractForm({
    call: mailCalls.configureSmtp,
    initialValues: {
      host: mailbox?.host ?? empty.host,
      port: (mailbox?.port ?? empty.port) as number | string,
      secure: mailbox?.secure ?? empty.secure,
      user: mailbox?.user ?? '',
      pass: '',
    },
    toInput: ({ port, ...rest }) => ({ body: { ...rest, port: port === '' ? Number.NaN : Number(port) } }),
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', words.done)
      onClose()
    },
    onError: (error) => toast('bad', <span className={styles.brief}>{words.failed(errorMessage(error))}</span>),
  })
  const { form, busy } = state
  const { host, secure, port } = form.values

  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])

  const choose = (ssl: boolean) => {
    form.setFieldValue('secure', ssl)
    // What was wrong with the two together may be right now.
    form.clearFieldError('port')
    if (!portTyped.current) form.setFieldValue('port', ssl ? usualPort.ssl : usualPort.tls)
  }
  const fillIn = (provider: ProviderName) => {
    form.setValues(presets[provider])
    for (const field of ['host', 'port', 'secure', 'pass']) form.clearFieldError(field)
    portTyped.current = false
  }
  const setPort = (value: number | string) => {
    form.setFieldValue('port', value)
    form.clearFieldError('secure')
  }
  return (
    <ContractForm
      state={state}
      submit={words.submit}
      busy={words.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {words.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <ProviderChoice chosen={providerOf(host)} onChoose={fillIn} />
        <TextInput
          label={words.host}
          description={words.hostHint}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          inputMode="url"
          data-autofocus={mailbox?.configured ? undefined : true}
          required
          {...form.getInputProps('host')}
          name="host"
        />
        <div className={styles.pair}>
          <NumberInput
            label={words.port}
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
            label={words.secure}
            data={[
              { value: 'true', label: words.ssl },
              { value: 'false', label: words.tls },
            ]}
            required
            value={String(secure)}
            onChange={(event) => choose(event.currentTarget.value === 'true')}
            error={form.errors.secure}
            name="secure"
          />
          <PortHint secure={secure} port={port} refused={form.errors.secure !== undefined} onUse={setPort} />
        </div>
        <TextInput
          label={words.user}
          description={words.userHint}
          type="email"
          autoComplete="email"
          required
          {...form.getInputProps('user')}
          name="user"
        />
        <PasswordField
          label={words.pass}
          description={words.passHint}
          // "current-password" would fill in the password of this product.
          autoComplete="new-password"
          data-autofocus={mailbox?.configured ? true : undefined}
          required
          {...form.getInputProps('pass')}
          name="pass"
        />
      </div>
      <p role="status" className={styles.patience}>
        {busy && words.patience}
      </p>
    </ContractForm>
  )
}

interface PortHintProps {
  secure: boolean
  port: number | string
  /** The mail server has said so already. */
  refused: boolean
  onUse: (port: number) => void
}

/** The one mistake that everybody makes, before the mail server says so. */
function PortHint({ secure, port, refused, onUse }: PortHintProps): ReactNode {
  const [usual, other] = secure ? [usualPort.ssl, usualPort.tls] : [usualPort.tls, usualPort.ssl]
  if (Number(port) !== other) return null
  return (
    <p className={styles.hint}>
      {!refused && `${words.mismatch(secure)} `}
      <button type="button" className={styles.use} onClick={() => onUse(usual)}>
        {words.portButton(usual)}
      </button>
    </p>
  )
}
