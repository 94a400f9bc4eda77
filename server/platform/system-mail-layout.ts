import { escapeHtml } from '#contract/templates.ts'

/** What a system email contains, in Duely's own words: but for `quote`, no name, reply or other text of a stranger may be part of it. */
export interface SystemMailContent {
  subject: string
  /** Paragraphs before the button. */
  before: string[]
  /** What a client said, of several lines: shown as text below that. */
  quote?: string | undefined
  /** The one thing to do: a screen of the client, with its token where it has one. */
  button: { label: string; path: string }
  /** Paragraphs after the button. */
  after?: string[]
  /** What ends emails of this kind: the page and, by POST, the call of this address. */
  unsubscribe?: { label: string; path: string }
}

const signature = 'Duely'
const fonts = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const paragraph = 'margin:0 0 16px;font-size:16px;line-height:24px'
/** Inline styles cannot react to a dark screen, so these classes replace their colours there. */
const dark = `@media (prefers-color-scheme:dark){.page{background:#0b0e14!important}.card{background:#121720!important;border-color:#232c3a!important;color:#e9edf4!important}.dim{color:#93a0b5!important}}`

const quoted = (text: string) =>
  `\n<blockquote style="${paragraph};padding-left:12px;border-left:3px solid #c9c9bf">${escapeHtml(text).replaceAll('\n', '<br>')}</blockquote>`

/** The text part and the HTML part of a system email. */
export function layOut(
  publicUrl: string,
  { subject, before, quote, button, after = [], unsubscribe }: SystemMailContent,
): { text: string; html: string } {
  const address = publicUrl + button.path
  const ending = unsubscribe && { label: unsubscribe.label, address: publicUrl + unsubscribe.path }
  const paragraphs = (all: string[]) =>
    all.map((one) => `<p style="${paragraph}">${escapeHtml(one).replaceAll('\n', '<br>')}</p>`).join('\n')
  return {
    text: `${[...before, ...(quote === undefined ? [] : [quote.replace(/^/gm, '> ')]), `${button.label}:\n${address}`, ...after, ...(ending ? [`${ending.label}:\n${ending.address}`] : []), signature].join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${dark}</style>
</head>
<body class="page" style="margin:0;padding:24px 12px;background:#f6f6f2">
<div class="card" style="max-width:520px;margin:0 auto;padding:24px;background:#ffffff;border:1px solid #e3e3dc;border-radius:12px;color:#141922;font-family:${fonts}">
${paragraphs(before)}${quote === undefined ? '' : quoted(quote)}
<p style="margin:0 0 24px"><a href="${escapeHtml(address)}" style="display:inline-block;padding:12px 20px;background:#2558d9;border-radius:8px;color:#ffffff;font-size:16px;line-height:24px;font-weight:600;text-decoration:none">${escapeHtml(button.label)}</a></p>
${paragraphs(after)}
<p class="dim" style="margin:0;font-size:14px;line-height:20px;color:#5d6778">${signature}${ending ? ` · <a class="dim" href="${escapeHtml(ending.address)}" style="color:#5d6778">${escapeHtml(ending.label)}</a>` : ''}</p>
</div>
</body>
</html>
`,
  }
}
