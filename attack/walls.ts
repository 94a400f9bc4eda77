import { allClosed, aMailServer, onServer, type Place } from '#chaos/place.ts'
import { type Chaos, type Scenario, until } from '#chaos/scenario.ts'
import type { Call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { filled, idsIn, type Shape, shapeOf, trespasses } from '#test/filled.ts'
import { type Answered, aTarget, type Browser, lateInvoice, somebody, startAt } from './browser.ts'

/** Stands in everything of the one whose records nobody else may see. */
const mark = 'Zanzibar'

/** A call with a value in path, query and body wherever a text may stand. */
function askWith(
  browser: Browser,
  call: Call,
  text: string,
  change: (body: Record<string, unknown>) => void = () => undefined,
): Promise<Answered> {
  const path = call.path.replace(/:\w+/g, encodeURIComponent(text))
  const query = call.query ? new URLSearchParams(filled(shapeOf(call.query), text) as Record<string, string>) : ''
  const body = call.body ? (filled(shapeOf(call.body), text) as Record<string, unknown>) : undefined
  if (body) change(body)
  return browser.ask(`${call.method} ${path}${query === '' ? '' : `?${query}`}`, body === undefined ? {} : { body })
}

const nameOf = ({ method, path }: Call) => `${method} ${path}`

/** The tables that hold somebody's records. */
async function ownedTables(place: Place): Promise<string[]> {
  const found = await place.rows<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'owner_id' ORDER BY 1`,
  )
  return found.map(({ name }) => name)
}

/** Everything of an account as it stands in the database, one line a row. */
async function recordsOf(place: Place, id: string): Promise<string[]> {
  const lines: string[] = []
  for (const [table, owner] of [['accounts', 'id'], ...(await ownedTables(place)).map((name) => [name, 'owner_id'])]) {
    const found = await place.rows<{ line: string }>(
      `SELECT to_json(t)::text AS line FROM "${table}" t WHERE t.${owner} = $1::uuid ORDER BY 1`,
      [id],
    )
    lines.push(...found.map(({ line }) => `${table} ${line}`))
  }
  return lines
}

async function idOf(browser: Browser): Promise<string> {
  return ((await browser.ask('GET /user/profile')).body as { _id: string })._id
}

/** Somebody with a record of every kind that an ordinary day brings about. */
async function somebodyBusy(chaos: Chaos, place: Place, url: string): Promise<{ browser: Browser; id: string }> {
  const smtp = await aMailServer(chaos)
  const browser = await somebody(url, { email: `asha@${mark.toLowerCase()}.example`, displayName: `Asha ${mark}` })
  await browser.ask('POST /mail-config/smtp', { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  for (const name of ['Foods', 'Mills', 'Traders'])
    await browser.ask('POST /invoice', {
      body: lateInvoice({ clientName: `${mark} ${name}`, clientEmail: `${name}@${mark}.example`.toLowerCase() }),
    })
  // Not due yet: nothing else is written down about it.
  await browser.ask('POST /invoice', { body: { ...lateInvoice({ clientName: `${mark} Later` }), dueDate: '2999-01-01' } })
  await browser.ask('POST /reminder/start')
  await until('the mails of the victim', { seconds: 60, over: chaos.over }, () => allClosed(place, 3))
  const [invoice] = (await browser.ask('GET /invoice')).body as { _id: string }[]
  await browser.ask(`DELETE /invoice/${invoice?._id}`)
  await browser.ask('PUT /mail-config/template', {
    body: { useCustomTemplate: true, customSubject: `${mark} {{invoiceId}}`, customContent: `${mark} {{amount}}` },
  })
  await browser.ask('POST /user/two-factor/start', { body: { currentPassword: 'correct horse battery' } })
  await browser.ask('POST /api-keys', { body: { name: `${mark} robot`, scopes: ['read'] } })
  // What the program itself still had to write about the run.
  await until('the run is settled', { seconds: 60, over: chaos.over }, async () => {
    const [open] = await place.rows<{ count: number }>('SELECT count(*)::int AS count FROM runs WHERE settled_at IS NULL', [])
    return open?.count === 0
  })
  return { browser, id: await idOf(browser) }
}

const privateCalls = everyCall.filter((call) => !call.open)
/** It looks for a host in the world outside, which knows no ids and takes its time. */
const connects = (call: Call) => call.path === '/mail-config/smtp'

/** A text field somewhere in a body: how it is reached. */
function textFields(shape: Shape, path: (string | number)[] = []): (string | number)[][] {
  const choice = shape.anyOf?.find(({ type }) => type !== 'null') ?? shape.oneOf?.[0]
  if (choice && !shape.type) return textFields(choice, path)
  if (shape.type === 'object') return Object.entries(shape.properties ?? {}).flatMap(([name, one]) => textFields(one, [...path, name]))
  if (shape.type === 'array') return textFields(shape.items ?? {}, [...path, 0])
  return shape.type === 'string' || shape.enum?.some((one) => typeof one === 'string') ? [path] : []
}

function put(body: unknown, path: (string | number)[], value: unknown): void {
  let at = body
  for (const step of path.slice(0, -1)) at = Reflect.get(at as object, step)
  Reflect.set(at as object, path.at(-1) ?? '', value)
}

/** Makes a row of the attacker's point at somebody else's record. */
async function pointTo(
  place: Place,
  about: { child: string; column: string; id: string; attacker: string },
): Promise<'stored' | 'refused' | 'another rule'> {
  const { child, column, id, attacker } = about
  const row = `(SELECT ctid FROM "${child}" WHERE owner_id = $2 LIMIT 1)`
  try {
    const done = await place.rows(`UPDATE "${child}" SET "${column}" = $1 WHERE ctid = ${row} RETURNING 1 AS one`, [id, attacker])
    return done.length > 0 ? 'stored' : 'another rule'
  } catch (error) {
    // foreign_key_violation is the wall.
    return Reflect.get(error as object, 'code') === '23503' ? 'refused' : 'another rule'
  }
}

/** Bodies that say nothing wrong, of calls with an id in the path for which one made by rote would. */
const bodies: Record<string, object> = {
  'PATCH /invoice/:id': { clientName: 'Mine' },
  'PATCH /invoice/:id/pause': { paused: false },
  'PATCH /webhooks/:id': { paused: false },
}
/** Whether an id stands in its path, and not the name of something that is everybody's. */
const namesId = ({ path }: Call) => /:\w*id\b/i.test(path)

/** Rows 63 to 65 and 72: what is somebody else's, and what nobody asked about. */
export const wallAttacks: Scenario[] = [
  {
    row: '63',
    name: 'the ids of somebody else in path, query and body of every call of the contract',
    criterion: '404 wherever an id stands in the path; foreign bytes 0; records changed 0',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const program = await startAt(place)
      const { id } = await somebodyBusy(chaos, place, program.url)
      const before = await recordsOf(place, id)
      // One id of each kind is enough where there are many rows of it.
      const kinds = Map.groupBy(before, (line) => line.split(' ', 1)[0])
      const ids = [...new Set([...kinds.values()].flatMap((lines) => lines.slice(0, 2)).flatMap((line) => idsIn(line)))]
      const statuses = new Map<number, number>()
      const [wrong, told]: [string[], string[]] = [[], []]
      let asked = 0
      for (const call of privateCalls) {
        const attacker = await somebody(program.url)
        for (const one of connects(call) ? ids.slice(0, 1) : ids) {
          if (chaos.over.aborted) break
          const body = bodies[nameOf(call)]
          const answered = body
            ? await attacker.ask(`${call.method} ${call.path.replace(/:\w+/g, one)}`, { body })
            : await askWith(attacker, call, one)
          asked += 1
          if (answered.text.toLowerCase().includes(mark.toLowerCase())) told.push(nameOf(call))
          if (answered.status === 500) wrong.push(`${nameOf(call)}: 500`)
          if (!namesId(call)) continue
          statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1)
          if (answered.status !== 404) wrong.push(`${nameOf(call)}: ${answered.status}`)
        }
      }
      const after = await recordsOf(place, id)
      const changed = [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))]
      const tables = [...new Set(changed.map((line) => line.split(' ', 1)[0]))]
      const paths = [...statuses.values()].reduce((sum, one) => sum + one, 0)
      return {
        figure: `${privateCalls.length} calls, ${ids.length} ids, ${asked} tries: ${statuses.get(404) ?? 0} of ${paths} by path are 404, foreign bytes ${told.length}, rows changed ${[changed.length, ...tables].join(' ')}${wrong.length > 0 ? `; ${[...new Set(wrong)].slice(0, 4).join(', ')}` : ''}`,
        holds: wrong.length === 0 && told.length === 0 && changed.length === 0 && ids.length > 8,
      }
    },
  },
  {
    row: '64',
    name: 'records of one account made to point at records of another, in the database itself',
    criterion: 'every reference is by owner and id; stored 0',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const program = await startAt(place)
      const victim = await somebodyBusy(chaos, place, program.url)
      const other = await somebody(program.url)
      const smtp = await aMailServer(chaos)
      await other.ask('POST /mail-config/smtp', { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
      await other.ask('POST /invoice', { body: lateInvoice() })
      await other.ask('POST /reminder/start')
      await until('the mail of the other', { seconds: 60, over: chaos.over }, () => allClosed(place, 4))
      const attacker = await idOf(other)
      const owned = await ownedTables(place)
      const references = await place.rows<{ name: string; child: string; parent: string; columns: string[]; keys: string[] }>(
        `SELECT c.conname AS name, c.conrelid::regclass::text AS child, c.confrelid::regclass::text AS parent,
            (SELECT array_agg(a.attname::text ORDER BY k.nth) FROM unnest(c.conkey) WITH ORDINALITY k(num, nth)
              JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num) AS columns,
            (SELECT array_agg(a.attname::text ORDER BY k.nth) FROM unnest(c.confkey) WITH ORDINALITY k(num, nth)
              JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.num) AS keys
          FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace`,
      )
      const among = references.filter(({ child, parent }) => owned.includes(child) && owned.includes(parent))
      // One beside it that names the owner does: where an account may go, the id alone is looked after as well.
      const loose = among.filter(
        ({ child, columns }) =>
          !among.some(
            (other) =>
              other.child === child && other.columns.includes('owner_id') && columns.every((column) => other.columns.includes(column)),
          ),
      )
      let [tries, stored] = [0, 0]
      for (const { child, parent, columns, keys } of among) {
        const own = columns.findIndex((column) => column !== 'owner_id')
        const [column, key] = [columns[own], keys[own]]
        if (!column || !key) continue
        const foreign = await place.rows<{ id: string }>(`SELECT "${key}"::text AS id FROM "${parent}" WHERE owner_id = $1`, [victim.id])
        for (const { id } of foreign) {
          const came = await pointTo(place, { child, column, id, attacker })
          // Where another rule stands in the way first, this id proves nothing: the next one may.
          if (came === 'another rule') continue
          tries += 1
          if (came === 'stored') stored += 1
          break
        }
      }
      return {
        figure: `${among.length} references among accounts' records, ${loose.length} without the owner${loose.length > 0 ? ` (${loose.map(({ name }) => name).join(', ')})` : ''}; ${tries} foreign ids tried, stored ${stored}`,
        holds: among.length > 0 && loose.length === 0 && tries > 0 && stored === 0,
      }
    },
  },
  {
    row: '65',
    name: 'owner, plan, role and the like in the body of every call',
    criterion: 'refused in 100 %',
    short: true,
    async run(chaos) {
      const { program } = await aTarget(chaos)
      let tries = 0
      const taken: string[] = []
      const attacker = await somebody(program.url)
      const id = await idOf(attacker)
      for (const call of everyCall)
        for (const extra of trespasses(id)) {
          const [name = ''] = Object.keys(extra)
          if (!call.body || name in (shapeOf(call.body).properties ?? {})) continue
          tries += 1
          const { status } = await askWith(attacker, call, id, (body) => Object.assign(body, extra))
          if (status !== 400) taken.push(`${nameOf(call)} with ${name}: ${status}`)
        }
      return {
        figure: `${tries} bodies, ${tries - taken.length} refused${taken.length > 0 ? `; ${taken.slice(0, 3).join(', ')}` : ''}`,
        holds: tries > 0 && taken.length === 0,
      }
    },
  },
  {
    row: '72',
    name: 'objects, lists and numbers in the place of every text of every call',
    criterion: '400 in 100 %; nothing of a file in any answer',
    short: true,
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const attacker = await somebody(program.url)
      const id = await idOf(attacker)
      let [fields, tries, read] = [0, 0, 0]
      const taken: string[] = []
      for (const call of everyCall) {
        if (!call.body) continue
        for (const path of textFields(shapeOf(call.body))) {
          fields += 1
          for (const value of [{ path: '/etc/passwd' }, { href: 'file:///etc/passwd' }, [{ path: '/etc/passwd' }], [['x']], 12_345]) {
            tries += 1
            const answered = await askWith(attacker, call, id, (body) => put(body, path, value))
            if (answered.status !== 400) taken.push(`${nameOf(call)} ${path.join('.')}: ${answered.status}`)
            if (answered.text.includes('root:')) read += 1
          }
        }
      }
      return {
        figure: `${fields} texts, ${tries} tries, ${tries - taken.length} refused; files read ${read}${taken.length > 0 ? `; ${taken.slice(0, 3).join(', ')}` : ''}`,
        holds: fields > 20 && taken.length === 0 && read === 0,
      }
    },
  },
]
