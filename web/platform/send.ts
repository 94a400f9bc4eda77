import { businessHeader, type Call, type CallInput, type CallReply } from '#contract/call.ts'
import { Problem, readProblem } from './problem.ts'
import { refreshSession } from './refresh.ts'
import { keepBusiness, openBusiness, readBusiness } from './session.ts'
import { texts } from './texts.ts'

/** Longer than the longest call (sending reminders answers after 20 s at the latest). */
const timeout = 45_000

type WithoutQuery<I> = Omit<I, 'query'>
/** `{ params, query, body }`, only the parts that the call has; a query is optional. */
export type SendInput<C extends Call> = CallInput<C> extends { query: infer Q } ? WithoutQuery<CallInput<C>> & { query?: Q } : CallInput<C>
/** Optional for calls without input. */
export type SendArgument<C extends Call> = Record<never, never> extends SendInput<C> ? [input?: SendInput<C>] : [input: SendInput<C>]

interface Parts {
  params?: unknown
  query?: unknown
  body?: unknown
}

interface Extras {
  signal: AbortSignal | null
  /** The Idempotency-Key. */
  key: string | null
  /** The ETag that the changed record must still have. */
  tag?: string
}

/**
 * Sends a call and returns its reply. Throws a Problem. A call that is refused because the access token expired is repeated once with a
 * new token; without one the session ends and the screen redirects to /signin.
 */
export async function send<C extends Call>(call: C, ...[input]: SendArgument<C>): Promise<CallReply<C>> {
  return sendWithSignal(call, input ?? {}, null)
}

/** `send` with an AbortSignal. */
export async function sendWithSignal<C extends Call>(call: C, input: Parts, signal: AbortSignal | null): Promise<CallReply<C>> {
  return sendWith(call, input, { signal, key: null })
}

/** A new Idempotency-Key. Works over plain http, where there is no `crypto.randomUUID`. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('')
}

/** `send` with an Idempotency-Key, so that a retry has no second effect. Only for calls that support it. */
export async function sendIdempotent<C extends Call>(call: C, input: SendInput<C>, key: string): Promise<CallReply<C>> {
  return sendWith(call, input, { signal: null, key })
}

/** `send` of a change to a record as it was under this ETag: refused with `changed_meanwhile` where it has another one. */
export async function sendMatching<C extends Call>(call: C, input: SendInput<C>, tag: string): Promise<CallReply<C>> {
  return sendWith(call, input, { signal: null, key: null, tag })
}

/** `send` with a file as the body, under its own content type. */
export async function sendFile<C extends Call>(call: C, input: SendInput<C>, file: Blob): Promise<CallReply<C>> {
  return sendWith(call, { ...input, body: file }, { signal: null, key: null })
}

async function sendWith<C extends Call>(call: C, input: Parts, extras: Extras): Promise<CallReply<C>> {
  const response = await answered(call, input, extras)
  const reply: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined)
  if (call.reply && reply === undefined) throw new Problem('fault', texts.unexpected)
  // The server has validated the reply against the contract.
  return reply as CallReply<C>
}

/** How often a call that is sent too often is sent again, and the longest wait before that, in seconds. */
export const mostWaits = 5
const longestWait = 60

/** In how many ms a refused call may be sent again; null where it must not be. */
export function waitFor(error: unknown): number | null {
  if (!(error instanceof Problem) || error.code !== 'too_many') return null
  return error.retryAfter === null || error.retryAfter > longestWait ? null : error.retryAfter * 1000
}

/** For calls that are made in bursts: one that is refused because there were too many is sent again after the time that the server asks for. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await work()
    } catch (error) {
      const wait = waitFor(error)
      if (wait === null || waits >= mostWaits) throw error
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

/** Sends a call that returns a file: its bytes, and the name from Content-Disposition. */
export async function fetchFile<C extends Call>(call: C, input: SendInput<C>): Promise<{ bytes: Blob; name: string }> {
  const response = await patiently(() => answered(call, input, { signal: null, key: null }))
  const disposition = response.headers.get('content-disposition') ?? ''
  const [, encoded] = /filename\*=UTF-8''([^;]+)/.exec(disposition) ?? []
  const name = encoded === undefined ? (/filename="([^"]+)"/.exec(disposition)?.[1] ?? 'duely') : decodeURIComponent(encoded)
  const bytes = await response.blob().catch(() => null)
  if (!bytes) throw new Problem('offline', texts.fileCutOff)
  return { bytes, name }
}

async function answered(call: Call, input: Parts, extras: Extras): Promise<Response> {
  const token = localStorage.getItem('accessToken')
  let response = await request(call, input, token, extras)
  if (response.status === 401 && !call.open && token) {
    const problem = await readProblem(response.clone())
    if (problem.code === 'not_signed_in' && (await refreshSession(token)))
      response = await request(call, input, localStorage.getItem('accessToken'), extras)
  }
  if (!call.open && token) {
    followBusiness(response)
    // Sent before this tab knew its business, and answered about the one that another tab chose meanwhile.
    if (call.method === 'GET' && isAboutAnother(response))
      response = await request(call, input, localStorage.getItem('accessToken'), extras)
  }
  if (!response.ok) throw await readProblem(response)
  return response
}

let sentAway = false

/** A tab keeps to the business of its first answer, whatever another tab chooses. An answer about none comes where the person is no member any more. */
function followBusiness({ status, headers }: Response): void {
  const known = readBusiness()
  const about = headers.get(businessHeader)
  if (known === null && about !== null) keepBusiness(about)
  if (known === null || about !== null || status !== 404 || sentAway) return
  // Once: someone who keeps an unsaved form must not be asked at every answer.
  sentAway = true
  openBusiness(null, '/dashboard')
}

function isAboutAnother({ headers }: Response): boolean {
  const [known, about] = [readBusiness(), headers.get(businessHeader)]
  return known !== null && about !== null && known !== about
}

async function request(call: Call, input: Parts, token: string | null, { signal, key, tag }: Extras): Promise<Response> {
  const late = AbortSignal.timeout(timeout)
  const business = token && !call.open ? readBusiness() : null
  try {
    return await fetch(address(call, input), {
      method: call.method,
      credentials: 'include',
      headers: {
        accept: 'application/json',
        ...(input.body === undefined ? {} : { 'content-type': input.body instanceof Blob ? input.body.type : 'application/json' }),
        ...(key === null ? {} : { 'idempotency-key': key }),
        ...(tag === undefined ? {} : { 'if-match': tag }),
        ...(token && !call.open ? { authorization: `Bearer ${token}` } : {}),
        ...(business === null ? {} : { [businessHeader]: business }),
      },
      ...(input.body === undefined ? {} : { body: input.body instanceof Blob ? input.body : JSON.stringify(input.body) }),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw late.aborted ? new Problem('offline', texts.tooSlow) : new Problem('offline', texts.unreachable)
  }
}

/** The path with its parameters, and the query string. */
function address(call: Call, { params, query }: Parts): string {
  const values = new Map(Object.entries(params ?? {}))
  const path = call.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values.get(name) ?? '')))
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined && value !== '') asked.set(name, String(value))
  return asked.size > 0 ? `${path}?${asked}` : path
}

/** Downloads a file that is in memory. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Some browsers read the address only after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
