import { texts } from './texts.ts'

interface NewPassword {
  currentPassword: string
  newPassword: string
  confirmPassword: string
}

/** What is wrong with a change of password, a sentence per field; `shortest` is the server's own minimum. */
export function newPasswordProblems(typed: NewPassword, shortest: number): Record<string, string> {
  const { password } = texts.profile
  return {
    ...(typed.currentPassword === '' ? { currentPassword: password.currentMissing } : {}),
    ...(typed.newPassword.length < shortest ? { newPassword: password.tooShort(shortest) } : {}),
    ...(typed.newPassword === typed.confirmPassword ? {} : { confirmPassword: password.mismatch }),
  }
}
