import { type Brand, brandLines, readableOn } from '#contract/brand.ts'
import { formatDate } from '#contract/dates.ts'
import { english } from '#contract/english.ts'
import { formatMoney, formatSums, type Money, sumByCurrency } from '#contract/money.ts'
import {
  bankLines,
  epcAccount,
  epcText,
  hasMethod,
  largestUpi,
  methodsFor,
  ownLinkUrl,
  type Payable,
  type PayLine,
  upiLink,
} from '#contract/pay.ts'
import type { PayMethods } from '#contract/payment-settings.ts'
import { escapeHtml } from '#contract/templates.ts'
import { withoutMarks } from '#contract/text.ts'
import { qrRuns } from './qr-code.ts'
import type { payAnswers } from './tables.ts'
import { pageTexts as t } from './texts.ts'

export type AnswerKind = (typeof payAnswers.$inferSelect)['kind']

/** Whose page it is. */
export interface PageFrom {
  /** The address of the page, without a slash at its end. */
  path: string
  business: string
  details: string
  /** The address of the logo; null without one. */
  logo: string | null
  /** One of the brand: wider than high, as a rule. */
  hasWideLogo: boolean
  /** Its last line is Duely's; not with white-label. */
  namesDuely: boolean
  brand: Brand
  methods: PayMethods
  /** The client comes back from paying online, and the provider was not asked yet. */
  confirming: boolean
  /** The client's local date of the account, YYYY-MM-DD. */
  today: string
}

/** What an invoice comes to, in units of its currency. */
export interface Owed {
  currency: string
  /** Still to pay. */
  balance: number
  total: number
  paid: number
}

export interface InvoicePage extends PageFrom {
  reference: string
  clientName: string
  dueDate: string
  daysOverdue: number
  owed: Owed
  payments: { date: string; amount: number; isCredit: boolean }[]
  /** What the client wants to pay now, where it is not the balance. */
  asked: number | null
  /** The last answer; null where there is none, or it is over. */
  answer: { kind: AnswerKind; state: 'open' | 'accepted' | 'declined'; date: string | null; pausedUntil: string | null } | null
  hasFile: boolean
  /** What was wrong with the form that was just sent, and what was typed into it. */
  error: { form: FormName; message: string; typed?: Readonly<Record<string, string>> } | null
}

type FormName = AnswerKind | 'amount' | 'online' | 'take_back'

export interface StatementPage extends PageFrom {
  error: InvoicePage['error']
  clientName: string
  /** For a client without an invoice, of whom no name is known. */
  clientEmail: string
  /** Oldest first. */
  invoices: { id: string; reference: string; dueDate: string; daysOverdue: number; owed: Owed }[]
}

const icon = (path: string, size = 20) =>
  `<svg class="i" width="${size}" height="${size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`
const chevron = icon('<path d="M6 9l6 6l6 -6"/>')
const download = icon(
  '<path d="M14 3v4a1 1 0 0 0 1 1h4M17 21h-10a2 2 0 0 1 -2 -2v-14a2 2 0 0 1 2 -2h7l5 5v11a2 2 0 0 1 -2 2M12 17v-6M9.5 14.5l2.5 2.5l2.5 -2.5"/>',
)

/** Without the marks that turn the direction of a text: what a client reads must be what it is. */
const e = (text: string) => escapeHtml(withoutMarks(text))
const bold = ([before, middle, after]: readonly [string, string, string]) => `${e(before)}<b>${e(middle)}</b>${e(after)}`

/** The most characters of an amount that fit into one line at the largest size. */
const shortAmount = 11

/** What is to pay, as the heading. An amount is never broken. */
function toPay(sums: string): string {
  const amounts = sums.split(' + ')
  const long = amounts.length > 1 || sums.length > shortAmount
  const shown = amounts.map((amount, nth) => `<span class="nb">${nth === 0 ? '' : '+ '}${e(amount)}</span>`).join(' ')
  return `<h1${long ? ' class="long"' : ''}>${shown} <small>${e(t.toPay)}</small></h1>`
}

/** The page of one invoice. */
export function invoicePage(page: InvoicePage): string {
  const { reference, business, owed, answer, payments, clientName } = page
  const { currency, balance, total, paid } = owed
  const money = (amount: number) => formatMoney(amount, currency)
  const title = t.title(reference, business)
  if (balance === 0) {
    const last = payments[0]?.date ?? null
    const [amount, when] = t.paidLine(money(paid), last === null ? null : formatDate(last))
    return layOut(page, {
      title,
      side: `<h1 class="ok">${e(t.paid)} <small>${e(t.thanks)}</small></h1><p class="for">${e(t.paidFor(clientName, money(total), reference))}</p>
${bar(1)}<p class="part"><b>${e(amount)}</b>${e(when)}</p>${file(page)}${paymentList(page, money)}`,
      main: '',
      footer: t.footer,
    })
  }
  const amount = page.asked ?? balance
  const isOpen = answer?.state === 'open'
  const wrongPerson = isOpen && answer.kind === 'wrong_person'
  const side = wrongPerson
    ? said(page)
    : `${online(page)}${said(page)}<p class="ref">${e(t.invoice(reference))}</p>${toPay(money(balance))}
<p class="for due"><span>${e(t.forClient(clientName, formatDate(page.dueDate)))}</span>${page.daysOverdue > 0 ? `<span><i> · </i><b>${e(t.overdue(page.daysOverdue))}</b></span>` : ''}</p>${
        paid > 0 ? `${bar(paid / total)}<p class="part">${bold(t.soFar(money(total), money(paid)))}</p>` : ''
      }${file(page)}${paymentList(page, money)}`
  const methods = ways(page, { reference, amount, balance, currency })
  const other = anotherAmount(page, money)
  // The heading has the balance: what the codes ask for must be as plain.
  const part = page.asked === null ? '' : `<p class="now">${e(t.paying(money(amount)))}</p>`
  const all = methods === '' ? `<p class="none">${e(t.noMethod)}</p>` : `${part}${methods}${other}`
  // While an answer is open the methods fold: paying twice must not be the easiest act.
  const folded =
    (isOpen || page.confirming) && methods !== ''
      ? `<details class="way fold"${page.asked !== null || page.error?.form === 'amount' ? ' open' : ''}><summary>${e(t.waysToPay)}${chevron}</summary>${all}</details>`
      : all
  return layOut(page, {
    title,
    side,
    main: wrongPerson ? '' : `<div class="ways">${folded}</div>${!isOpen && !page.confirming ? answerForms(page) : ''}`,
    footer: t.footer,
  })
}

/** All open invoices of a client, each leading to its own page; the sum can be paid in one payment. */
export function statementPage(page: StatementPage): string {
  const { invoices, business, clientName } = page
  const sums = statementSums(page)
  const rows = invoices.map(
    ({ id, reference, dueDate, daysOverdue, owed }) =>
      `<li><a href="${page.path}/${id}"><span><b>${e(reference)}</b> ${e(t.due(formatDate(dueDate)))}${daysOverdue > 0 ? ` <em>${e(t.overdue(daysOverdue))}</em>` : ''}</span><b>${e(formatMoney(owed.balance, owed.currency))}</b></a></li>`,
  )
  const head =
    invoices.length === 0
      ? `<h1 class="ok">${e(t.thanks)}</h1><p class="for">${e(t.nothingOpen)}</p>`
      : `<p class="ref">${e(t.openInvoices)}</p>${toPay(formatSums(sums, ''))}<p class="for">${e(t.forClientAll(clientName))}</p>`
  const methods = sums
    .map((sum) => {
      const all = ways(page, { ...sum, balance: sum.amount })
      // Each currency is paid for itself.
      return all !== '' && sums.length > 1 ? `<h2 class="sum">${e(t.pay(formatMoney(sum.amount, sum.currency)))}</h2>${all}` : all
    })
    .join('')
  return layOut(page, {
    title: t.statementTitle(business),
    side: `${online(page)}${head}${invoices.length === 0 ? '' : pdf(`${page.path}/statement.pdf`, t.statementFile)}<ul class="pays list">${rows.join('')}</ul>`,
    main: invoices.length === 0 ? '' : `<div class="ways">${methods === '' ? `<p class="none">${e(t.noMethod)}</p>` : methods}</div>`,
    footer: t.statementFooter,
  })
}

/** The state of a payment online, where the balance does not show it. */
function online({ confirming, error }: Pick<InvoicePage, 'confirming' | 'error'>): string {
  if (error?.form === 'online') return `<div class="said no" role="alert">${e(error.message)}</div>`
  return confirming ? `<div class="said wait" role="status">${e(t.confirming)}</div>` : ''
}

/** Leads on to the provider, also without a script. */
export function leavingPage({ amountMinor, url }: { amountMinor: number; url: string }): string {
  const label = t.payOnline(formatMoney(amountMinor / 100, 'INR'))
  return document({
    title: label,
    refresh: `0;url=${url}`,
    body: `<main class="wrap"><h1 class="plain">${e(t.online)}</h1><p class="leave"><a class="btn fill" rel="noreferrer" href="${e(url)}">${e(label)}</a></p></main>`,
    script: false,
  })
}

/** The most of a reference that a bank keeps. */
const longestReference = 140

/** What is to pay of a statement's invoices, by currency, and their references; '' where these are more than a bank keeps. */
export function statementSums({ invoices }: Pick<StatementPage, 'invoices'>): (Money & { reference: string; references: string[] })[] {
  return sumByCurrency(
    invoices.map(({ owed: { balance, currency } }) => ({ amount: balance, currency })),
    invoices[0]?.owed.currency ?? '',
  ).map((sum) => {
    const all = invoices.flatMap(({ owed, reference }) => (owed.currency === sum.currency ? [reference] : []))
    const references = all.join(' ').length <= longestReference ? all : []
    return { ...sum, reference: references.join(' '), references }
  })
}

/** A page that is about no invoice: the same bytes for every link that does not work. */
export function plainPage({ title, text }: { title: string; text: string }): string {
  return document({
    title,
    body: `<main class="wrap"><h1 class="plain">${e(title)}</h1><p class="for">${e(text)}</p></main>`,
    script: false,
  })
}

function layOut(page: PageFrom, about: { title: string; side: string; main: string; footer: string }): string {
  const logo =
    page.logo === null
      ? ''
      : `<img class="logo${page.hasWideLogo ? ' wide' : ''}" src="${e(page.logo)}" ${page.hasWideLogo ? '' : 'width="44" '}height="44" alt="">`
  const lines = brandLines(page.brand)
  const identity = lines.length === 0 ? '' : `<div class="brand">${lines.map(e).join('<br>')}</div>`
  const details = page.details === '' ? '' : `<span>${e(page.details).replaceAll('\n', '<br>')}</span>`
  return document({
    title: about.title,
    script: true,
    styles: brandStyles(page),
    refresh: page.confirming ? '5' : null,
    body: `<div class="wrap"><header class="from">${logo}<div><b>${e(page.business)}</b>${details}</div></header>
<main class="cols"><div class="side">${about.side}</div><div>${about.main}</div></main>
${identity}<footer><span>${e(about.footer)}</span>${page.namesDuely ? `<span><a href="/">${e(english.pay.sentWith)}</a></span>` : ''}</footer></div>`,
  })
}

/** What a brand adds to the styles; nothing without one. */
function brandStyles({ brand: its, hasWideLogo, namesDuely }: PageFrom): string {
  const { colour } = its
  return [
    brandLines(its).length === 0
      ? ''
      : '.brand{margin-top:36px;padding-top:18px;border-top:1px solid var(--line);font-size:14px;color:var(--dim)}',
    hasWideLogo ? '.wide{max-width:160px;border-radius:0}' : '',
    namesDuely ? 'footer a{color:inherit}' : '',
    colour === null
      ? ''
      : `.btn.fill{background:${colour};color:${readableOn(colour)}}.from{padding-bottom:16px;border-bottom:3px solid ${colour}}`,
  ].join('')
}

function bar(share: number): string {
  return `<svg class="bar" height="8" aria-hidden="true"><rect class="all" width="100%" height="8" rx="4"/><rect class="got" width="${Math.round(Math.min(1, share) * 100)}%" height="8" rx="4"/></svg>`
}

function file({ hasFile, path }: InvoicePage): string {
  return hasFile ? pdf(`${path}/invoice.pdf`, t.file) : ''
}

function pdf(url: string, words: string): string {
  return `<p><a class="pdf" href="${url}">${download}<span>${e(words)}</span></a></p>`
}

function paymentList({ payments }: InvoicePage, money: (amount: number) => string): string {
  if (payments.length === 0) return ''
  const rows = payments.map(
    ({ date, amount, isCredit }) =>
      `<li><span>${formatDate(date)}${amount < 0 ? ` · ${e(t.refund)}` : isCredit ? ` · ${e(t.credit)}` : ''}</span><b>${e(money(amount).replace('-', '−'))}</b></li>`,
  )
  return `<section class="more"><h2>${e(t.payments)}</h2><ul class="pays">${rows.join('')}</ul></section>`
}

function rowsOf(lines: PayLine[], name: string): string {
  const rows = lines.map(
    ({ label, value, shown }) =>
      `<div><dt>${e(label)}</dt><dd><span data-copy="${e(value)}" data-what="${e(label)}">${e(shown)}</span></dd></div>`,
  )
  return `<dl class="rows ${name}">${rows.join('')}</dl>`
}

function picture(text: string, label: string): string {
  const { side, runs } = qrRuns(text)
  const path = runs.map(([x, y, length]) => `M${x} ${y}h${length}`).join('')
  return `<svg class="qr" width="168" height="168" viewBox="0 0 ${side} ${side}" role="img" aria-label="${e(label)}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path transform="translate(0 .5)" stroke="#000" d="${path}"/></svg>`
}

function ways(page: PageFrom & Pick<InvoicePage, 'error'>, about: Payable & { balance: number }): string {
  const { currency, amount, balance, reference } = about
  const methods = methodsFor(page.methods, currency)
  if (!hasMethod(methods)) return ''
  const { upi, bank, ownLink } = methods
  const shown = formatMoney(amount, currency)
  const parts: string[] = []
  if (upi) {
    const link = upiLink(upi, about)
    const large = amount > largestUpi ? `<p class="warn">${e(t.upiLarge)}</p>` : ''
    const idLine = { label: t.upiId, value: upi.id, shown: upi.id }
    parts.push(`<section class="way upi"><h2>${e(t.upi)}</h2>${large}<a class="btn${large === '' ? ' fill' : ''}" href="${e(link)}">${e(t.openUpi)}</a>
<div class="scan">${picture(link, t.upiCode(shown))}<p>${e(t.scan)}</p></div>${rowsOf([idLine], 'id')}${reference === '' ? '' : `<p class="note rest">${bold(t.upiRefused(reference))}</p>`}</section>`)
  }
  if (bank) {
    const account = epcAccount(bank, currency)
    const code = account && picture(epcText(account, about), t.bankCode(shown))
    parts.push(
      `<section class="way"><h2>${e(t.bank)}</h2>${rowsOf(bankLines(bank, reference), 'bank')}${reference === '' ? '' : `<p class="note">${bold(t.bankReference(reference))}</p>`}${code ? `<div class="scan">${code}<p>${e(t.bankScan)}</p></div>` : ''}</section>`,
    )
  }
  if (ownLink)
    parts.push(
      `<section class="way"><a class="btn" rel="noreferrer" href="${e(ownLinkUrl(ownLink, about))}">${e(ownLink.label)}</a></section>`,
    )
  // The provider takes no less than one rupee.
  if (methods.online && amount >= 1)
    parts.push(
      `<section class="way online${shown.length > shortAmount ? '' : ' beside'}"><h2>${e(t.online)}</h2><form method="post" action="${page.path}/online"><input type="hidden" name="amount" value="${amount}"><input type="hidden" name="of" value="${balance}">${emptyField('online', page.error)}<button class="btn">${e(t.payOnline(shown))}</button></form><p class="note">${e(t.onlineTold(page.business))}</p></section>`,
    )
  return parts.join('\n')
}

function field(form: FormName, name: string, label: string, more: string): string {
  return `<label for="${form}-${name}">${e(label)}</label><input id="${form}-${name}" name="${name}" ${more}>`
}

/** What was wrong with a form. The page scrolls to it, also without a script. */
function wrongIn(form: FormName, error: InvoicePage['error']): string {
  return error?.form === form ? `<p class="bad" role="alert" tabindex="-1" autofocus>${e(error.message)}</p>` : ''
}

/** A name that programs fill, and browsers have nothing for. */
const emptyName = 'website'

/**
 * The last field of each form that posts. People do not get to see it and programs fill it, and then nothing is stored. It is shown where it came
 * filled, so that a person whose browser did that can empty it.
 */
function emptyField(form: FormName, error: InvoicePage['error']): string {
  const isShown = error?.form === form && isFilled(error.typed ?? {})
  return `<div${isShown ? '' : ' class="gone"'}>${field(form, emptyName, t.leaveEmpty, 'autocomplete="off"')}</div>`
}

/** Whether a form came with the field that must be empty. */
export function isFilled(form: Readonly<Record<string, string>>): boolean {
  return (form[emptyName] ?? '') !== ''
}

function anotherAmount({ owed, asked, path, error }: InvoicePage, money: (amount: number) => string): string {
  if (owed.balance < 2) return ''
  const wrong = wrongIn('amount', error)
  const value = asked === null ? '' : ` value="${asked}"`
  return `<details class="more other"${wrong || asked !== null ? ' open' : ''}><summary>${e(t.anotherAmount)}${chevron}</summary><form method="get" action="${path}">${wrong}${field('amount', 'amount', t.amountRange(money(1), money(owed.balance)), `inputmode="decimal" required autocomplete="off"${value}`)}<button class="btn">${e(t.show)}</button></form></details>`
}

function answerForms(page: InvoicePage): string {
  const { owed, today, business, path, error } = page
  const limit = (days: number) => Temporal.PlainDate.from(today).add({ days }).toString()
  /** What was typed, where this form comes back, or what a field begins with. */
  const typedOf = (form: AnswerKind, name: string, first = '') => e((error?.form === form ? error.typed?.[name] : undefined) ?? first)
  const its = (form: AnswerKind, name: string, label: string, more: string, first?: string) =>
    field(form, name, label, `${more} value="${typedOf(form, name, first)}"`)
  const wrongTicked = typedOf('wrong_person', 'wrong') === 'yes' ? ' checked' : ''
  const fields: Record<AnswerKind, string> = {
    paid: `<div class="two"><div>${its('paid', 'date', t.paidOn, `type="date" required max="${today}"`, today)}</div><div>${its('paid', 'amount', t.amount, 'inputmode="decimal" required autocomplete="off"', String(owed.balance))}</div></div>${its('paid', 'reference', t.paymentReference, `required maxlength="80" autocomplete="off" placeholder="${e(t.paymentReferenceHint)}"`)}`,
    promise: its('promise', 'date', t.payBy, `type="date" required min="${today}" max="${limit(30)}"`),
    question: `<label for="question-message">${e(t.message)}</label><textarea id="question-message" name="message" required maxlength="2000" rows="5">
${typedOf('question', 'message')}</textarea>`,
    wrong_person: `<label class="tick"><input type="checkbox" name="wrong" value="yes" required${wrongTicked}> ${e(t.wrongPerson)}</label>${its('wrong_person', 'name', t.rightName, 'maxlength="200" autocomplete="off"')}${its('wrong_person', 'email', t.rightEmail, 'type="email" maxlength="254" autocomplete="off"')}`,
  }
  const items = (Object.keys(fields) as AnswerKind[]).map((kind) => {
    const wrong = wrongIn(kind, error)
    return `<li><details name="answer"${wrong ? ' open' : ''}><summary>${e(t.answers[kind])}${chevron}</summary><form method="post" action="${path}/answer">${wrong}<input type="hidden" name="kind" value="${kind}">${fields[kind]}${emptyField(kind, error)}<button class="btn">${e(t.tell(business))}</button></form></details></li>`
  })
  return `<section class="more" id="else"><h2>${e(t.other)}</h2><ul class="answers">${items.join('')}</ul></section>`
}

function said({ answer, business, path, error }: InvoicePage): string {
  if (answer === null) return ''
  const { kind, state, date, pausedUntil } = answer
  if (state === 'declined') return `<div class="said no" role="status">${e(t.said.notFound(business))}</div>`
  const words = {
    paid: t.said.paid(business, pausedUntil === null ? null : formatDate(pausedUntil)),
    promise: t.said.promise(business, formatDate(date ?? '')),
    question: t.said.question(business),
    wrong_person: t.said.wrong_person(business),
  }[kind]
  const takeBack = `<form method="post" action="${path}/take-back">${wrongIn('take_back', error)}${emptyField('take_back', error)}<button class="link">${e(t.takeBack)}</button></form>`
  return `<div class="said" role="status"><p>${e(words)}</p>${state === 'open' ? takeBack : ''}</div>`
}

/** Where a page has its styles' nonce: filled in when it is sent. */
export const noncePlace = '__NONCE__'

interface Document {
  title: string
  body: string
  script: boolean
  /** What the page turns into without an act: seconds, and another address. */
  refresh?: string | null
  /** Besides those of every page. */
  styles?: string
}

function document({ title, body, script, refresh = null, styles: more = '' }: Document): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex, nofollow">${refresh === null ? '' : `<meta http-equiv="refresh" content="${e(refresh)}">`}<title>${e(title)}</title>
<style nonce="${noncePlace}">${styles}${more}</style>${script ? `<script src="${copyScriptPath}" defer></script>` : ''}</head><body>
${body}
</body></html>
`
}

export const copyScriptPath = '/pay/copy.js'

/** Adds a Copy button behind each value; without it everything else works. */
export const copyScript = `for (const value of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  const say = (word) => {
    button.textContent = word
    button.setAttribute('aria-label', word + ' ' + (value.dataset.what || value.dataset.copy))
  }
  say(${JSON.stringify(t.copy)})
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(value.dataset.copy)
    say(${JSON.stringify(t.copied)})
    setTimeout(say, 2000, ${JSON.stringify(t.copy)})
  })
  value.after(button)
}
`

const light =
  '--ground:#f6f6f2;--surface:#fff;--line:#e3e3dc;--strong:#c9c9bf;--field:#85887f;--text:#141922;--dim:#5d6778;--brand:#2558d9;--button:#2f62e6;--paid:#12885a;--ok:#0d6c47;--bad:#b02e23;--warn:#825700'
const dark =
  '--ground:#0b0e14;--surface:#121720;--line:#232c3a;--strong:#364357;--field:#66748a;--text:#e9edf4;--dim:#93a0b5;--brand:#6b97ff;--button:#386bed;--paid:#3fcf8e;--ok:#3fcf8e;--bad:#ff7063;--warn:#f2b84b'

const styles = `:root{${light};color-scheme:light dark}@media(prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%;overflow-wrap:anywhere}
h1,h2,p,dl,dd,ul{margin:0;padding:0}ul{list-style:none}.i{flex:none;display:block}:focus-visible{outline:2px solid var(--brand);outline-offset:2px}
.wrap{max-width:1040px;margin:0 auto;padding:20px 20px 32px}.from{display:flex;gap:12px;align-items:center;margin-bottom:36px}.logo{border-radius:11px;flex:none;object-fit:contain}
.from b{display:block;font-size:17px;line-height:1.3}.from span{font-size:14px;color:var(--dim)}
h1{font-size:clamp(32px,11vw,46px);line-height:1.05;letter-spacing:-.035em;font-weight:750}h1 small{display:block;font-size:20px;letter-spacing:-.01em;font-weight:600;margin-top:8px;line-height:1.2}.ok{color:var(--ok)}.ok small{color:var(--text)}h1.plain{font-size:34px;letter-spacing:-.02em}.nb{white-space:nowrap}h1.long{font-size:clamp(24px,7.6vw,34px);letter-spacing:-.02em}
.for{margin-top:12px;color:var(--dim)}.for b{font-weight:600;color:var(--bad);white-space:nowrap}.now{font-size:18px;font-weight:600;margin-bottom:12px}.due{display:flex;flex-wrap:wrap;margin-left:-1em;clip-path:inset(0 0 0 1em)}.due span:first-child{padding-left:1em}.due i{display:inline-block;width:1em;font-style:normal;text-align:center}.bar{display:block;width:100%;margin-top:22px}.all{fill:var(--line)}.got{fill:var(--paid)}.part{margin-top:9px;font-size:15px;color:var(--dim)}.part b{font-weight:600;color:var(--ok)}
.ref{font-size:15px;color:var(--dim);margin-bottom:6px}.pdf{display:inline-flex;text-decoration:none;gap:9px;align-items:center;min-height:44px;margin-top:16px;color:var(--brand);font-weight:600}.pdf span{text-decoration:underline;text-underline-offset:3px}
.ways{margin-top:32px}.way{background:var(--surface);border:1px solid var(--line);border-radius:14px;padding:20px;margin-bottom:14px}.way h2,.more h2{font-size:18px;line-height:1.25;letter-spacing:-.01em;margin-bottom:14px}.fold{padding:4px 20px}.fold .way{border-width:1px 0 0;border-radius:0;padding:20px 0;margin:0}
.btn{display:flex;align-items:center;justify-content:center;width:100%;min-height:52px;padding:8px 16px;font:600 17px/1.2 inherit;font-family:inherit;font-size:17px;font-weight:600;border-radius:12px;border:1px solid var(--strong);background:var(--surface);color:var(--text);text-decoration:none;cursor:pointer}.btn.fill{background:var(--button);border-color:transparent;color:#fff}
.scan{display:flex;gap:16px;align-items:center;margin:18px 0}.scan p{font-size:15px;max-width:20ch}.qr{flex:none;border-radius:10px;border:1px solid var(--line);max-width:60%;height:auto}
.rows{border-top:1px solid var(--line)}.rows>div{padding:10px 0;border-bottom:1px solid var(--line)}.rows>div:last-child{border-bottom:0}.rows dt{font-size:14px;color:var(--dim);line-height:1.3}.rows dd{display:flex;gap:12px;align-items:center;justify-content:space-between;min-height:44px}.rows dd span{font-weight:600;line-height:1.35;text-wrap:balance}
.copy{flex:none;min-height:44px;min-width:84px;padding:0 12px;font:inherit;font-size:15px;font-weight:600;color:var(--brand);background:none;border:1px solid var(--strong);border-radius:10px;cursor:pointer}
.note{font-size:14px;color:var(--dim);margin-top:8px}.note b{color:var(--text);font-weight:600}.warn{font-size:15px;color:var(--warn);margin-bottom:14px}.bad{font-size:15px;color:var(--bad);font-weight:600}.none{margin-top:8px}
summary{display:flex;gap:12px;align-items:center;justify-content:space-between;min-height:52px;padding:4px 0;cursor:pointer;list-style:none;font-weight:600}summary::-webkit-details-marker{display:none}summary .i{color:var(--dim)}details[open]>summary .i{transform:rotate(180deg)}.other summary,.fold>summary{color:var(--brand)}
.more{margin-top:30px}.answers>li{border-top:1px solid var(--line)}.answers>li:last-child{border-bottom:1px solid var(--line)}.answers form,.other form{padding:2px 0 20px}label{display:block;font-size:14px;font-weight:600;margin:12px 0 6px}
input,textarea{width:100%;min-height:48px;padding:8px 14px;font:inherit;color:var(--text);background:var(--surface);border:1px solid var(--field);border-radius:10px}.tick{display:flex;gap:12px;align-items:center;min-height:44px;font-size:16px}.tick input{width:22px;min-height:22px;flex:none}form .btn{margin-top:18px;min-height:48px}.online .btn{margin-top:0;min-height:52px}.two{display:grid;grid-template-columns:1fr 1fr;gap:12px}.two input{padding:8px 10px}
.pays li{display:flex;justify-content:space-between;gap:12px;padding:10px 0;border-top:1px solid var(--line);font-size:15px}.pays li:last-child{border-bottom:1px solid var(--line)}.pays b{font-weight:600}.list{margin-top:28px}.list li{padding:0}.sum{margin:26px 0 12px}.sum:first-child{margin-top:0}.list a{display:flex;padding:6px 0;justify-content:space-between;gap:12px;width:100%;min-height:52px;align-items:center;color:inherit;text-decoration:none}.list span{color:var(--dim)}.list b{color:var(--text)}.list a>b{flex:none}.list em{display:block;font-style:normal;color:var(--bad)}
.said{background:color-mix(in srgb,var(--paid) 9%,var(--surface));border:1px solid var(--paid);border-radius:12px;padding:14px 16px;margin-bottom:28px}.said.no{background:color-mix(in srgb,var(--bad) 9%,var(--surface));border-color:var(--bad)}.said.wait{background:color-mix(in srgb,var(--brand) 9%,var(--surface));border-color:var(--brand)}.leave{margin-top:20px;max-width:400px}.gone{display:none}.link{min-height:44px;padding:0;font:inherit;font-weight:600;color:var(--brand);background:none;border:0;cursor:pointer}
footer{margin-top:36px;padding-top:18px;border-top:1px solid var(--line);font-size:14px;color:var(--dim);display:flex;flex-wrap:wrap;gap:4px 24px;justify-content:space-between}
@media(min-width:900px){.wrap{padding:40px}.cols{display:grid;grid-template-columns:minmax(0,380px) minmax(0,1fr);gap:72px;align-items:start}.from{margin-bottom:56px}.ways{margin-top:0}h1{font-size:60px}h1 small{font-size:24px}.way{padding:24px 28px}.side{position:sticky;top:40px}.upi{display:grid;grid-template-columns:auto 1fr;column-gap:28px;grid-template-areas:"h h" "w w" "qr scan" "qr id" "qr rest";align-items:start}.upi h2{grid-area:h}.upi .warn{grid-area:w}.upi .scan{display:contents}.upi .qr{grid-area:qr;max-width:none}.upi .scan p{grid-area:scan;margin-bottom:12px;max-width:none;font-weight:600}.id{grid-area:id}.upi .btn{display:none}.rest{grid-area:rest}.beside{display:grid;grid-template-columns:1fr auto;gap:0 24px;align-items:center}.beside h2{margin:0}.beside form{grid-row:1/3;grid-column:2}.beside .btn{padding:0 24px}.beside .note{margin-top:4px}.bank>div{display:grid;grid-template-columns:150px 1fr;align-items:center;padding:5px 0}}
@media print{:root{${light};--ground:#fff;color-scheme:light}.wrap{max-width:none;padding:0}.cols{display:block}.side{position:static}.ways{margin-top:28px}.way,.list li{break-inside:avoid}.btn,.copy,.pdf,.more.other,#else,.link{display:none}}`
