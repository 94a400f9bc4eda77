export interface CaughtMail {
  id: number
  at: Date
  from: string
  to: string
  subject: string
  html: string | null
  text: string | null
  headers: { name: string; value: string }[]
  raw: string
}

/** All emails, newest first; the page reloads every 3 s. */
export function mailsPage(mails: CaughtMail[], smtpPort: number): string {
  const rows = mails.map(
    ({ id, at, from, to, subject }) => `<a class="row" href="/mail/${id}">
      <span class="who">${inHtml(to)}</span>
      <span class="what"><b>${inHtml(subject)}</b><small>from ${inHtml(from)}</small></span>
      <time>${time(at)}</time>
    </a>`,
  )
  const none = `<div class="none">
    <p class="big">No emails yet</p>
    <p>Enter these in Duely's Email Settings. Emails it sends appear here.</p>
    ${settings(smtpPort)}
  </div>`
  return page(
    mails.length === 0 ? 'No emails yet' : `${mails.length} ${mails.length === 1 ? 'email' : 'emails'}`,
    `<header><h1>Emails</h1><span class="count">${mails.length}</span></header>
    ${mails.length === 0 ? none : `<nav class="list">${rows.join('')}</nav><details><summary>Settings for Duely</summary>${settings(smtpPort)}</details>`}`,
    '<meta http-equiv="refresh" content="3">',
  )
}

/** One email with its headers. */
export function mailPage(mail: CaughtMail): string {
  const headers = mail.headers.map(({ name, value }) => `<tr><th>${inHtml(name)}</th><td>${inHtml(value)}</td></tr>`)
  return page(
    mail.subject,
    `<header><a class="back" href="/">← All emails</a></header>
    <h1>${inHtml(mail.subject)}</h1>
    <dl><dt>From</dt><dd>${inHtml(mail.from)}</dd><dt>To</dt><dd>${inHtml(mail.to)}</dd><dt>Date</dt><dd>${mail.at.toISOString().replace('T', ' ').slice(0, 19)} UTC</dd></dl>
    ${mail.html === null ? '' : `<h2>As HTML</h2><iframe title="The email as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mail/${mail.id}/html"></iframe>`}
    ${mail.text === null ? '' : `<h2>As text</h2><pre>${linked(inHtml(mail.text))}</pre>`}
    <details><summary>Headers (${mail.headers.length})</summary><table>${headers.join('')}</table></details>
    <p><a href="/mail/${mail.id}/raw">Show source</a></p>`,
  )
}

function settings(smtpPort: number): string {
  const rows = [
    ['SMTP Host', '127.0.0.1'],
    ['Port', String(smtpPort)],
    ['Security', 'TLS (Port 587)'],
    ['Email', 'you@example.com'],
    ['App Password', 'anything'],
  ]
  return `<table class="settings">${rows.map(([name, value]) => `<tr><th>${name}</th><td><code>${value}</code></td></tr>`).join('')}</table>`
}

function page(title: string, body: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inHtml(title)} · fake mail server</title>${head}<style>${look}</style></head><body><main>${body}</main></body></html>`
}

function linked(html: string): string {
  return html.replace(/https?:\/\/[^\s<&"]+/g, (url) => `<a href="${url}" target="_blank" rel="noopener">${url}</a>`)
}

function inHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function time(at: Date): string {
  return at.toTimeString().slice(0, 8)
}

const look = `
:root { color-scheme: light dark; --back: light-dark(#f6f5f2, #14171c); --card: light-dark(#fff, #1c2027); --line: light-dark(#e3e0d9, #2c323c);
  --text: light-dark(#1b1e24, #e9ebef); --dim: light-dark(#666c78, #98a1b0); --brand: light-dark(#1f6f54, #6fd3ac) }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 860px; margin: 0 auto; padding: 40px 20px 80px }
header { display: flex; align-items: center; gap: 12px; margin-bottom: 20px }
h1 { font-size: 24px; line-height: 1.25; margin: 0; overflow-wrap: anywhere } h2 { font-size: 13px; color: var(--dim); font-weight: 600; margin: 28px 0 8px }
.count { background: var(--brand); color: var(--back); border-radius: 99px; padding: 1px 10px; font-weight: 600 }
.list { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden }
.row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 2fr) auto; gap: 16px; padding: 12px 16px; color: inherit; text-decoration: none; align-items: baseline }
.row + .row { border-top: 1px solid var(--line) } .row:hover, .row:focus-visible { background: var(--back) }
.who, .what b, small { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; display: block } small, time, dt, th { color: var(--dim) } time { font-variant-numeric: tabular-nums }
.none { background: var(--card); border: 1px dashed var(--line); border-radius: 12px; padding: 40px; text-align: center } .big { font-size: 20px; font-weight: 600; margin: 0 }
.settings { margin: 16px auto 0; text-align: left } th { font-weight: 400; text-align: left; padding: 3px 20px 3px 0; vertical-align: top; white-space: nowrap } td { overflow-wrap: anywhere }
code { background: var(--back); border: 1px solid var(--line); border-radius: 5px; padding: 1px 6px }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 16px; margin: 16px 0 0 } dd { margin: 0; overflow-wrap: anywhere }
iframe { width: 100%; height: 420px; border: 1px solid var(--line); border-radius: 12px; background: Canvas }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
details { margin-top: 24px } summary { cursor: pointer; color: var(--brand) } a { color: var(--brand) } .back { text-decoration: none }
@media (max-width: 560px) { .row { grid-template-columns: 1fr auto } .what { grid-column: 1 / -1; grid-row: 2 } }
`
