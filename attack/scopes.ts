import { aMailServer, onServer, type Place } from '#chaos/place.ts'
import type { Chaos, Scenario } from '#chaos/scenario.ts'
import type { Call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { filled, idsIn, shapeOf } from '#test/filled.ts'
import { type Answered, type Browser, lateInvoice, somebody, startAt } from './browser.ts'
import { connect, holderOf, zapier, zapierEnv } from './integrations.ts'

/** Stands in everything of the one whose account a token opens a part of. */
const mark = 'Zanzibar'

/** Somebody with something of every kind that no application is to see. */
async function somebodyFurnished(chaos: Chaos, url: string): Promise<Browser> {
  const email = `asha@${mark.toLowerCase()}.example`
  const smtp = await aMailServer(chaos, { login: { user: email, pass: 'app password' } })
  const browser = await somebody(url, { email, displayName: `Asha ${mark}` })
  await browser.ask('POST /mail-config/smtp', { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  await browser.ask('PUT /mail-config/template', {
    body: { useCustomTemplate: true, customSubject: `${mark} {{invoiceId}}`, customContent: `${mark} {{amount}}` },
  })
  await browser.ask('POST /api-keys', { body: { name: `${mark} robot`, scopes: ['read'] } })
  await browser.ask('POST /webhooks', { body: { url: `https://${mark.toLowerCase()}.example/duely`, events: ['invoice.paid'] } })
  await browser.ask('POST /invoice', { body: { ...lateInvoice({ clientName: `${mark} Foods` }), dueDate: '2999-01-01' } })
  return browser
}

/** Everything of an account as it stands in the database. */
async function recordsOf(place: Place, id: string): Promise<string> {
  const [found] = await place.rows<{ records: string }>(
    `SELECT string_agg(query_to_xml(format('SELECT * FROM %I WHERE %I = %L ORDER BY 1', table_name, column_name, $1::text),
        true, false, '')::text, '' ORDER BY table_name) AS records
      FROM information_schema.columns
      WHERE table_schema = 'public' AND (column_name = 'owner_id' OR (table_name = 'accounts' AND column_name = 'id'))`,
    [id],
  )
  return found?.records ?? ''
}

const nameOf = ({ method, path }: Call) => `${method} ${path}`
const privateCalls = everyCall.filter((call) => !call.open)
/** What is promised of an application's token, in words of its own: the contract's would go wrong along with the program. */
const opensTo = ({ method, path }: Call, scope: string) =>
  /^\/(?:api|zapier|invoice)(?:\/|$)/.test(path) && scope.split(' ').includes(method === 'GET' ? 'read' : 'write')

/** A call as its contract wants it, with an id wherever a text may stand. */
function askFully(browser: Browser, call: Call, id: string): Promise<Answered> {
  const query = call.query ? `?${new URLSearchParams(filled(shapeOf(call.query), id) as Record<string, string>)}` : ''
  const body = call.body ? { body: filled(shapeOf(call.body), id) } : {}
  return browser.ask(`${call.method} ${call.path.replace(/:\w+/g, id)}${query}`, body)
}

/** Row 58: what a permission opens, and what it does not. */
export const scopeAttacks: Scenario[] = [
  {
    row: '58',
    name: 'tokens of Zapier on every call of the contract outside their scopes',
    criterion: '403 on 100 %; bytes told 0, records changed 0; what they are for is open',
    short: true,
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const program = await startAt(place, zapierEnv)
      const owner = await somebodyFurnished(chaos, program.url)
      const tokens = new Map<string, string>()
      for (const scope of ['read write', 'read', 'write']) tokens.set(scope, (await connect(owner, zapier, scope)).access_token)
      const { _id } = (await owner.ask('GET /user/profile')).body as { _id: string }
      const before = await recordsOf(place, _id)
      // Their own person's: nothing but the scope stands between.
      const known = idsIn(before)
      const ids = chaos.short ? known.slice(0, 1) : known
      const closed = new Set<string>()
      let tries = 0
      const [wrong, told, shut]: [string[], string[], string[]] = [[], [], []]
      for (const [scope, token] of tokens)
        for (const call of privateCalls.filter((one) => !opensTo(one, scope))) {
          closed.add(nameOf(call))
          for (const id of call.path.includes(':') ? ids : [_id]) {
            tries += 1
            const { status, body, text } = await askFully(holderOf(program.url, token), call, id)
            if (status !== 403 || (body as { code?: string }).code !== 'not_allowed') wrong.push(`${nameOf(call)} by ${scope}: ${status}`)
            if (text.toLowerCase().includes(mark.toLowerCase())) told.push(nameOf(call))
          }
        }
      const changed = (await recordsOf(place, _id)) !== before
      let inside = 0
      for (const [scope, token] of tokens)
        for (const call of privateCalls.filter((one) => opensTo(one, scope))) {
          inside += 1
          const { status } = await holderOf(program.url, token).ask(`${call.method} ${call.path.replace(/:\w+/g, 'x')}`)
          if (status === 401 || status === 403 || status >= 500) shut.push(`${nameOf(call)} by ${scope}: ${status}`)
        }
      const both = ['/user', '/mail-config'].every((path) => [...closed].some((name) => name.includes(` ${path}`)))
      const failed = [...wrong, ...told, ...shut]
      return {
        figure: `${closed.size} calls, 3 tokens, ${tries} tries: ${tries - wrong.length} refused, told ${told.length}, records ${changed ? 'changed' : 'as before'}; of ${inside} inside ${inside - shut.length} open${failed.length > 0 ? `; ${failed.slice(0, 3).join(', ')}` : ''}`,
        holds: both && known.length > 5 && failed.length === 0 && !changed && before.includes(mark),
      }
    },
  },
]
