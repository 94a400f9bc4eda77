import '@mantine/core/styles/NumberInput.layer.css'
import { Button, Modal, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type MailConfig, mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { type ProviderName, presets, providerOf, providers } from './presets.ts'
import { texts } from './texts.ts'

const t = texts.smtp
const usualPort = { ssl: 465, tls: 587 }
const empty = presets.custom

interface SmtpDialogProps {
  opened: boolean
  mailbox: MailConfig | null
  onClose: () => void
}

/** The form must be unmounted on closing, so that the typed password is discarded. */
export function SmtpDialog({ opened, mailbox, onClose }: SmtpDialogProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const close = () => {
    if (!busy) onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={t.title} size={520} closeButtonProps={{ 'aria-label': t.close, size: 44, iconSize: 18 }}>
      <div className={styles.form}>
        <SmtpForm mailbox={mailbox} onBusy={setBusy} onClose={onClose} />
      </div>
    </Modal>
  )
}

interface SmtpFormProps {
  mailbox: MailConfig | null
  /** The dialog cannot be closed while the connection is tested. */
  onBusy: (busy: boolean) => void
  onClose: () => void
}

function SmtpForm({ mailbox, onBusy, onClose }: SmtpFormProps): ReactNode {
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
      toast('good', t.done)
      onClose()
    },
    onError: (error) => toast('bad', <span className={styles.clamped}>{t.failed(errorMessage(error))}</span>),
  })
  const { form, busy } = state
  const { host, secure, port } = form.values

  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])

  const choose = (ssl: boolean) => {
    form.setFieldValue('secure', ssl)
    // A refusal of the port may have been about the combination of both.
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
      submit={t.submit}
      busy={t.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {t.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <ProviderChoice chosen={providerOf(host)} onChoose={fillIn} />
        <TextInput
          label={t.host}
          description={t.hostHint}
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
          <PortHint secure={secure} port={port} refused={form.errors.secure !== undefined} onUse={setPort} />
        </div>
        <TextInput
          label={t.user}
          description={t.userHint}
          type="email"
          autoComplete="email"
          required
          {...form.getInputProps('user')}
          name="user"
        />
        <PasswordField
          label={t.pass}
          description={t.passHint}
          // "current-password" would fill in the Duely password.
          autoComplete="new-password"
          data-autofocus={mailbox?.configured ? true : undefined}
          required
          {...form.getInputProps('pass')}
          name="pass"
        />
      </div>
      <p role="status" className={styles.patience}>
        {busy && t.patience}
      </p>
    </ContractForm>
  )
}

interface PortHintProps {
  secure: boolean
  port: number | string
  /** The server has reported the mismatch already. */
  refused: boolean
  onUse: (port: number) => void
}

/** Warns about the usual mistake before the connection is tested. */
function PortHint({ secure, port, refused, onUse }: PortHintProps): ReactNode {
  const [usual, other] = secure ? [usualPort.ssl, usualPort.tls] : [usualPort.tls, usualPort.ssl]
  if (Number(port) !== other) return null
  return (
    <p className={styles.hint}>
      {!refused && `${t.mismatch(secure)} `}
      <button type="button" className={styles.use} onClick={() => onUse(usual)}>
        {t.portButton(usual)}
      </button>
    </p>
  )
}

interface ProviderChoiceProps {
  chosen: ProviderName
  onChoose: (provider: ProviderName) => void
}

function ProviderChoice({ chosen, onChoose }: ProviderChoiceProps): ReactNode {
  const id = useId()
  const note = texts.presets.notes[chosen]
  return (
    <fieldset className={styles.providers} aria-describedby={note ? `${id}-note` : undefined}>
      <legend className={styles.legend}>{texts.presets.label}</legend>
      <div className={styles.choices}>
        {providers.map((provider) => (
          <label key={provider} className={styles.choice}>
            <input type="radio" name={`${id}-provider`} checked={chosen === provider} onChange={() => onChoose(provider)} />
            {texts.presets.names[provider]}
          </label>
        ))}
      </div>
      {note && (
        <p id={`${id}-note`} className={styles.note} data-tone={note.tone} role="status">
          {note.text}{' '}
          <a href={note.link} target="_blank" rel="noreferrer">
            {note.linkText}
          </a>
          {note.rest}
        </p>
      )}
    </fieldset>
  )
}
