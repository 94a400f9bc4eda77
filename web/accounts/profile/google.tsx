import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { NewPasswordFields, typedTwice } from '#web/accounts/new-password.tsx'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { confirm } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const t = texts.security.google

const purposeKey = 'googlePurpose'

/** Remembers in this tab why it goes to Google; without a purpose it is to link or unlink. */
export function keepGooglePurpose(purpose: 'delete'): void {
  sessionStorage.setItem(purposeKey, purpose)
}

function takeGooglePurpose(): string | null {
  const purpose = sessionStorage.getItem(purposeKey)
  sessionStorage.removeItem(purposeKey)
  return purpose
}

/** Links the account to Google, or unlinks it. */
export function SecurityGoogle({ profile }: { profile: Profile }): ReactNode {
  const [asking, setAsking] = useState(false)
  const start = useApiMutation(accountCalls.startGoogleUnlink, { onSuccess: ({ url }) => window.location.assign(url) })
  const unlink = () =>
    void confirm({
      title: t.unlink.dialog,
      body: t.unlink.consequence,
      action: t.go,
      busy: t.goBusy,
      onConfirm: async () => {
        await start.mutateAsync({})
        // Busy until Google's page has loaded.
        return new Promise(() => undefined)
      },
    })
  if (profile.googleId !== undefined)
    return (
      <Panel title={t.title} aside={<Pill tone="paid">{t.linked}</Pill>}>
        <p className={styles.text}>{t.linkedText}</p>
        <Button variant="default" onClick={unlink}>
          {t.unlink.open}
        </Button>
      </Panel>
    )
  return (
    <Panel title={t.title} aside={<Pill tone="quiet">{t.notLinked}</Pill>}>
      <p className={styles.text}>{t.text}</p>
      <Button variant="default" leftSection={<IconBrandGoogle size={18} aria-hidden />} onClick={() => setAsking(true)}>
        {t.open}
      </Button>
      <Modal opened={asking} onClose={() => setAsking(false)} title={t.dialog}>
        <LinkForm profile={profile} onCancel={() => setAsking(false)} />
      </Modal>
    </Panel>
  )
}

function LinkForm({ profile, onCancel }: { profile: Profile; onCancel: () => void }): ReactNode {
  const asksForCode = profile.twoFactor !== null
  const state = useContractForm({
    call: accountCalls.startGoogleLink,
    initialValues: { currentPassword: '', code: '' },
    toInput: ({ currentPassword, code }) => ({ body: { currentPassword, ...(asksForCode ? { code } : {}) } }),
    check: ({ currentPassword }) => (currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    onSuccess: ({ url }) => {
      window.location.assign(url)
      // Busy until Google's page has loaded.
      return new Promise(() => undefined)
    },
  })
  return (
    <ContractForm
      state={state}
      submit={t.go}
      busy={t.goBusy}
      actions={
        <Button variant="default" onClick={onCancel}>
          {texts.security.cancel}
        </Button>
      }
    >
      <ProofFields text={t.consequence} email={profile.email} withCode={asksForCode} of={(field) => state.form.getInputProps(field)} />
    </ContractForm>
  )
}

interface ProofFieldsProps {
  /** What the password is asked for. */
  text: string
  email: string
  withCode: boolean
  /** The props of a field of the form. */
  of: (field: 'currentPassword' | 'code') => object
}

/** The password, and a code of two-factor authentication, that a change of how the person signs in needs. */
export function ProofFields({ text, email, withCode, of }: ProofFieldsProps): ReactNode {
  return (
    <Stack gap={16}>
      <p className={styles.flush}>{text}</p>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        label={texts.profile.password.current}
        autoComplete="current-password"
        required
        data-autofocus
        {...of('currentPassword')}
      />
      {withCode && (
        <TextInput
          label={texts.security.twoFactor.proof.code}
          description={texts.security.twoFactor.proof.hint}
          autoComplete="one-time-code"
          spellCheck={false}
          required
          {...of('code')}
        />
      )}
    </Stack>
  )
}

/** Handles the return from Google: links or unlinks the account, or takes it as proof of identity. Removes the code from the address. */
export function GoogleLinkReturn({ profile }: { profile: Profile }): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const [cancelled, setCancelled] = useState(false)
  const [unlinking, setUnlinking] = useState<string | null>(null)
  const seen = useRef(false)
  const link = useApiMutation(accountCalls.linkGoogle, {
    invalidates: [accountCalls.profile, accountCalls.sessions, accountCalls.audit],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: () => {
      toast('good', t.done)
    },
    onError: (error) => setProblem(errorMessage(error)),
  })
  const prove = useApiMutation(accountCalls.reauthenticateWithGoogle, {
    onSuccess: () => {
      toast('good', texts.profile.remove.prove.confirmed)
    },
    onError: (error) => setProblem(errorMessage(error)),
  })
  useEffect(() => {
    const code = search.get('code')
    if (seen.current || (code === null && !search.has('error'))) return
    seen.current = true
    setSearch({ tab: 'security' }, { replace: true })
    const purpose = takeGooglePurpose()
    if (code !== null && purpose === 'delete') return prove.mutate({ body: { code } })
    if (code !== null && profile.googleId !== undefined) return setUnlinking(code)
    if (code !== null) return link.mutate({ body: { code } })
    if (search.get('error') === 'access_denied') return setCancelled(true)
    setProblem(texts.signIn.googleFailed)
  }, [search, setSearch, link, prove, profile.googleId])
  if (unlinking !== null) return <GoogleUnlinkDialog code={unlinking} email={profile.email} onClose={() => setUnlinking(null)} />
  if (link.isPending) return <Notice tone="info">{t.linking}</Notice>
  if (cancelled) return <Notice tone="info">{texts.signIn.googleCancelled}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}

const unlinkTexts = texts.security.google.unlink

/** Google has confirmed the person: asks for the password that replaces it. */
function GoogleUnlinkDialog({ code, email, onClose }: { code: string; email: string; onClose: () => void }): ReactNode {
  const shortest = useServer()?.passwordMinLength ?? 6
  const state = useContractForm({
    call: accountCalls.unlinkGoogle,
    initialValues: { newPassword: '', confirmPassword: '' },
    toInput: ({ newPassword }) => ({ body: { code, newPassword } }),
    check: (values) => typedTwice(values, shortest),
    invalidates: [accountCalls.profile, accountCalls.sessions, accountCalls.audit],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: () => {
      toast('good', unlinkTexts.done)
      onClose()
    },
  })
  const { form } = state
  return (
    <Dialog opened onClose={state.busy ? () => undefined : onClose} title={unlinkTexts.choose} closeOnClickOutside={false}>
      <ContractForm
        state={state}
        submit={unlinkTexts.submit}
        busy={unlinkTexts.busy}
        actions={
          <Button variant="default" onClick={onClose}>
            {texts.security.cancel}
          </Button>
        }
      >
        <div className={styles.column}>
          <p className={styles.flush}>{unlinkTexts.chooseText}</p>
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <NewPasswordFields form={form} shortest={shortest} autoFocus />
        </div>
      </ContractForm>
    </Dialog>
  )
}
