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

/** An app that may ask people for a grant. */
export interface OauthClient {
  id: string
  name: string
  /** SHA-256 of its secret; null for a public one, which cannot keep a secret and must use PKCE. */
  secretHash: string | null
  redirectUris: string[]
}

const longestName = 80
/** The shape of every id, also of Zapier's in the environment; other text is unknown, and not every database accepts it. */
const idShape = /^[\x21-\x7e]{1,200}$/

/** The app of this id: Zapier from the environment, or one that the operator registered. */
export async function findOauthClient({ db, config }: Pick<Deps, 'db' | 'config'>, id: string): Promise<OauthClient | null> {
  const { zapier } = config
  if (zapier && id === zapier.clientId)
    return { id, name: 'Zapier', secretHash: hashToken(zapier.clientSecret), redirectUris: zapier.redirectUris }
  if (!idShape.test(id)) return null
  const [found] = await db.select().from(oauthClients).where(eq(oauthClients.id, id))
  return found ?? null
}

/** Registers an app. Its secret is returned this once; a public one has none. Refuses with `invalid`. */
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

/** The registered apps, the first one first. */
export async function listOauthClients(db: Database): Promise<OauthClient[]> {
  return db.select().from(oauthClients).orderBy(asc(oauthClients.createdAt), asc(oauthClients.id))
}

/** Removes an app with every grant. Returns its name; refuses with `not_found`. */
export async function removeOauthClient(db: Database, id: string): Promise<string> {
  return db.transaction(async (tx) => {
    const [gone] = await tx.delete(oauthClients).where(eq(oauthClients.id, id)).returning()
    if (!gone) throw new ProblemError('not_found', texts.oauthClient.unknown(id))
    await tx.delete(oauthGrants).where(eq(oauthGrants.clientId, id))
    return gone.name
  })
}
