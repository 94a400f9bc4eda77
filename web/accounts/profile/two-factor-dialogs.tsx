import { Button, Stack, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { encode } from 'uqr'
import { accountCalls } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { invalidate } from '#web/platform/query.ts'
import { saveFile } from '#web/platform/send.ts'
import { CopyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import { ProofFields } from './google.tsx'
import styles from './profile.module.css'

const t = texts.security.twoFactor

interface ChangeProps {
  email: string
  onClose: () => void
}

/** Generates recovery codes, or turns two-factor authentication off: both ask for the password and a code. */
export function TwoFactorChangeDialog({ what, email, onClose }: ChangeProps & { what: 'renew' | 'remove' }): ReactNode {
  const [codes, setCodes] = useState<string[] | null>(null)
  return (
    <Dialog
      opened
      onClose={onClose}
      title={codes ? t.codes.title : t[what].title}
      size={500}
      closeOnClickOutside={codes === null}
      closeOnEscape={codes === null}
      withCloseButton={codes === null}
    >
      {codes ? (
        <RecoveryCodes codes={codes} email={email} onClose={onClose} />
      ) : what === 'renew' ? (
        <Renew email={email} onClose={onClose} onCodes={setCodes} />
      ) : (
        <Remove email={email} onClose={onClose} />
      )}
    </Dialog>
  )
}

const empty = { currentPassword: '', code: '' }
const check = ({ currentPassword }: typeof empty): Record<string, string> =>
  currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}

function Renew({ email, onClose, onCodes }: ChangeProps & { onCodes: (codes: string[]) => void }): ReactNode {
  const state = useContractForm({
    call: accountCalls.renewRecoveryCodes,
    initialValues: empty,
    toInput: (body) => ({ body }),
    check,
    invalidates: [accountCalls.profile, accountCalls.audit],
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes),
  })
  return (
    <ContractForm state={state} submit={t.renew.submit} busy={t.renew.busy} actions={<Cancel onClose={onClose} />}>
      <ProofFields withCode text={t.renew.text} email={email} of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}

function Remove({ email, onClose }: ChangeProps): ReactNode {
  const state = useContractForm({
    call: accountCalls.removeTwoFactor,
    initialValues: empty,
    toInput: (body) => ({ body }),
    check,
    invalidates: [accountCalls.profile, accountCalls.audit],
    onSuccess: () => {
      toast('good', t.remove.done)
      onClose()
    },
  })
  return (
    <ContractForm state={state} tone="danger" submit={t.remove.submit} busy={t.remove.busy} actions={<Cancel onClose={onClose} />}>
      <ProofFields withCode text={t.remove.text} email={email} of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}

function Cancel({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Button variant="default" onClick={onClose}>
      {texts.security.cancel}
    </Button>
  )
}

const setUpTexts = texts.security.twoFactor.setUp

type Step = { at: 'password' } | { at: 'code'; secret: string; uri: string } | { at: 'kept'; codes: string[] }

/** Turns two-factor authentication on: password, authenticator app, recovery codes. */
export function TwoFactorSetUpDialog({ email, onClose }: { email: string; onClose: () => void }): ReactNode {
  const [step, setStep] = useState<Step>({ at: 'password' })
  const titles = { password: setUpTexts.title, code: setUpTexts.scan, kept: texts.security.twoFactor.codes.title }
  // Recovery codes are shown once: a click outside the dialog must not lose them.
  const stays = step.at === 'kept'
  return (
    <Dialog
      opened
      onClose={onClose}
      title={titles[step.at]}
      size={500}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {step.at === 'password' && <AskPassword email={email} onCancel={onClose} onStarted={(made) => setStep({ at: 'code', ...made })} />}
      {step.at === 'code' && (
        <AskCode secret={step.secret} uri={step.uri} onCancel={onClose} onConfirmed={(codes) => setStep({ at: 'kept', codes })} />
      )}
      {step.at === 'kept' && (
        <RecoveryCodes
          codes={step.codes}
          email={email}
          onClose={() => {
            // Only now: on a phone the toast would cover the dialog.
            toast('good', setUpTexts.done)
            onClose()
          }}
        />
      )}
    </Dialog>
  )
}

function AskPassword(props: {
  email: string
  onCancel: () => void
  onStarted: (made: { secret: string; uri: string }) => void
}): ReactNode {
  const { email, onCancel, onStarted } = props
  const state = useContractForm({
    call: accountCalls.startTwoFactor,
    initialValues: { currentPassword: '' },
    toInput: (body) => ({ body }),
    check: ({ currentPassword }) => (currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    onSuccess: onStarted,
  })
  return (
    <ContractForm state={state} submit={setUpTexts.next} busy={setUpTexts.nextBusy} actions={<Cancel onClose={onCancel} />}>
      <ProofFields text={setUpTexts.text} email={email} withCode={false} of={() => state.form.getInputProps('currentPassword')} />
    </ContractForm>
  )
}

function AskCode(props: { secret: string; uri: string; onCancel: () => void; onConfirmed: (codes: string[]) => void }): ReactNode {
  const { secret, uri, onCancel, onConfirmed } = props
  const queries = useQueryClient()
  const state = useContractForm({
    call: accountCalls.confirmTwoFactor,
    initialValues: { code: '' },
    toInput: (body) => ({ body }),
    onSuccess: ({ recoveryCodes }) => {
      onConfirmed(recoveryCodes)
      // After the codes are on screen: the profile may wait, they must not.
      void invalidate(queries, [accountCalls.profile, accountCalls.audit])
    },
  })
  return (
    <ContractForm state={state} submit={setUpTexts.confirm} busy={setUpTexts.confirmBusy} actions={<Cancel onClose={onCancel} />}>
      <Stack gap={16}>
        <p className={styles.flush}>{setUpTexts.scanText}</p>
        <QrCode text={uri} label={setUpTexts.picture} />
        <div>
          <p className={styles.small}>{setUpTexts.byHand}</p>
          <div className={styles.secret}>
            <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>
            <CopyButton text={secret} />
          </div>
        </div>
        <TextInput
          label={setUpTexts.code}
          description={setUpTexts.codeHint}
          autoComplete="one-time-code"
          inputMode="numeric"
          spellCheck={false}
          required
          {...state.form.getInputProps('code')}
        />
      </Stack>
    </ContractForm>
  )
}

const codeTexts = texts.security.twoFactor.codes

interface RecoveryCodesProps {
  codes: string[]
  /** For the file. */
  email: string
  onClose: () => void
}

/** The recovery codes, shown once: copy or download them. */
function RecoveryCodes({ codes, email, onClose }: RecoveryCodesProps): ReactNode {
  const download = () =>
    saveFile(new Blob([`${codeTexts.file(email)}\n\n${codes.join('\n')}\n`], { type: 'text/plain;charset=utf-8' }), codeTexts.fileName)
  return (
    <>
      <p className={styles.flush}>{codeTexts.text}</p>
      <ul className={styles.codes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.row}>
        <CopyButton text={codes.join('\n')} />
        <Button variant="default" leftSection={<IconDownload size={17} aria-hidden />} onClick={download}>
          {codeTexts.download}
        </Button>
        <Button className={styles.last ?? ''} onClick={onClose}>
          {codeTexts.kept}
        </Button>
      </div>
    </>
  )
}

/** Black on white in both themes: not every camera reads inverted codes. */
function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { size, path } = useMemo(() => {
    // A quiet zone of four modules (ISO/IEC 18004, 9.1).
    const code = encode(text, { ecc: 'M', border: 4 })
    const dark = code.data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])))
    return { size: code.size, path: dark.join('') }
  }, [text])
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} className={styles.qr} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
