/** The whole of an address that a browser may be sent to: http, https, or a path of this origin. null for any other, `javascript:` among them. */
export function webAddress(text: string, origin: string): string | null {
  try {
    const address = new URL(text, origin)
    return text !== '' && (address.protocol === 'https:' || address.protocol === 'http:') ? address.href : null
  } catch {
    return null
  }
}
