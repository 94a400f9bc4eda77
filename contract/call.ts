import type { z } from 'zod'

/** What people may be in a business, from the least to the most. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** The header by which a browser's tab names the business that a call is about. */
export const businessHeader = 'Duely-Business'

/** Whether a role is at least the one that is needed; what is one's own needs none. */
export function reaches(role: Role, needed: Role | 'self'): boolean {
  return needed === 'self' || roles.indexOf(role) >= roles.indexOf(needed)
}

const havingRole = { member: 'a member, an admin or the owner', admin: 'an admin or the owner', owner: 'the owner' }

/** Why someone may not do something in a business. Fixed by the specification. */
export const roleTexts = {
  needed: (role: keyof typeof havingRole, business: string, owner: string) =>
    `Only ${havingRole[role]} of ${business} can do this. Ask ${owner}.`,
  noTeamPlan: (business: string, owner: string) => `The plan of ${business} covers no team: you can look, ${owner} can change things.`,
}

/** What a call is: one HTTP request that browser and server agree on. Servers answer it, browsers send it, OpenAPI lists it. */
export interface Call<
  Params extends z.ZodType | undefined = z.ZodType | undefined,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Reply extends z.ZodType | undefined = z.ZodType | undefined,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Fastify's notation: `/invoice/:id`. */
  path: string
  /** One sentence for the reference. */
  summary: string
  params: Params
  query: Query
  body: Body
  /** What a success answers; undefined means 204 and no body. */
  reply: Reply
  /** The status of a success: 200, or 204 without a reply, unless said otherwise. */
  status: number
  /** Answered without a session. Calls are private unless they say so. */
  open: boolean
  /** The role in the business that a private call needs at least; `self`: none, for it is about the person. null: it is open. */
  by: Role | 'self' | null
  /** It changes nothing, as every GET; a POST only where its input needs a body. */
  reads: boolean
  /** The most bytes of a body. */
  bodyLimit: number
}

/** The most bytes of a body that is sent without a session, or that is not read; and of any other, unless its call says otherwise. */
export const bodyLimits = { open: 16 * 1024, private: 1024 * 1024 }

type CallDraft<P, Q, B, R> = ({ open: true; by?: never } | { open?: false; by: Role | 'self' }) & {
  method: Call['method']
  path: string
  summary: string
  params?: P
  query?: Q
  body?: B
  reply?: R
  status?: number
  reads?: boolean
  bodyLimit?: number
}

/** Completes a call's definition; it only fills in what was left out. */
export function call<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  R extends z.ZodType | undefined = undefined,
>(draft: CallDraft<P, Q, B, R>): Call<P, Q, B, R> {
  return {
    method: draft.method,
    path: draft.path,
    summary: draft.summary,
    params: draft.params as P,
    query: draft.query as Q,
    body: draft.body as B,
    reply: draft.reply as R,
    status: draft.status ?? (draft.reply ? 200 : 204),
    open: draft.open ?? false,
    by: draft.by ?? null,
    reads: draft.reads ?? draft.method === 'GET',
    bodyLimit: draft.bodyLimit ?? (draft.body && !draft.open ? bodyLimits.private : bodyLimits.open),
  }
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Given<S> = S extends z.ZodType ? z.input<S> : undefined
/** One without parameters may be left out, where the call needs none. */
type GivenQuery<S> = S extends z.ZodType ? (object extends z.input<S> ? z.input<S> | undefined : z.input<S>) : undefined
type Needed<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as T[K] extends undefined ? never : undefined extends T[K] ? K : never]?: T[K]
}

/** What a browser hands over: `{ params, query, body }`, only the parts that the call has. A nullish body, and a query that needs nothing, may be left out. */
export type CallInput<C extends Call> = Needed<{
  params: Given<C['params']>
  query: GivenQuery<C['query']>
  body: Given<C['body']>
}>

/** What a handler receives: the parts after validation, defaults filled in. */
export interface CallParts<C extends Call> {
  params: Parsed<C['params']>
  query: Parsed<C['query']>
  body: Parsed<C['body']>
}

/** What a success answers, as JSON reads it. */
export type CallReply<C extends Call> = C['reply'] extends z.ZodType ? z.output<C['reply']> : undefined

/** The ETag of a record whose version is in it: with If-Match, a change is refused where the record was changed meanwhile. */
export function tagOfVersion({ version }: { version: string }): string {
  return `"${version}"`
}
