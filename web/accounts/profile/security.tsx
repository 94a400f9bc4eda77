import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Group, Modal, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type FormEvent, type ReactNode, Suspense, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { NewPasswordFields, newPasswordProblems } from '#web/accounts/new-password.tsx'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { fetchFile, saveFile } from '#web/platform/send.ts'
import { endSessionAndOpen } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { keepGooglePurpose, ProofFields, SecurityGoogle } from './google.tsx'
import styles from './profile.module.css'
import { Activity, SecurityBrowsers } from './sessions.tsx'

const t = texts.profile

/** Password, two-factor authentication, Google, sessions, activity, export and deletion. */
export function ProfileSecurity({ profile }: { profile: Profile }): ReactNode {
  const server = useServer()
  const [asking, setAsking] = useState(false)
  const [address] = useSearchParams()
  // All tabs are mounted: lists are loaded only once this one is open.
  const visible = address.get('tab') === 'security'
  const byGoogle = profile.googleId !== undefined
  return (
    <>
      {!byGoogle && (
        <Panel title={t.password.title}>
          <PasswordForm profile={profile} />
        </Panel>
      )}
      <SecurityTwoFactor profile={profile} />
      {(byGoogle || server?.google) && <SecurityGoogle profile={profile} />}
      <SecurityBrowsers zone={profile.timezone} byGoogle={byGoogle} visible={visible} />
      <Activity log="own" zone={profile.timezone} visible={visible} />
      <SecurityExport />
      <Panel title={t.remove.title}>
        <p className={styles.text}>{t.remove.text}</p>
        <Button variant="default" className={styles.danger ?? ''} onClick={() => setAsking(true)}>
          {t.remove.open}
        </Button>
      </Panel>
      <DeleteAccountDialog opened={asking} profile={profile} onClose={() => setAsking(false)} />
    </>
  )
}

const passwordTexts = texts.profile.password

function PasswordForm({ profile: { email, apiKeys } }: { profile: Profile }): ReactNode {
  const shortest = useServer()?.passwordMinLength ?? 6
  const state = useContractForm({
    call: accountCalls.changePassword,
    initialValues: { currentPassword: '', newPassword: '', confirmPassword: '', endKeys: true },
    toInput: ({ currentPassword, newPassword, endKeys }) => ({ body: { currentPassword, newPassword, endKeys } }),
    check: (values) => newPasswordProblems(values, shortest),
    invalidates: [accountCalls.sessions, accountCalls.audit, accountCalls.profile],
    onSuccess: () => {
      state.reset()
      toast('good', passwordTexts.done)
    },
    onError: (error) => toast('bad', brief(passwordTexts.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <ContractForm state={state} submit={passwordTexts.submit} busy={passwordTexts.busy}>
      <div className={styles.column}>
        {/* For password managers. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField label={passwordTexts.current} autoComplete="current-password" required {...form.getInputProps('currentPassword')} />
        <NewPasswordFields form={form} shortest={shortest} />
        {apiKeys > 0 && (
          <Checkbox
            label={passwordTexts.endKeys}
            description={passwordTexts.endKeysHint(apiKeys)}
            {...form.getInputProps('endKeys', { type: 'checkbox' })}
          />
        )}
      </div>
      <p className={styles.note}>{passwordTexts.others}</p>
    </ContractForm>
  )
}

const exportTexts = texts.security.data

function SecurityExport(): ReactNode {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const download = async () => {
    setBusy(true)
    setProblem(null)
    try {
      const { bytes, name } = await fetchFile(accountCalls.exportData, {})
      saveFile(bytes, name)
      toast('good', exportTexts.done(name))
    } catch (error) {
      setProblem(exportTexts.failed(errorMessage(error)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Panel title={exportTexts.title}>
      <p className={styles.text}>{exportTexts.text}</p>
      <BusyButton
        variant="default"
        busy={busy}
        busyText={exportTexts.busy}
        leftSection={<IconDownload size={18} stroke={1.7} aria-hidden />}
        onClick={() => void download()}
      >
        {exportTexts.submit}
      </BusyButton>
      <FormError message={problem} />
    </Panel>
  )
}

const removeTexts = texts.profile.remove

interface DeleteAccountProps {
  opened: boolean
  profile: Profile
  onClose: () => void
}

/** Asks for the word DELETE before the account is deleted, and for proof of identity where the sign-in is not recent. */
function DeleteAccountDialog({ opened, profile, onClose }: DeleteAccountProps): ReactNode {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const [proving, setProving] = useState(false)
  const remove = useApiMutation(accountCalls.deleteMe, {
    onSuccess: () => endSessionAndOpen(screens.landing),
    onError: (error) => {
      if (error instanceof Problem && error.code === 'recent_sign_in_needed') setProving(true)
      else toast('bad', brief(removeTexts.failed(errorMessage(error))))
    },
  })
  // Also until the landing page has loaded.
  const busy = remove.isPending || remove.isSuccess
  const close = () => {
    if (busy) return
    setTyped('')
    setWrong(null)
    setProving(false)
    remove.reset()
    onClose()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    if (typed !== removeTexts.word) {
      setWrong(removeTexts.wrong)
      return
    }
    remove.mutate({})
  }
  if (proving && !busy)
    return (
      <Modal opened={opened} onClose={close} title={removeTexts.prove.title}>
        {profile.googleId === undefined ? (
          <ProofForm profile={profile} onCancel={close} onDone={() => remove.mutateAsync({}).catch(() => setProving(false))} />
        ) : (
          <GoogleProof onCancel={close} />
        )}
      </Modal>
    )
  return (
    <Modal opened={opened} onClose={close} title={removeTexts.dialog}>
      <form noValidate onSubmit={submit}>
        <p className={styles.text}>{removeTexts.question(profile.email)}</p>
        <TextInput
          label={removeTexts.label}
          value={typed}
          error={wrong}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            setWrong(null)
          }}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          data-autofocus
        />
        <FormError message={remove.isError && !proving ? removeTexts.failed(errorMessage(remove.error)) : null} />
        <Group justify="flex-end" gap={12} mt={24}>
          <Button variant="default" onClick={close} disabled={busy}>
            {removeTexts.cancel}
          </Button>
          <BusyButton type="submit" color="coral" busy={busy} busyText={removeTexts.busy}>
            {removeTexts.confirm}
          </BusyButton>
        </Group>
      </form>
    </Modal>
  )
}

interface ProofProps {
  onCancel: () => void
}

/** Asks for the password again, and for a code where two-factor authentication is on. */
function ProofForm({ profile, onCancel, onDone }: ProofProps & { profile: Profile; onDone: () => Promise<unknown> }): ReactNode {
  const asksForCode = profile.twoFactor !== null
  const state = useContractForm({
    call: accountCalls.reauthenticate,
    initialValues: { currentPassword: '', code: '' },
    toInput: ({ currentPassword, code }) => ({ body: { currentPassword, ...(asksForCode ? { code } : {}) } }),
    check: ({ currentPassword }) => (currentPassword === '' ? { currentPassword: passwordTexts.currentMissing } : {}),
    onSuccess: async () => {
      await onDone()
    },
  })
  return (
    <ContractForm
      state={state}
      submit={removeTexts.confirm}
      busy={removeTexts.busy}
      actions={
        <Button variant="default" onClick={onCancel}>
          {removeTexts.cancel}
        </Button>
      }
    >
      <ProofFields
        text={removeTexts.prove.text}
        email={profile.email}
        withCode={asksForCode}
        of={(field) => state.form.getInputProps(field)}
      />
    </ContractForm>
  )
}

function GoogleProof({ onCancel }: ProofProps): ReactNode {
  const start = useApiMutation(accountCalls.startGoogleUnlink, {
    onSuccess: ({ url }) => {
      keepGooglePurpose('delete')
      window.location.assign(url)
    },
  })
  return (
    <>
      <p className={styles.text}>{removeTexts.prove.google}</p>
      <FormError message={start.isError ? errorMessage(start.error) : null} />
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onCancel}>
          {removeTexts.cancel}
        </Button>
        <BusyButton busy={start.isPending || start.isSuccess} busyText={texts.security.google.goBusy} onClick={() => start.mutate({})}>
          {texts.security.google.go}
        </BusyButton>
      </Group>
    </>
  )
}

const twoFactorTexts = texts.security.twoFactor
// Loads the QR code encoder.
const SetUpDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorSetUpDialog)
const ChangeDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorChangeDialog)

function SecurityTwoFactor({ profile }: { profile: Profile }): ReactNode {
  const [open, setOpen] = useState<'none' | 'set-up' | 'renew' | 'remove'>('none')
  const close = () => setOpen('none')
  const { twoFactor } = profile
  if (profile.googleId !== undefined)
    return (
      <Panel title={twoFactorTexts.title}>
        <p className={styles.flush}>{twoFactorTexts.google}</p>
      </Panel>
    )
  return (
    <Panel
      title={twoFactorTexts.title}
      aside={twoFactor ? <Pill tone="paid">{twoFactorTexts.on}</Pill> : <Pill tone="quiet">{twoFactorTexts.off}</Pill>}
    >
      <p className={styles.text}>{twoFactor ? twoFactorTexts.left(twoFactor.recoveryCodesLeft) : twoFactorTexts.text}</p>
      <div className={styles.actions}>
        {twoFactor ? (
          <>
            <Button variant="default" onClick={() => setOpen('renew')}>
              {twoFactorTexts.renew.open}
            </Button>
            <Button variant="default" className={styles.danger ?? ''} onClick={() => setOpen('remove')}>
              {twoFactorTexts.remove.open}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setOpen('set-up')}>
            {twoFactorTexts.setUp.open}
          </Button>
        )}
      </div>
      <Suspense>
        {open === 'set-up' && <SetUpDialog email={profile.email} onClose={close} />}
        {(open === 'renew' || open === 'remove') && <ChangeDialog what={open} email={profile.email} onClose={close} />}
      </Suspense>
    </Panel>
  )
}
