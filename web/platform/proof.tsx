import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { PasswordField } from '#web/ui/fields.tsx'
import { useApiQuery } from './query.ts'
import { proofTexts as texts } from './texts.ts'

/** What proves that the person themselves makes a change that a stolen session must not make. */
type Proof = 'currentPassword' | 'code'
export type ProofValues = Record<Proof, string>

/** The field that a change needs; null where the server asks for a recent sign-in instead: Google confirms who its users are. */
export function useProof(): Proof | null {
  const profile = useApiQuery(accountCalls.profile).data
  if (profile === undefined) return null
  if (profile.googleId === undefined) return 'currentPassword'
  return profile.twoFactor === null ? null : 'code'
}

/** The proof as a part of a call's body. */
export function proofIn(proof: Proof | null, values: ProofValues): Partial<ProofValues> {
  return proof === null ? {} : { [proof]: values[proof] }
}

export const noProof: ProofValues = { currentPassword: '', code: '' }

interface ProofFieldProps {
  proof: Proof | null
  /** Why it is asked for. */
  hint: string
  /** The props of a field of the form. */
  of: (field: Proof) => object
  autofocus?: boolean
}

/** The password, or the code where the account has no password. */
export function ProofField({ proof, hint, of, autofocus = false }: ProofFieldProps): ReactNode {
  const focus = { 'data-autofocus': autofocus || undefined }
  if (proof === 'currentPassword')
    return (
      <PasswordField
        label={texts.password}
        description={hint}
        autoComplete="current-password"
        required
        {...focus}
        {...of('currentPassword')}
      />
    )
  return (
    proof && (
      <TextInput
        label={texts.code}
        description={`${texts.codeHint} ${hint}`}
        autoComplete="one-time-code"
        required
        {...focus}
        {...of('code')}
      />
    )
  )
}
