import type { FastifyRequest } from 'fastify'
import { ProblemError } from '#server/platform/problem-error.ts'
import { refusals } from './texts.ts'

/**
 * Refuses a request that a page of another host made a browser send: calls that live on the cookie need it, the others carry a token.
 * Browsers say where a request comes from in Sec-Fetch-Site (W3C Fetch Metadata). `same-site` is also a page of a sibling host, which gets the
 * cookie, and over plain http on a local network the header is missing: there Origin, which they send with every POST, is compared with the
 * address that was asked. With neither header it is no browser, so no foreign page.
 */
export function refuseOtherSites({ headers, host }: FastifyRequest, publicUrl: string): void {
  const { 'sec-fetch-site': site, origin } = headers
  if (site === 'same-origin' || site === 'none') return
  if (site === undefined && origin === undefined) return
  if (site === 'cross-site' || origin === undefined || !isOwn(origin, host, publicUrl))
    throw new ProblemError('not_allowed', refusals.foreignSite)
}

function isOwn(origin: string, host: string, publicUrl: string): boolean {
  const page = URL.parse(origin)
  return page !== null && (page.host === host || page.origin === new URL(publicUrl).origin)
}
