import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What only a page may do; an answer to a call may do nothing in a browser that shows it by itself. */
const callPolicy = "default-src 'none'; frame-ancestors 'none'"

/**
 * Headers of every answer (OWASP Secure Headers): no guessing of types, no framing, no address of a page to other sites, and over https
 * nothing but https for two years. Pages bring a policy of their own.
 */
export function hardenAnswers(app: FastifyInstance, about: { https: boolean }): void {
  app.addHook('onRequest', async (request: FastifyRequest, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': callPolicy,
      'x-request-id': request.id,
      ...(about.https ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}),
    })
  })
}

/** The policy of a page: own files only, and inline what carries the nonce of this very answer. */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
