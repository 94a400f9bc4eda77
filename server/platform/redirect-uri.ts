import { applicationScheme } from '#contract/integrations.ts'

const longest = 2_000

/**
 * What is wrong with an address that an application wants people sent back to; null where nothing is. Addresses are compared letter by letter
 * later on, so one that a browser would rewrite never fits. https; http only to the person's own machine; a scheme of its own only in the form
 * of a reversed domain name (RFC 8252, 7.1 and 7.3), which keeps `javascript:` and its like out.
 */
export function wrongRedirectUri(uri: string): string | null {
  if (uri.length > longest) return 'is too long'
  if (!URL.canParse(uri)) return 'is not an address'
  const { protocol, hostname, username, password, hash, href } = new URL(uri)
  if (hash !== '' || uri.includes('#')) return 'must not contain a fragment (#)'
  if (username !== '' || password !== '') return 'must not contain a user name or password'
  if (applicationScheme.test(protocol)) return null
  const own = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && own)) return 'must begin with https:'
  return href === uri || href === `${uri}/` ? null : `must be written as browsers do: ${href}`
}
