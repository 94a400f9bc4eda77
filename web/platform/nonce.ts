/** What the build writes wherever a nonce belongs; the server puts a fresh one in its place in every page. */
const placeholder = '__DUELY_NONCE__'

/** The nonce of this page: browsers hide the attribute from scripts of others, the property stays readable. */
export function pageNonce(): string {
  if (typeof document === 'undefined') return placeholder
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
}
