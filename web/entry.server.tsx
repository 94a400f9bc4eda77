import { prerender } from 'react-dom/static'
import { type EntryContext, ServerRouter } from 'react-router'
import { pageNonce } from '#web/platform/nonce.ts'

/** Writes the public pages and the fallback at build time; nothing of this runs while the program serves. */
export default async function writePage(request: Request, status: number, headers: Headers, context: EntryContext): Promise<Response> {
  const { prelude } = await prerender(<ServerRouter context={context} url={request.url} nonce={pageNonce()} />)
  headers.set('content-type', 'text/html')
  // Over a slow line the scripts would arrive before the styles and the fonts, without which there is nothing to see.
  const page = (await new Response(prelude).text()).replaceAll('rel="modulepreload"', 'rel="modulepreload" fetchpriority="low"')
  return new Response(page, { status, headers })
}
