import { randomBytes } from 'node:crypto'
import { hash, parseOptions, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { ProblemError } from '#server/platform/problem-error.ts'
import { refusals } from './texts.ts'

/** argon2id (the library's default) as OWASP's password storage cheat sheet asks for; memory in KiB. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Runs `concurrency` tasks at a time. Refuses with `too_many` when `waiting` others wait already. */
export function limitHashing(size: { concurrency: number; waiting: number }): <T>(task: () => Promise<T>) => Promise<T> {
  const limit = pLimit(size.concurrency)
  return async (task) => {
    if (limit.activeCount >= size.concurrency && limit.pendingCount >= size.waiting)
      throw new ProblemError('too_many', refusals.tooManySignIns, { retryAfter: 5 })
    return limit(task)
  }
}

// One hash takes 19 MiB and a whole core, so a flood of sign-ins must not exhaust the machine.
const hashing = limitHashing({ concurrency: 4, waiting: 50 })

/** The same password typed on another keyboard (RFC 8265, OpaqueString): accents in one form, every space a plain one. */
function opaque(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize()
}

/** An argon2id hash in PHC notation. Slow on purpose, so never await it inside a transaction. */
export function hashPassword(password: string): Promise<string> {
  return hashing(() => hash(opaque(password), cost))
}

/** Without a hash, answers false after the same time. A hash of 0.2.0 is of the password as it was typed. Never inside a transaction. */
export function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const known = passwordHash ?? noHash
  return hashing(async () => (await verify(known, opaque(password))) || (opaque(password) !== password && verify(known, password)))
}

/** Whether the hash of a right password is one that `hashPassword` no longer makes: of a lower cost, or of the password as it was typed. */
export async function isOldHash(passwordHash: string, password: string): Promise<boolean> {
  const made = parseOptions(passwordHash)
  if (made.memoryCost < cost.memoryCost || made.timeCost < cost.timeCost) return true
  return opaque(password) !== password && !(await hashing(() => verify(passwordHash, opaque(password))))
}

/** Well-formed, as costly as a real hash, and of no known password. */
const noHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${unpadded(16)}$${unpadded(32)}`

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '')
}
