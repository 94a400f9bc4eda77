import type { ReactNode } from 'react'
import { texts } from './texts.ts'

/** What the build does not know: it writes these, and the server puts its own facts in their place in every page. */
const placeholders = {
  address: '__DUELY_ADDRESS__',
  support: '__DUELY_SUPPORT__',
  payments: '__DUELY_PAYMENTS__',
  checkout: '__DUELY_CHECKOUT__',
}

/**
 * A fact that the server wrote into this page: its public address, where its operator can be reached (`/contact` where nowhere),
 * whether payments are set up (`on` or `off`), or whether this page lets the payment provider's checkout in. While the build writes the page it is not known yet.
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

/** What the browser's tab, search engines and those who are sent a link are told of a public page. */
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

/** What the build writes wherever a nonce belongs; the server puts a fresh one in its place in every page. */
const placeholder = '__DUELY_NONCE__'

/** The nonce of this page: browsers hide the attribute from scripts of others, the property stays readable. */
export function pageNonce(): string {
  if (typeof document === 'undefined') return placeholder
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
}
