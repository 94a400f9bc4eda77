import type { FastifyInstance, FastifyRequest } from 'fastify'

/** An answer to a call must do nothing in a browser that opens it as a page. */
const callPolicy = "default-src 'none'; frame-ancestors 'none'"

/** A script that a page runs as a worker may load the scripts that it needs. */
export const scriptPolicy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'"

/** Neither a page nor what it embeds may use these. `payment` is not among them, because the checkout may ask a wallet. */
const permissionsPolicy = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'serial',
  'usb',
]
  .map((feature) => `${feature}=()`)
  .join(', ')

/**
 * Headers of every answer (OWASP Secure Headers): no guessing of types, no framing, no address of a page to other sites, no sensors, and over https
 * nothing but https for two years. Pages bring a policy of their own.
 */
export function answerHeaders(request: FastifyRequest, about: { https: boolean }): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': callPolicy,
    'permissions-policy': permissionsPolicy,
    'x-request-id': request.id,
    ...(about.https ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}),
  }
}

/** A file that a browser saves under a name in any script; `plain`: for one that only reads ASCII (RFC 6266). */
export function attachment(name: string, plain: string): string {
  const shown = /^[\x20-\x7e]*$/.test(name) ? name : plain
  return `attachment; filename="${shown}"; filename*=UTF-8''${encodeURIComponent(name)}`
}

export function hardenAnswers(app: FastifyInstance, about: { https: boolean }): void {
  app.addHook('onRequest', async (request: FastifyRequest, reply) => {
    reply.headers(answerHeaders(request, about))
  })
}

/** Headers of a page that opens by a link alone: never stored, indexed or named to other sites. `allowed`: directives besides styles by the nonce. */
export function linkedPageHeaders(nonce: string, allowed: readonly string[] = []): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'nonce-${nonce}'`,
      ...allowed,
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
}

/** Where from a page may load besides this server, by directive. */
export type Sources = Readonly<
  Partial<Record<'script-src' | 'style-src-elem' | 'frame-src' | 'connect-src' | 'img-src', readonly string[]>>
>

/** The policy of a page: own files only, and inline what carries the nonce of this very answer. `more`: what this one page also needs. */
export function pagePolicy(nonce: string, more: Sources = {}): string {
  const and = (directive: keyof Sources) => (more[directive] ?? []).map((source) => ` ${source}`).join('')
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'${and('script-src')}`,
    // Where inline styles are let in there is no nonce: beside one, browsers do not heed 'unsafe-inline'.
    `style-src-elem 'self'${more['style-src-elem'] ? and('style-src-elem') : ` 'nonce-${nonce}'`}`,
    "style-src-attr 'unsafe-inline'",
    `img-src 'self' data:${and('img-src')}`,
    `connect-src 'self'${and('connect-src')}`,
    `frame-src 'self'${and('frame-src')}`,
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
