import { createAccount } from '#server/accounts/accounts.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { sessions } from '#server/accounts/tables.ts'
import { newId } from '#server/platform/columns.ts'
import type { TestApp } from './harness.ts'

/** A person who is signed in. */
export interface Person {
  id: string
  email: string
  displayName: string
  token: string
}

let people = 0

/** Somebody with an account and a session, in India unless said otherwise. */
export async function aPerson(app: TestApp, about: { displayName?: string; email?: string; timezone?: string } = {}): Promise<Person> {
  people += 1
  const now = app.clock.now()
  const account = await createAccount(
    app.db,
    {
      displayName: about.displayName ?? 'Asha Rao',
      email: about.email ?? `asha${people}@example.com`,
      timezone: about.timezone ?? 'Asia/Kolkata',
      passwordHash: null,
    },
    now,
  )
  const sessionId = newId()
  await app.db
    .insert(sessions)
    .values({ id: sessionId, ownerId: account.id, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
  return {
    id: account.id,
    email: account.email,
    displayName: account.displayName,
    token: await signAccessToken(app.deps.config.secretKey, sessionId, now),
  }
}
