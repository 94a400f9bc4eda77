import { prerender } from 'react-dom/static'
import { type EntryContext, ServerRouter } from 'react-router'
import { pageNonce } from '#web/platform/page-meta.tsx'
import { incompleteId } from '#web/shell/screen-frame.tsx'

/** Prerenders the public pages and the fallback at build time; never runs in the server. */
export default async function writePage(request: Request, status: number, headers: Headers, context: EntryContext): Promise<Response> {
  const { prelude } = await prerender(<ServerRouter context={context} url={request.url} nonce={pageNonce()} />)
  headers.set('content-type', 'text/html')
  return new Response(firstPaintFirst(await new Response(prelude).text()), { status, headers })
}

/**
 * Paint before hydration: on a slow connection the scripts would delay styles and fonts, and scripts that have arrived would run before
 * the first paint. A background tab never paints, so it does not wait. If a script does not arrive, the page shows a notice.
 */
function firstPaintFirst(page: string): string {
  // In development the script differs, and speed does not matter.
  if (!import.meta.env.PROD) return page
  const preload = /<link rel="modulepreload"[^>]*? href="([^"]*)"[^>]*>/g
  const fetched = [...page.matchAll(preload)].map(([, address]) => address)
  const script = /(?<=<script[^>]* type="module" async="">)(?:(?!<\/script>).)+/s
  const begun = script
    .exec(page)?.[0]
    .replace(/^import \* as (\w+) from ("[^"]*")/gm, 'const $1 = await import($2)')
    .replace(/^import ?(?:("[^"]*")|\(("[^"]*")\))/gm, 'await import($1$2)')
  if (fetched.length === 0 || !begun?.includes('= await import("'))
    throw new Error('A page is written in another way than this was made for.')
  const after = [
    "if (document.visibilityState !== 'hidden') await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));",
    `for (const href of ${JSON.stringify(fetched)}) document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));`,
    `try { ${begun} } catch (error) { document.getElementById('${incompleteId}').hidden = false; throw error }`,
  ].join('\n')
  return page.replace(preload, '').replace(script, () => after)
}
