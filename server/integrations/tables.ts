import { sql } from 'drizzle-orm'
import { bigserial, foreignKey, index, integer, jsonb, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Scope, WebhookEvent } from '#contract/integrations.ts'
import { accounts } from '#server/accounts/tables.ts'
import { id, instant } from '#server/platform/columns.ts'

/** An application that may ask people for their permission, registered by the operator. Zapier is known by the environment instead. */
export const oauthClients = pgTable('oauth_clients', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** SHA-256 of its secret; null for an application that can keep none, which has to use PKCE. */
  secretHash: text(),
  redirectUris: text().array().notNull(),
  createdAt: instant().notNull(),
})

/** The permission that a person gave to an application; one each. Taking it back deletes it, and all that it opened with it. */
export const oauthGrants = pgTable(
  'oauth_grants',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    clientId: text().notNull(),
    clientName: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
  },
  (t) => [unique('oauth_grants_one').on(t.ownerId, t.clientId), unique('oauth_grants_owner_id').on(t.ownerId, t.id)],
)

/** A code on its way to an application: good for 60 s and once. Used ones are kept for a while, to notice when one comes again. */
export const oauthCodes = pgTable(
  'oauth_codes',
  {
    codeHash: text().primaryKey(),
    grantId: uuid()
      .notNull()
      .references(() => oauthGrants.id, { onDelete: 'cascade' }),
    redirectUri: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    /** S256 of the verifier; null where the application did not ask for PKCE. */
    codeChallenge: text(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
  },
  (t) => [index('oauth_codes_grant').on(t.grantId), index('oauth_codes_expires').on(t.expiresAt)],
)

/** A token that an application holds, known by its hash alone. */
export const oauthTokens = pgTable(
  'oauth_tokens',
  {
    tokenHash: text().primaryKey(),
    kind: text({ enum: ['access', 'refresh'] }).notNull(),
    grantId: uuid()
      .notNull()
      .references(() => oauthGrants.id, { onDelete: 'cascade' }),
    /** The code that it goes back to: where that comes a second time, all of these end. */
    codeHash: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    /** null: until the permission is taken back. */
    expiresAt: instant(),
  },
  (t) => [
    index('oauth_tokens_grant').on(t.grantId),
    index('oauth_tokens_code').on(t.codeHash),
    index('oauth_tokens_expires').on(t.expiresAt).where(sql`${t.expiresAt} IS NOT NULL`),
  ],
)

/** A key for programs of one's own, known by its hash alone. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    keyHash: text().notNull().unique(),
    /** Its last four characters, to tell keys apart. */
    ending: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant(),
    lastUsedAt: instant(),
  },
  (t) => [index('api_keys_owner').on(t.ownerId)],
)

/** An address that is told of what happens. */
export const webhooks = pgTable(
  'hooks',
  {
    id: id(),
    ownerId: uuid().notNull(),
    /** Added by a person, or by a Zap that was switched on. */
    kind: text({ enum: ['webhook', 'zapier'] }).notNull(),
    /** The permission that a Zap's webhook lives by. */
    grantId: uuid(),
    url: text().notNull(),
    /** What signatures are made with, sealed, bound to this row. */
    sealedSecret: text().notNull(),
    events: text().array().$type<WebhookEvent[]>().notNull(),
    createdAt: instant().notNull(),
    /** Failed tries in a row. */
    failures: integer().notNull().default(0),
    pausedBecause: text({ enum: ['by_hand', 'failing'] }),
    lastDeliveredAt: instant(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.grantId], foreignColumns: [oauthGrants.ownerId, oauthGrants.id] }).onDelete('cascade'),
    unique('hooks_owner_id').on(t.ownerId, t.id),
    index('hooks_grant').on(t.grantId),
    uniqueIndex('hooks_one_zap').on(t.ownerId, t.url, t.events).where(sql`${t.kind} = 'zapier'`),
  ],
)

/**
 * Something that happened, for an account that somebody listens to: written by triggers on invoices and deliveries, in the transaction in
 * which it happens. `facts` are the rows as they were then, until the body is composed of them.
 */
export const webhookEvents = pgTable(
  'hook_events',
  {
    id: id(),
    /** The order in which they happened. */
    position: bigserial({ mode: 'number' }).notNull(),
    ownerId: uuid().notNull(),
    type: text().$type<WebhookEvent | 'test'>().notNull(),
    /** null where the row that it happened to does not say: then it is when it was noticed. */
    happenedAt: instant(),
    facts: jsonb().notNull(),
    /** The body as it is delivered, once it has been composed and handed to those who listen. */
    payload: text(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    unique('hook_events_owner_id').on(t.ownerId, t.id),
    index('hook_events_new').on(t.position).where(sql`${t.payload} IS NULL`),
    index('hook_events_happened').on(t.happenedAt),
  ],
)

/** One event for one receiver. */
export const webhookDeliveries = pgTable(
  'hook_deliveries',
  {
    id: id(),
    ownerId: uuid().notNull(),
    hookId: uuid().notNull(),
    eventId: uuid().notNull(),
    state: text({ enum: ['waiting', 'delivered', 'failed'] }).notNull(),
    createdAt: instant().notNull(),
    attempt: integer().notNull().default(0),
    nextTryAt: instant(),
    lastTriedAt: instant(),
    /** The HTTP status of the last answer, and its beginning, or why none came. */
    status: integer(),
    words: text(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.hookId], foreignColumns: [webhooks.ownerId, webhooks.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.eventId], foreignColumns: [webhookEvents.ownerId, webhookEvents.id] }).onDelete('cascade'),
    unique('hook_deliveries_one').on(t.hookId, t.eventId),
    index('hook_deliveries_event').on(t.eventId),
    index('hook_deliveries_due').on(t.nextTryAt).where(sql`${t.state} = 'waiting'`),
    index('hook_deliveries_waiting').on(t.hookId, t.nextTryAt, t.id).where(sql`${t.state} = 'waiting'`),
    index('hook_deliveries_newest').on(t.hookId, t.id),
  ],
)
