import { createRequire } from 'node:module'
import type { dictionary } from '@zxcvbn-ts/language-common'
import type { PasswordHint } from '#contract/accounts.ts'
import { passwordWarnings } from './texts.ts'

/** Some 30,000 passwords that people use most, from lists that leaked (zxcvbn, MIT); attackers try these first. */
let common: Set<string | number> | undefined
function readCommon(): Set<string | number> {
  const read = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as { dictionary: typeof dictionary }
  return new Set(read.dictionary['passwords-common'])
}

/** Words that this page suggests. */
const ofThisPage = new Set(['duely', 'invoice', 'invoices', 'reminder', 'reminders', 'payment', 'payments'])

/** A hint only: no password is refused for it. Length counts, kinds of characters do not (NIST SP 800-63B, 3.1.1.2). */
export function hintAt(password: string): PasswordHint {
  // A common password with digits or punctuation added is tried next.
  const core = password.toLowerCase().replace(/[\d\W_]+$/u, '')
  common ??= readCommon()
  if (common.has(password.toLowerCase()) || common.has(core))
    return {
      strength: 'weak',
      warning: passwordWarnings.common,
    }
  if (ofThisPage.has(core)) return { strength: 'weak', warning: passwordWarnings.ofThisPage }
  if (new Set(password).size < 4) return { strength: 'weak', warning: passwordWarnings.repeats }
  const length = [...password].length
  if (length < 8) return { strength: 'weak', warning: passwordWarnings.short }
  return { strength: length < 12 ? 'fair' : 'strong', warning: null }
}
