import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { useServer } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard } from './entry-page.tsx'

const t = texts.forgot

/** /forgot-password: sends a reset link. The answer is the same for an unknown email. */
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
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {server?.systemMail === false ? (
        <p className={styles.lead}>{t.noMail}</p>
      ) : said === null ? (
        <>
          <p className={styles.lead}>{t.lead}</p>
          <ContractForm state={state} submit={t.submit} busy={t.busy} wide>
            <TextInput label={t.email} type="email" autoComplete="username" required {...state.form.getInputProps('email')} />
          </ContractForm>
        </>
      ) : (
        <>
          <Notice tone="good">{said}</Notice>
          <p className={styles.lead}>{t.notThere}</p>
          <button type="button" className={styles.aside} onClick={() => setSaid(null)}>
            {t.again}
          </button>
        </>
      )}
      <div className={styles.asides}>
        <Link to={screens.signIn} state={from} className={styles.aside}>
          {t.back}
        </Link>
      </div>
    </EntryCard>
  )
}
