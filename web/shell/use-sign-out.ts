import { accountCalls } from '#contract/accounts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { leaveTo } from '#web/platform/session.ts'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

interface SignOut {
  /** What the button says: what it does, or that it is under way. */
  text: string
  /** On the way out, until the landing page is there. */
  leaving: boolean
  press: () => void
}

/** The way out: the session ends, then the landing page opens. */
export function useSignOut(): SignOut {
  const signOut = useApiMutation(accountCalls.signOut, {
    onSuccess: () => leaveTo('/'),
    onError: (error) => toast('bad', texts.signOutFailed(errorMessage(error))),
  })
  const leaving = signOut.isPending || signOut.isSuccess
  return {
    text: leaving ? texts.signingOut : texts.signOut,
    leaving,
    press: () => {
      if (!leaving) signOut.mutate({})
    },
  }
}
