import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/accounts/use-server.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard } from './entry-page.tsx'

const words = texts.forgot

/** /forgot-password: asks for a link by mail. The answer is the same whether or not the email is known. */
export default function ForgotPasswordScreen(): ReactNode {
  const { state: from } = useLocation()
  const server = useServer()
  const [said, setSaid] = useState<string | null>(null)
  const state = useContractForm({
    call: accountCalls.forgotPassword,
    initialValues: { email: '' },
    toInput: (body) => ({ body }),
    onSuccess: ({ message }) => setSaid(message),
  })
  return (
    <EntryCard title={words.title}>
      <title>{`${words.title} · Duely`}</title>
      {server?.systemMail === false ? (
        <p className={styles.lead}>{words.noMail}</p>
      ) : said === null ? (
        <>
          <p className={styles.lead}>{words.lead}</p>
          <ContractForm state={state} submit={words.submit} busy={words.busy} wide>
            <TextInput label={words.email} type="email" autoComplete="username" required {...state.form.getInputProps('email')} />
          </ContractForm>
        </>
      ) : (
        <>
          <Notice tone="good">{said}</Notice>
          <p className={styles.lead}>{words.notThere}</p>
          <button type="button" className={styles.aside} onClick={() => setSaid(null)}>
            {words.again}
          </button>
        </>
      )}
      <div className={styles.asides}>
        <Link to={screens.signIn} state={from} className={styles.aside}>
          {words.back}
        </Link>
      </div>
    </EntryCard>
  )
}
