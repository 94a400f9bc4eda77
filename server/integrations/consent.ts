import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type ConsentQuestion, ownClientId, ownRedirectPath, scope } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { lockAsSeen, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { refuseBelow } from '#server/accounts/roles.ts'
import type { Account, Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, sameText, seal, unseal } from '#server/platform/secrets.ts'
import { notifyAccessGranted, subscribeToZapier } from './integrations.ts'
import { findOauthClient, type OauthClient } from './oauth-clients.ts'
import { type Asked, issueCode } from './provider.ts'
import { oauthGrants } from './tables.ts'
import { texts } from './texts.ts'

type Asking = Pick<Deps, 'db' | 'config'>

/** What a browser brings to the consent page, and the page to the server. */
interface Brought {
  request: string
  redirect_uri: string
  state: string
}

const purpose = 'oauth-request'
const requestLife = { seconds: 600 }

/** A valid request, sealed, so that the browser can carry it to the consent page but neither read nor change it. */
const kept = z.object({
  clientId: z.string(),
  redirectHash: z.string(),
  /** null where the app sent no state. */
  stateHash: z.string().nullable(),
  scopes: z.array(scope),
  codeChallenge: z.string().nullable(),
  expiresAt: instantText,
})

/** Seals a request for ten minutes. */
export function keepRequest(secretKey: string, clientId: string, asked: Asked, now: Instant): string {
  const { redirectUri, state, scopes, codeChallenge } = asked
  const request: z.input<typeof kept> = {
    clientId,
    redirectHash: hashToken(redirectUri),
    stateHash: state === null ? null : hashToken(state),
    scopes,
    codeChallenge,
    expiresAt: now.add(requestLife).toString(),
  }
  return seal(secretKey, purpose, purpose, JSON.stringify(request))
}

/**
 * The question of the consent page. Refuses with `invalid` what does not belong together, and with `link_expired` what is older than ten
 * minutes.
 */
export async function readQuestion(deps: Asking, brought: Brought, now: Instant): Promise<ConsentQuestion> {
  const { publicUrl } = deps.config
  const found = await readBrought(deps, brought, now)
  if (!found)
    return { application: 'Duely', own: true, scopes: scope.options, returnsTo: new URL(publicUrl).host, refuseUrl: screens.dashboard }
  const { client, asked } = found
  const { host, protocol } = new URL(asked.redirectUri)
  return {
    application: client.name,
    own: false,
    scopes: asked.scopes,
    // An app on the person's own machine may have a scheme of its own and no host.
    returnsTo: host || protocol,
    refuseUrl: returnTo(asked, publicUrl, { error: 'access_denied', error_description: 'The person said no.' }),
  }
}

/** Stores the grant, one per app, and returns where the browser continues. */
export async function allow(deps: Deps, principal: Principal, brought: Brought, from: Origin, now: Instant): Promise<string> {
  const { db, config } = deps
  const { account } = principal
  const found = await readBrought(deps, brought, now)
  // Any member may use the screens of Duely itself; other apps are connected by admins.
  if (found) await refuseBelow(db, principal, 'admin')
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const granted = found ? { id: found.client.id, name: found.client.name, scopes: found.asked.scopes } : own
    const grantId = await writeGrant(tx, account, granted, now)
    await writeAudit(tx, { ownerId: account.id, kind: 'application_allowed', about: granted.name }, from, now)
    if (!found) return withParameters(brought.redirect_uri, brought.state === '' ? {} : { state: brought.state })
    const { client, asked } = found
    await notifyAccessGranted(tx, deps, account, 'app', now)
    if (client.id === config.zapier?.clientId) await subscribeToZapier(tx, account.id, true)
    return returnTo(asked, config.publicUrl, { code: await issueCode(tx, grantId, asked, now) })
  })
}

/** The app's redirect address with the answer to its request, `state` and `iss` (RFC 6749, 4.1.2; RFC 9207). */
export function returnTo(asked: Pick<Asked, 'redirectUri' | 'state'>, publicUrl: string, parameters: Record<string, string>): string {
  return withParameters(asked.redirectUri, { ...parameters, ...(asked.state === null ? {} : { state: asked.state }), iss: publicUrl })
}

const own = { id: ownClientId, name: 'Duely', scopes: scope.options }

/** The app and its request, where all three belong together; null where Duely itself asks. */
async function readBrought(deps: Asking, brought: Brought, now: Instant): Promise<{ client: OauthClient; asked: Asked } | null> {
  const { config } = deps
  const { request, redirect_uri: redirectUri, state } = brought
  if (request === '') {
    if ([ownRedirectPath, config.publicUrl + ownRedirectPath].includes(redirectUri)) return null
    throw wrong()
  }
  const asked = unsealed(config.secretKey, request)
  if (!asked || !sameText(hashToken(redirectUri), asked.redirectHash) || hashOrNull(state, asked) !== asked.stateHash) throw wrong()
  if (Temporal.Instant.compare(asked.expiresAt, now) <= 0) throw new ProblemError('link_expired', texts.consent.expired)
  const client = await findOauthClient(deps, asked.clientId)
  // The operator may have changed the app in these ten minutes.
  if (!client?.redirectUris.includes(redirectUri)) throw wrong()
  const { scopes, codeChallenge, stateHash } = asked
  return { client, asked: { redirectUri, state: stateHash === null ? null : state, scopes, codeChallenge } }
}

/** The page sends '' where the app sent no state. */
function hashOrNull(state: string, { stateHash }: z.output<typeof kept>): string | null {
  return state === '' && stateHash === null ? null : hashToken(state)
}

function unsealed(secretKey: string, request: string): z.output<typeof kept> | null {
  try {
    return kept.parse(JSON.parse(unseal(secretKey, purpose, purpose, request)))
  } catch {
    return null
  }
}

function wrong(): ProblemError {
  return new ProblemError('invalid', texts.consent.incomplete)
}

async function writeGrant(
  tx: Database,
  account: Pick<Account, 'id' | 'person'>,
  { id, name, scopes }: { id: string; name: string; scopes: Asked['scopes'] },
  now: Instant,
): Promise<string> {
  const [grant] = await tx
    .insert(oauthGrants)
    .values({ ownerId: account.id, madeBy: account.person.id, clientId: id, clientName: name, scopes, createdAt: now })
    .onConflictDoUpdate({
      target: [oauthGrants.ownerId, oauthGrants.madeBy, oauthGrants.clientId],
      set: {
        clientName: name,
        // Earlier tokens keep their scopes; the grant is the union.
        scopes: sql`(SELECT array_agg(DISTINCT one ORDER BY one) FROM unnest(${oauthGrants.scopes} || excluded.scopes) one)`,
      },
    })
    .returning({ id: oauthGrants.id })
  if (!grant) throw new Error('A grant was neither stored nor there.')
  return grant.id
}

/** The registered address must stay as it was written, so URL must not normalize it. */
function withParameters(address: string, parameters: Record<string, string>): string {
  const more = new URLSearchParams(parameters).toString()
  if (more === '') return address
  return `${address}${address.includes('?') ? '&' : '?'}${more}`
}
