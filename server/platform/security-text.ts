import type { App } from './answer.ts'
import type { Deps } from './deps.ts'

/** RFC 9116 wants less than a year. */
const validFor = { hours: 180 * 24 }

/** Where to report a vulnerability (RFC 9116); without a contact there is no such file. */
export function securityTextRoute(app: App, { config, clock }: Pick<Deps, 'config' | 'clock'>): void {
  const { securityContact, publicUrl } = config
  if (securityContact === null) return
  const path = '/.well-known/security.txt'
  app.get(path, { schema: { hide: true } }, (_request, reply) => {
    const expires = clock.now().add(validFor).round('second')
    const lines = [`Contact: ${securityContact}`, `Expires: ${expires}`, 'Preferred-Languages: en', `Canonical: ${publicUrl}${path}`]
    return reply.headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' }).send(`${lines.join('\n')}\n`)
  })
}
