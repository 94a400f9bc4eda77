import { randomBytes } from 'node:crypto'
import { hash, parseOptions, verify } from '@node-rs/argon2'
import { ProblemError } from '#server/platform/problem-error.ts'

/** argon2id (the library's default) as OWASP's password storage cheat sheet asks for; memory in KiB. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Runs tasks a few at a time, in the order they came. */
interface Gate {
  /** Answers what the task answers; refuses with `too_many` when the waiting line is full. */
  pass<T>(task: () => Promise<T>): Promise<T>
}

export function openGate(size: { atOnce: number; waiting: number }): Gate {
  const line: (() => void)[] = []
  let inside = 0
  return {
    async pass(task) {
      if (inside < size.atOnce) inside += 1
      else if (line.length < size.waiting) await new Promise<void>((resolve) => line.push(resolve))
      else throw new ProblemError('too_many', 'Many people are signing in right now. Please try again in a few seconds.', { retryAfter: 5 })
      try {
        return await task()
      } finally {
        // Whoever waits longest takes over this place; it is never free in between.
        const next = line.shift()
        if (next) next()
        else inside -= 1
      }
    },
  }
}

// One hash takes 19 MiB and a whole core: a flood of sign-ins must not take the machine with it.
const hashing = openGate({ atOnce: 4, waiting: 50 })

/** A new argon2id hash in PHC notation. Never await it inside a transaction: it is slow on purpose. */
export function hashPassword(password: string): Promise<string> {
  return hashing.pass(() => hash(password, cost))
}

/** Whether the password is the hashed one. Without a hash the answer is no and takes just as long. Never inside a transaction. */
export function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  return hashing.pass(() => verify(passwordHash ?? nobodysHash, password))
}

/** Whether a hash was made with less than is asked for today. */
export function isWeakHash(passwordHash: string): boolean {
  const made = parseOptions(passwordHash)
  return made.memoryCost < cost.memoryCost || made.timeCost < cost.timeCost
}

/** Well-formed, as costly as a real one, and of no known password. */
const nobodysHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${unpadded(16)}$${unpadded(32)}`

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '')
}
