import { texts } from './texts.ts'

interface TypedTwice {
  newPassword: string
  confirmPassword: string
}

/** What is wrong with a change of password, a sentence per field; `shortest` is the server's own minimum. */
export function newPasswordProblems(typed: TypedTwice & { currentPassword: string }, shortest: number): Record<string, string> {
  return {
    ...(typed.currentPassword === '' ? { currentPassword: texts.profile.password.currentMissing } : {}),
    ...typedTwice(typed, shortest),
  }
}

/** What is wrong with a new password that was typed twice, a sentence per field. */
export function typedTwice(typed: TypedTwice, shortest: number): Record<string, string> {
  const { password } = texts.profile
  return {
    ...(typed.newPassword.length < shortest ? { newPassword: password.tooShort(shortest) } : {}),
    ...(typed.newPassword === typed.confirmPassword ? {} : { confirmPassword: password.mismatch }),
  }
}
