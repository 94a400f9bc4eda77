import type { ReactNode } from 'react'
import { texts } from './texts.ts'

/** Written by the build, replaced by the server in every page. */
const placeholders = {
  address: '__DUELY_ADDRESS__',
  support: '__DUELY_SUPPORT__',
  terms: '__DUELY_TERMS__',
  payments: '__DUELY_PAYMENTS__',
  checkout: '__DUELY_CHECKOUT__',
}

/**
 * A value that the server wrote into this page: its public address, the addresses of the operator's support and terms (empty without one),
 * whether payments are set up (`on` or `off`), and whether this page's security policy allows the payment provider's checkout. Unknown in a
 * prerendered page.
 */
export function pageMeta(name: keyof typeof placeholders): string {
  if (typeof document === 'undefined') return placeholders[name]
  return document.querySelector<HTMLMetaElement>(`meta[name="duely:${name}"]`)?.content ?? ''
}

interface PageMetaProps {
  title: string
  description: string
  /** From the root: `/features`. */
  path: string
}

/** Title, canonical address and Open Graph data of a public page. */
export function PageMeta({ title, description, path }: PageMetaProps): ReactNode {
  const address = `${pageMeta('address')}${path}`
  const picture = `${pageMeta('address')}/share.png`
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={description} />
      <link rel="canonical" href={address} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={texts.brand} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={address} />
      <meta property="og:image" content={picture} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={texts.picture} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}

/** Written by the build wherever a nonce belongs; the server replaces it with a fresh nonce in every page. */
const placeholder = '__DUELY_NONCE__'

/** The nonce of this page. Browsers hide the attribute; the property is readable. */
export function pageNonce(): string {
  if (typeof document === 'undefined') return placeholder
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
}
