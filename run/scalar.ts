import reference from '@scalar/fastify-api-reference'
import fastify from 'fastify'

/*
 * The page /docs: renders /openapi.json and must load nothing from third parties: no fonts, no proxy, none of Scalar's services.
 */

/** Addresses and placeholders of the page. */
export interface ReferenceParts {
  script: string
  inter: string
  interExt: string
  bricolage: string
  /** The placeholder for the nonce. */
  nonce: string
  /** The placeholder for the server's address. */
  address: string
}

/** Scalar's script, as its package serves it. */
export async function scalarScript(): Promise<string> {
  const app = fastify()
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { body, statusCode } = await app.inject('/docs/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error(`Scalar's package serves no script at its known address: ${statusCode}.`)
  return body.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}

export function referencePage(parts: ReferenceParts): string {
  const options = {
    url: '/openapi.json',
    theme: 'none',
    withDefaultFonts: false,
    // Disables Scalar's services: proxy, cloud client, assistants, telemetry.
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    hideDarkModeToggle: true,
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'key' },
    orderSchemaPropertiesBy: 'preserve',
    orderRequiredPropertiesFirst: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" content="${parts.nonce}">
<title>API reference · Duely</title>
<meta name="description" content="All API calls of this Duely server, with examples and errors.">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="canonical" href="${parts.address}/docs">
<script src="/theme.js"></script>
<style nonce="${parts.nonce}">${look(parts)}</style>
</head>
<body>
<header class="duely"><a href="/">Duely</a> API reference</header>
<div id="reference"></div>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="${parts.script}"></script>
<script nonce="${parts.nonce}">
const dark = document.documentElement.classList.contains('dark')
Scalar.createApiReference('#reference', { ...${JSON.stringify(options)}, darkMode: dark, forceDarkModeState: dark ? 'dark' : 'light' })
</script>
</body>
</html>
`
}

/** Duely's palette in Scalar's variables. */
function look({ inter, interExt, bricolage }: ReferenceParts): string {
  return `
@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url("${inter}") format("woff2-variations"); unicode-range: U+0000-00FF, U+2000-206F; }
@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url("${interExt}") format("woff2-variations"); unicode-range: U+0100-02BA, U+20A0-20C0; }
@font-face { font-family: "Bricolage Grotesque Variable"; font-weight: 200 800; font-display: swap; src: url("${bricolage}") format("woff2-variations"); }
html { background: #f6f6f2; }
html.dark { background: #0b0e14; }
body { margin: 0; }
:root { --scalar-custom-header-height: 48px; }
.duely { position: sticky; top: 0; z-index: 100; box-sizing: border-box; height: 48px; padding: 0 20px; display: flex; align-items: center; gap: 12px; font: 14px "Inter Variable", system-ui, sans-serif; color: #5d6778; background: #ffffff; border-bottom: 1px solid #e3e3dc; }
.duely a { font: 700 18px "Bricolage Grotesque Variable", sans-serif; letter-spacing: -0.02em; color: #141922; text-decoration: none; }
.duely a:focus-visible { outline: 2px solid #2558d9; outline-offset: 2px; }
.dark .duely { color: #93a0b5; background: #121720; border-color: #232c3a; }
.dark .duely a { color: #e9edf4; }
section.section:focus-visible { outline: none; }
.light-mode {
  --scalar-color-1: #141922; --scalar-color-2: #5d6778; --scalar-color-3: #5d6778; --scalar-color-accent: #2558d9;
  --scalar-background-1: #f6f6f2; --scalar-background-2: #ffffff; --scalar-background-3: #e3e3dc; --scalar-background-accent: #2558d91a;
  --scalar-border-color: #c9c9bf; --scalar-button-1: #2f62e6; --scalar-button-1-color: #ffffff; --scalar-button-1-hover: #2558d9;
  --scalar-color-green: #0d6c47; --scalar-color-red: #b02e23; --scalar-color-yellow: #825700; --scalar-color-orange: #825700; --scalar-color-blue: #2558d9;
  --scalar-sidebar-background-1: #ffffff; --scalar-sidebar-border-color: #e3e3dc;
}
.dark-mode {
  --scalar-color-1: #e9edf4; --scalar-color-2: #93a0b5; --scalar-color-3: #93a0b5; --scalar-color-accent: #6b97ff;
  --scalar-background-1: #0b0e14; --scalar-background-2: #121720; --scalar-background-3: #19202c; --scalar-background-accent: #6b97ff1f;
  --scalar-border-color: #232c3a; --scalar-button-1: #3f74f5; --scalar-button-1-color: #ffffff; --scalar-button-1-hover: #6b97ff;
  --scalar-color-green: #3fcf8e; --scalar-color-red: #ff7063; --scalar-color-yellow: #f2b84b; --scalar-color-orange: #f2b84b; --scalar-color-blue: #6b97ff;
  --scalar-sidebar-background-1: #121720; --scalar-sidebar-border-color: #232c3a;
}
.light-mode, .dark-mode {
  --scalar-font: "Inter Variable", system-ui, sans-serif; --scalar-font-code: ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  --scalar-radius: 10px; --scalar-radius-lg: 10px; --scalar-radius-xl: 14px;
}
h1.section-header-label, .section-header-label h1, .section-header h1, .section-header h2 { font-family: "Bricolage Grotesque Variable", sans-serif; letter-spacing: -0.02em; }
`
}
