import { Button } from '@mantine/core'
import { IconBrandGmail, IconBrandOffice } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Proof } from '#contract/accounts.ts'
import { administratorCodes, furtherState, type MailConfig, mailCalls, microsoftState } from '#contract/mail.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { noProof, ProofField, type ProofValues, proofIn, useProof } from '#web/platform/proof.tsx'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import { BusyButton, CopyButton } from '#web/ui/buttons.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { mailboxInvalidates } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

const consents = {
  gmail: { start: mailCalls.startGmail, finish: mailCalls.configureGmail, ability: 'google', icon: IconBrandGmail },
  microsoft: { start: mailCalls.startMicrosoft, finish: mailCalls.configureMicrosoft, ability: 'microsoft', icon: IconBrandOffice },
} as const
type ConsentProvider = keyof typeof consents

/** Opens the provider’s consent page; nothing where the provider is not set up on this server. `further`: for a mailbox besides the default one. */
export function ConsentButton({
  provider,
  kind,
  further = false,
}: {
  provider: ConsentProvider
  kind: 'connect' | 'again' | 'add'
  further?: boolean
}): ReactNode {
  const { start: call, ability, icon: Icon } = consents[provider]
  const server = useServer()
  const available = server?.[ability] ?? false
  const [problem, setProblem] = useState<string | null>(null)
  const [proving, setProving] = useState(false)
  const leave = {
    onSuccess: ({ url }: { url: string }) => window.location.assign(url),
    onError: (error: Error) => {
      if (error instanceof Problem && error.errors.some(({ path }) => path === 'currentPassword' || path === 'code')) {
        setProving(true)
        return
      }
      const message = texts[provider].startFailed(error instanceof Problem ? error.message : '')
      setProblem(message)
      toast('bad', brief(message))
    },
  }
  const startDefault = useApiMutation(call, leave)
  const startFurther = useApiMutation(mailCalls.startMailbox, leave)
  const start = further ? startFurther : startDefault
  if (!available) return null
  return (
    <>
      <BusyButton
        // One primary action at a time.
        variant={kind === 'add' || (provider === 'microsoft' && kind === 'connect' && server?.google) ? 'default' : 'filled'}
        leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
        // Stays busy until the browser has left for the provider.
        busy={start.isPending || start.isSuccess}
        busyText={texts[provider].busy}
        onClick={() => {
          setProblem(null)
          if (further) startFurther.mutate({ body: { provider } })
          else startDefault.mutate({})
        }}
      >
        {texts[provider][kind]}
      </BusyButton>
      {problem !== null && <FormError message={problem} />}
      <ConsentProof opened={proving} provider={provider} further={further} onClose={() => setProving(false)} />
    </>
  )
}

interface ConsentProofProps {
  opened: boolean
  provider: ConsentProvider
  further: boolean
  onClose: () => void
}

const given = ({ currentPassword, code }: Proof): Proof => ({ currentPassword, code })

/** The provider shows whose the mailbox is; the password shows who connects it here. */
function ConsentProof({ opened, provider, further, onClose }: ConsentProofProps): ReactNode {
  const proof = useProof()
  const state = useContractForm<typeof mailCalls.startMailbox, ProofValues>({
    call: mailCalls.startMailbox,
    initialValues: noProof,
    toInput: (given) => ({ body: { provider, ...proofIn(proof, given) } }),
    send: ({ body }) => (further ? send(mailCalls.startMailbox, { body }) : send(consents[provider].start, { body: given(body) })),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  return (
    <Dialog opened={opened} onClose={onClose} title={texts.prove.title}>
      <ContractForm
        state={state}
        submit={texts.prove.submit}
        busy={texts[provider].busy}
        actions={
          <Button variant="default" onClick={onClose}>
            {texts.smtp.cancel}
          </Button>
        }
      >
        <ProofField proof={proof} hint={texts.smtp.proofHint} autofocus of={(field) => state.form.getInputProps(field)} />
      </ContractForm>
    </Dialog>
  )
}

/** Finishes the connection with the code in the address, and removes the code from the address first, because it works only once. */
export function ConsentReturn({ onConnected }: { onConnected: (user: string | null) => void }): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const [approval, setApproval] = useState<'needed' | 'given' | null>(null)
  const seen = useRef(false)
  const fail = (message: string) => {
    setProblem(message)
    toast('bad', brief(message))
  }
  const after = (provider: ConsentProvider) => ({
    invalidates: mailboxInvalidates,
    onSuccess: ({ user }: Pick<MailConfig, 'user'>) => {
      toast('good', texts[provider].done)
      onConnected(user)
    },
    onError: (error: Error) => {
      if (error instanceof Problem && error.code === 'administrator_needed') setApproval('needed')
      else fail(texts[provider].failed(errorMessage(error)))
    },
  })
  const gmail = useApiMutation(consents.gmail.finish, after('gmail'))
  const microsoft = useApiMutation(consents.microsoft.finish, after('microsoft'))
  const furtherGmail = useApiMutation(mailCalls.addMailbox, after('gmail'))
  const furtherMicrosoft = useApiMutation(mailCalls.addMailbox, after('microsoft'))
  useEffect(() => {
    const [code, state, error, said, consented] = ['code', 'state', 'error', 'error_description', 'admin_consent'].map((name) =>
      search.get(name),
    )
    if (seen.current || (!code && !error && !consented)) return
    seen.current = true
    setSearch({}, { replace: true })
    const further = state?.startsWith(furtherState) === true
    const provider = (further ? state.slice(furtherState.length) : state)?.startsWith(microsoftState) ? 'microsoft' : 'gmail'
    const came = { code: code ?? '', ...(state ? { state } : {}) }
    if (code && further) (provider === 'microsoft' ? furtherMicrosoft : furtherGmail).mutate({ body: { provider, ...came } })
    else if (code) (provider === 'microsoft' ? microsoft : gmail).mutate({ body: came })
    else if (!error) setApproval('given')
    else if (administratorCodes.includes(Number(/^AADSTS(\d+)/.exec(said ?? '')?.[1]))) setApproval('needed')
    else fail(texts[provider].failed(error === 'access_denied' ? texts[provider].denied : texts[provider].notFinished))
  })
  if (gmail.isPending || furtherGmail.isPending) return <Notice tone="info">{texts.gmail.finishing}</Notice>
  if (microsoft.isPending || furtherMicrosoft.isPending) return <Notice tone="info">{texts.microsoft.finishing}</Notice>
  if (approval === 'given') return <Notice tone="good">{texts.approval.done}</Notice>
  if (approval === 'needed') return <ApprovalNeeded />
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}

/** Only an administrator may allow Duely: the link for them. */
function ApprovalNeeded(): ReactNode {
  const { data } = useApiQuery(mailCalls.microsoftApproval)
  return (
    <Notice tone="warn" title={texts.approval.title} action={data && <CopyButton text={data.url} what={texts.approval.link} />}>
      {texts.approval.text}
    </Notice>
  )
}

/** Where the person ends a permission that Duely can't end. */
export function RevokeNotice(): ReactNode {
  const { before, work, between, personal } = texts.revoke
  return (
    <Notice tone="info">
      {before}{' '}
      <a href={work.link} target="_blank" rel="noreferrer">
        {work.text}
      </a>
      {between}{' '}
      <a href={personal.link} target="_blank" rel="noreferrer">
        {personal.text}
      </a>
      .
    </Notice>
  )
}
