import { sql } from 'drizzle-orm'
import {
  bigserial,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { DeliveredEvent, Scope, WebhookEvent } from '#contract/integrations.ts'
import { accounts, makerColumns, people } from '#server/accounts/tables.ts'
import { id, instant, newId, type PersonId } from '#server/platform/columns.ts'

/** Who made it: what it may do is what that person may at the moment. */
const madeBy = () => uuid().$type<PersonId>()

/** An app that may ask people for a grant, registered by the operator. Zapier comes from the environment instead. */
export const oauthClients = pgTable('oauth_clients', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** SHA-256 of its secret; null for a public client, which must use PKCE. */
  secretHash: text(),
  redirectUris: text().array().notNull(),
  createdAt: instant().notNull(),
})

/** A person's permission for an app; one each. Revoking deletes it with everything it gave access to. */
export const oauthGrants = pgTable(
  'oauth_grants',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    madeBy: madeBy()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    clientId: text().notNull(),
    clientName: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
  },
  (t) => [
    unique('oauth_grants_one').on(t.ownerId, t.madeBy, t.clientId),
    index('oauth_grants_made_by').on(t.madeBy),
    unique('oauth_grants_owner_id').on(t.ownerId, t.id),
  ],
)

/** An authorization code: valid for 60 s and once. Used ones are kept for a while, to detect reuse. */
export const oauthCodes = pgTable(
  'oauth_codes',
  {
    codeHash: text().primaryKey(),
    grantId: uuid()
      .notNull()
      .references(() => oauthGrants.id, { onDelete: 'cascade' }),
    redirectUri: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    /** S256 of the verifier; null without PKCE. */
    codeChallenge: text(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
  },
  (t) => [index('oauth_codes_grant').on(t.grantId), index('oauth_codes_expires').on(t.expiresAt)],
)

/** An address that invoices are imported from every day. */
export const sources = pgTable(
  'sources',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: uuid()
      .notNull()
      .$defaultFn(() => newId()),
    name: text().notNull(),
    url: text().notNull(),
    daysToPay: integer(),
    missingMeansPaid: boolean().notNull().default(false),
    createdAt: instant().notNull(),
    /** The local date of the last pull that was not by hand, and when the last one was tried: one that failed, or that the plan does not have, is none. */
    pulledFor: date({ mode: 'string' }).notNull(),
    triedAt: instant(),
    failures: integer().notNull().default(0),
    /** References that the file still has of invoices that were deleted here: they stay deleted. */
    deleted: text().array().notNull().default([]),
    ...makerColumns(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.id] })],
)

/** What looking at a watched address led to. The id is also that of the import. */
export const pulls = pgTable(
  'pulls',
  {
    ownerId: uuid().notNull(),
    id: uuid().notNull(),
    sourceId: uuid().notNull(),
    at: instant().notNull(),
    state: text({ enum: ['applied', 'waiting', 'failed'] }).notNull(),
    message: text(),
    imported: integer().notNull().default(0),
    updated: integer().notNull().default(0),
    unchanged: integer().notNull().default(0),
    refused: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.id] }),
    foreignKey({ columns: [t.ownerId, t.sourceId], foreignColumns: [sources.ownerId, sources.id] }).onDelete('cascade'),
    index('pulls_source').on(t.ownerId, t.sourceId, t.at),
  ],
)

/** A token of an app, stored as a hash only. */
export const oauthTokens = pgTable(
  'oauth_tokens',
  {
    tokenHash: text().primaryKey(),
    kind: text({ enum: ['access', 'refresh'] }).notNull(),
    grantId: uuid()
      .notNull()
      .references(() => oauthGrants.id, { onDelete: 'cascade' }),
    /** The code that it descends from: when that is reused, all of these end. */
    codeHash: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    /** null: until the grant is revoked. */
    expiresAt: instant(),
  },
  (t) => [
    index('oauth_tokens_grant').on(t.grantId),
    index('oauth_tokens_code').on(t.codeHash),
    index('oauth_tokens_expires').on(t.expiresAt).where(sql`${t.expiresAt} IS NOT NULL`),
  ],
)

/** A key for a person's own programs, stored as a hash only. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    madeBy: madeBy()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    keyHash: text().notNull().unique(),
    /** Its last four characters, to tell keys apart. */
    ending: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant(),
    lastUsedAt: instant(),
    offeredTo: makerColumns().offeredTo,
  },
  (t) => [index('api_keys_owner').on(t.ownerId), index('api_keys_made_by').on(t.madeBy)],
)

/** A URL that receives events. */
export const webhooks = pgTable(
  'hooks',
  {
    id: id(),
    ownerId: uuid().notNull(),
    /** Added by a person, or by a Zap that was turned on. */
    kind: text({ enum: ['webhook', 'zapier'] }).notNull(),
    /** The grant of a Zap's webhook, which ends with it. */
    grantId: uuid(),
    /** null for a Zap, which ends with its grant. */
    madeBy: madeBy().references(() => people.id, { onDelete: 'set null' }),
    url: text().notNull(),
    /** The signing secret, sealed, bound to this row. */
    sealedSecret: text().notNull(),
    events: text().array().$type<WebhookEvent[]>().notNull(),
    createdAt: instant().notNull(),
    /** Failed tries in a row. */
    failures: integer().notNull().default(0),
    pausedBecause: text({ enum: ['by_hand', 'failing'] }),
    lastDeliveredAt: instant(),
    /** When its URL answered a challenge; null until then. Events wait for it. */
    verifiedAt: instant(),
    /** Events that were not queued because too many waited: how many, and when the last one was. */
    skipped: integer().notNull().default(0),
    lastSkippedAt: instant(),
    offeredTo: makerColumns().offeredTo,
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.grantId], foreignColumns: [oauthGrants.ownerId, oauthGrants.id] }).onDelete('cascade'),
    unique('hooks_owner_id').on(t.ownerId, t.id),
    index('hooks_grant').on(t.grantId),
    index('hooks_made_by').on(t.madeBy),
    uniqueIndex('hooks_one_zap').on(t.ownerId, t.url, t.events).where(sql`${t.kind} = 'zapier'`),
  ],
)

/**
 * Something that happened in an account with webhooks: written by triggers on invoices and deliveries, in the same transaction. `facts` are
 * the rows as they were then, until the body is composed of them.
 */
export const webhookEvents = pgTable(
  'hook_events',
  {
    id: id(),
    /** The order in which they happened. */
    position: bigserial({ mode: 'number' }).notNull(),
    ownerId: uuid().notNull(),
    type: text().$type<DeliveredEvent>().notNull(),
    /** null where the row does not have the time: then it is the time of composing. */
    happenedAt: instant(),
    facts: jsonb().notNull(),
    /** The body as it is delivered, once composed and queued for the webhooks. */
    payload: text(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    unique('hook_events_owner_id').on(t.ownerId, t.id),
    index('hook_events_new').on(t.position).where(sql`${t.payload} IS NULL`),
    index('hook_events_happened').on(t.happenedAt),
  ],
)

/** One event for one webhook. */
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
    /** null also while it waits until the webhook is verified. */
    nextTryAt: instant(),
    lastTriedAt: instant(),
    /** The HTTP status of the last response, and its beginning, or why there was none. */
    status: integer(),
    words: text(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.hookId], foreignColumns: [webhooks.ownerId, webhooks.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.eventId], foreignColumns: [webhookEvents.ownerId, webhookEvents.id] }).onDelete('cascade'),
    unique('hook_deliveries_one').on(t.hookId, t.eventId),
    index('hook_deliveries_event').on(t.eventId),
    // `attempt >= 0` is always true: only the statement about all webhooks repeats it, so one about a single webhook never uses this index.
    index('hook_deliveries_due').on(t.nextTryAt).where(sql`${t.state} = 'waiting' AND ${t.attempt} >= 0`),
    index('hook_deliveries_waiting').on(t.hookId, t.nextTryAt, t.id).where(sql`${t.state} = 'waiting'`),
    index('hook_deliveries_newest').on(t.hookId, t.id),
    // Below 0 it would be in no index of what waits.
    check('hook_deliveries_attempt', sql`${t.attempt} >= 0`),
  ],
)

/** When a host of receivers may next be called, over all accounts. By the database's clock. */
export const webhookHosts = pgTable('hook_hosts', {
  host: text().primaryKey(),
  nextCallAt: instant().notNull(),
})
