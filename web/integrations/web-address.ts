import { applicationScheme } from '#contract/integrations.ts'

/**
 * An absolute address the browser may be sent to: http, https, a path of this origin, or an app's own scheme in reverse domain form. null
 * for any other, `javascript:` among them.
 */
export function webAddress(text: string, origin: string): string | null {
  try {
    const address = new URL(text, origin)
    if (text === '') return null
    return ['https:', 'http:'].includes(address.protocol) || applicationScheme.test(address.protocol) ? address.href : null
  } catch {
    return null
  }
}
