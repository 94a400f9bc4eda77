import { asc, eq } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { wrongRedirectUri } from '#server/platform/redirect-uri.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { oauthClients, oauthGrants } from './tables.ts'
import { texts } from './texts.ts'

/** An application that may ask people for their permission. */
export interface OauthClient {
  id: string
  name: string
  /** SHA-256 of its secret; null for a public one, which can keep none and has to use PKCE. */
  secretHash: string | null
  redirectUris: string[]
}

const longestName = 80
/** Every id looks like this, also Zapier's in the environment: whatever does not is known to nobody, and not every database takes it. */
const idShape = /^[\x21-\x7e]{1,200}$/

/** The application of this id: Zapier as the environment names it, or one that the operator registered. */
export async function findOauthClient({ db, config }: Pick<Deps, 'db' | 'config'>, id: string): Promise<OauthClient | null> {
  const { zapier } = config
  if (zapier && id === zapier.clientId)
    return { id, name: 'Zapier', secretHash: hashToken(zapier.clientSecret), redirectUris: zapier.redirectUris }
  if (!idShape.test(id)) return null
  const [found] = await db.select().from(oauthClients).where(eq(oauthClients.id, id))
  return found ?? null
}

/** Registers an application. Its secret is known here and now only; a public one has none. Refuses with `invalid`. */
export async function registerOauthClient(
  db: Database,
  about: { name: string; redirectUris: string[]; kind: 'confidential' | 'public' },
  now: Instant,
): Promise<{ id: string; secret: string | null }> {
  const name = about.name.trim()
  if (name === '' || name.length > longestName || /\p{Cc}/u.test(name))
    throw new ProblemError('invalid', texts.oauthClient.name(longestName))
  for (const uri of about.redirectUris) {
    const wrong = wrongRedirectUri(uri)
    if (wrong !== null) throw new ProblemError('invalid', texts.oauthClient.redirect(uri, wrong))
  }
  const secret = about.kind === 'public' ? null : `duely_secret_${newToken()}`
  const id = newId()
  await db.insert(oauthClients).values({
    id,
    name,
    secretHash: secret === null ? null : hashToken(secret),
    redirectUris: about.redirectUris,
    createdAt: now,
  })
  return { id, secret }
}

/** The applications that the operator registered, the first one first. */
export async function listOauthClients(db: Database): Promise<OauthClient[]> {
  return db.select().from(oauthClients).orderBy(asc(oauthClients.createdAt), asc(oauthClients.id))
}

/** Forgets an application, and every permission that people gave it. Answers its name; refuses with `not_found`. */
export async function removeOauthClient(db: Database, id: string): Promise<string> {
  return db.transaction(async (tx) => {
    const [gone] = await tx.delete(oauthClients).where(eq(oauthClients.id, id)).returning()
    if (!gone) throw new ProblemError('not_found', texts.oauthClient.unknown(id))
    await tx.delete(oauthGrants).where(eq(oauthGrants.clientId, id))
    return gone.name
  })
}
