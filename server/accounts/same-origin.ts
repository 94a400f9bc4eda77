import type { FastifyRequest } from 'fastify'
import { ProblemError } from '#server/platform/problem-error.ts'
import { refusals } from './texts.ts'

/**
 * Refuses a request that a page of another site made a browser send: calls that live on the cookie need it, the others carry a token.
 * Browsers say where a request comes from in Sec-Fetch-Site (W3C Fetch Metadata); over plain http on a local network they do not, and
 * Origin, which they send with every POST, is compared with the address that was asked. Neither is there: no browser, no foreign page.
 */
export function refuseOtherSites(request: FastifyRequest, publicUrl: string): void {
  const site = request.headers['sec-fetch-site']
  const origin = request.headers.origin
  const own = site === undefined ? origin === undefined || isOwn(origin, request.host, publicUrl) : site !== 'cross-site'
  if (!own) throw new ProblemError('not_allowed', refusals.foreignSite)
}

function isOwn(origin: string, host: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  return new URL(origin).host === host || new URL(origin).origin === new URL(publicUrl).origin
}
