import { AsyncLocalStorage } from 'node:async_hooks'
import type { Call } from '#contract/call.ts'
import type { PersonId } from './columns.ts'

/** Who does what the running code does: a person, or a program in the person's name. */
export interface Actor {
  person: PersonId
  /** The name of the API key or application. */
  program: string | null
  /** The role that their call needs. */
  needed: Call['by']
}

const acting = new AsyncLocalStorage<Actor | null>()

/** Does this work in the name of someone; null: of Duely itself. */
export function actAs<T>(actor: Actor | null, work: () => T): T {
  return acting.run(actor, work)
}

/** The columns that name who the running code acts for. */
export function actorNow(): { personId: PersonId | null; program: string | null } {
  const actor = acting.getStore()
  return { personId: actor?.person ?? null, program: actor?.program ?? null }
}

/** The role that the call needs for which the running code acts; null: none, or it is no call. */
export function neededNow(): Call['by'] {
  return acting.getStore()?.needed ?? null
}
