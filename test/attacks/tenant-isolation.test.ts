import type { Call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { type Environment, onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row, type Trial } from '#test/faults/row.ts'
import {
  idsIn,
  mark,
  ownedTables,
  privateCalls,
  recordsOf,
  refusesField,
  requestWith,
  type Shape,
  shapeOf,
  trespasses,
} from '#test/filled.ts'
import { type Answered, Browser, openTarget, overdueInvoice, password, signUp, startTarget } from './browser.ts'
import { connect, zapier, zapierEnv } from './oauth-client.ts'

/** A call with `text` in place of every text of path, query and body. */
function askWith(browser: Browser, call: Call, text: string, change: (body: object) => void = () => undefined): Promise<Answered> {
  const { path, body } = requestWith(call, text)
  if (body) change(body)
  return browser.ask(path, body ? { body } : {})
}

const nameOf = ({ method, path }: Call) => `${method} ${path}`

/** An account with a record of every kind that ordinary use creates. */
async function busyAccount(trial: Trial, environment: Environment, url: string): Promise<string> {
  const browser = await signUp(url, { email: `asha@${mark.toLowerCase()}.example`, displayName: `Asha ${mark}` })
  await browser.saveMailbox(await openMailServer(trial))
  for (const name of ['Foods', 'Mills', 'Traders'])
    await browser.ask('POST /invoice', {
      body: overdueInvoice({ clientName: `${mark} ${name}`, clientEmail: `${name}@${mark}.example`.toLowerCase() }),
    })
  // Not due yet: no other record refers to it.
  await browser.ask('POST /invoice', { body: { ...overdueInvoice({ clientName: `${mark} Later` }), dueDate: '2999-01-01' } })
  await browser.ask('POST /reminder/start')
  await environment.untilClosed(3)
  const [invoice] = (await browser.ask('GET /invoice')).body as { _id: string }[]
  await browser.ask(`DELETE /invoice/${invoice?._id}`)
  await browser.ask('PUT /mail-config/template', {
    body: { useCustomTemplate: true, customSubject: `${mark} {{invoiceId}}`, customContent: `${mark} {{amount}}` },
  })
  await browser.ask('POST /reminder/sequences', { body: { name: `${mark} sequence`, steps: [newStep(1, 'friendly')] } })
  await browser.ask('POST /user/two-factor/start', { body: { currentPassword: password } })
  await browser.ask('POST /api-keys', { body: { name: `${mark} robot`, scopes: ['read'], ...browser.proof } })
  await trial.until('the run is settled', async () => {
    const open = await environment.rows('SELECT 1 FROM runs WHERE settled_at IS NULL')
    return open.length === 0
  })
  return browser.accountId()
}

/** It looks up a host, which takes its time and has nothing to do with ids. */
const connects = (call: Call) => call.path === '/mail-config/smtp'
/** Whether its path has an id, and not a name that every account has. */
const namesId = ({ path }: Call) => /:\w*id\b/i.test(path)
/** Valid bodies of calls with an id in the path whose generated body is refused before the id is looked at. */
const bodies: Record<string, Parameters<Browser['ask']>[1]> = {
  'PATCH /invoice/:id': { body: { clientName: 'Mine' } },
  'PATCH /clients/:id': { body: { sequence: 'never' } },
  'PATCH /invoice/:id/pause': { body: { paused: false } },
  'PATCH /webhooks/:id': { body: { paused: false } },
  'POST /webhooks/:id/secret': { body: { currentPassword: password } },
  'PATCH /sources/:id': { body: { name: 'Mine' } },
  'POST /business/handed-over/:kind/:id': { body: { currentPassword: password } },
  'POST /answers/:id/accept': { body: {} },
  'PUT /invoice/:id/file': { raw: '%PDF-1.7\n%%EOF\n', headers: { 'content-type': 'application/pdf' } },
}

row('63', 'the ids of another account in path, query and body of every call of the contract', async (trial) => {
  trial.mustHold('404 for every id in the path; foreign bytes 0; records changed 0')
  const environment = await onPostgres(trial)
  const program = await startTarget(environment, zapierEnv)
  const victim = await busyAccount(trial, environment, program.url)
  const before = await recordsOf(environment.rows, victim)
  // Two records of each kind are enough.
  const kinds = Map.groupBy(before, (line) => line.split(' ', 1)[0])
  const ids = [...new Set([...kinds.values()].flatMap((lines) => lines.slice(0, 2)).flatMap((line) => idsIn(line)))]
  const statuses = new Map<number, number>()
  const [wrong, disclosed]: [string[], string[]] = [[], []]
  let asked = 0
  for (const call of privateCalls) {
    const person = await signUp(program.url)
    // A session may not make the calls of Zapier.
    const attacker = call.path.startsWith('/zapier/') ? new Browser(program.url, (await connect(person, zapier)).access_token) : person
    for (const id of connects(call) ? ids.slice(0, 1) : ids) {
      if (trial.signal.aborted) break
      const body = bodies[nameOf(call)]
      const answered = await (body ? attacker.ask(`${call.method} ${call.path.replace(/:\w+/g, id)}`, body) : askWith(attacker, call, id))
      asked += 1
      if (answered.text.toLowerCase().includes(mark.toLowerCase())) disclosed.push(nameOf(call))
      if (answered.status === 500) wrong.push(`${nameOf(call)}: 500`)
      if (!namesId(call)) continue
      statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1)
      if (answered.status !== 404) wrong.push(`${nameOf(call)}: ${answered.status}`)
    }
  }
  const after = await recordsOf(environment.rows, victim)
  const changed = [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))]
  const tables = [...new Set(changed.map((line) => line.split(' ', 1)[0]))]
  const paths = [...statuses.values()].reduce((sum, one) => sum + one, 0)
  return {
    figure: `${privateCalls.length} calls, ${ids.length} ids, ${asked} tries: ${statuses.get(404) ?? 0} of ${paths} by path are 404, foreign bytes ${disclosed.length}, rows changed ${[changed.length, ...tables].join(' ')}${wrong.length > 0 ? `; ${[...new Set(wrong)].slice(0, 4).join(', ')}` : ''}`,
    holds: wrong.length === 0 && disclosed.length === 0 && changed.length === 0 && ids.length > 8,
  }
})

/** Makes a row of the attacker refer to a record of another account. */
async function referTo(
  environment: Environment,
  { child, column, id, attacker }: { child: string; column: string; id: string; attacker: string },
): Promise<'stored' | 'refused' | 'another rule'> {
  const attackersRow = `(SELECT ctid FROM "${child}" WHERE owner_id = $2 LIMIT 1)`
  try {
    const update = `UPDATE "${child}" SET "${column}" = $1 WHERE ctid = ${attackersRow} RETURNING 1 AS one`
    return (await environment.rows(update, [id, attacker])).length > 0 ? 'stored' : 'another rule'
  } catch (error) {
    const foreignKeyViolation = '23503'
    return Reflect.get(error as object, 'code') === foreignKeyViolation ? 'refused' : 'another rule'
  }
}

row('64', 'records of one account that refer to records of another, in the database itself', async (trial) => {
  trial.mustHold('every reference is by owner and id; stored 0')
  const environment = await onPostgres(trial)
  const program = await startTarget(environment)
  const victim = await busyAccount(trial, environment, program.url)
  const other = await signUp(program.url)
  await other.saveMailbox(await openMailServer(trial))
  await other.ask('POST /invoice', { body: overdueInvoice() })
  await other.ask('POST /reminder/start')
  await environment.untilClosed(4)
  const attacker = await other.accountId()
  const owned = await ownedTables(environment.rows)
  const references = await environment.rows<{ name: string; child: string; parent: string; columns: string[]; keys: string[] }>(
    `SELECT c.conname AS name, c.conrelid::regclass::text AS child, c.confrelid::regclass::text AS parent,
        (SELECT array_agg(a.attname::text ORDER BY k.nth) FROM unnest(c.conkey) WITH ORDINALITY k(num, nth)
          JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num) AS columns,
        (SELECT array_agg(a.attname::text ORDER BY k.nth) FROM unnest(c.confkey) WITH ORDINALITY k(num, nth)
          JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.num) AS keys
      FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace`,
  )
  const among = references.filter(({ child, parent }) => owned.includes(child) && owned.includes(parent))
  // A reference by id alone is allowed beside one that includes the owner: it clears the id when an account is deleted.
  const byOwner = among.filter(({ columns }) => columns.includes('owner_id'))
  const loose = among.filter(
    ({ child, columns }) => !byOwner.some((one) => one.child === child && columns.every((column) => one.columns.includes(column))),
  )
  let [tries, stored] = [0, 0]
  for (const { child, parent, columns, keys } of among) {
    const own = columns.findIndex((column) => column !== 'owner_id')
    const [column, key] = [columns[own], keys[own]]
    if (!column || !key) continue
    const foreign = await environment.rows<{ id: string }>(`SELECT "${key}"::text AS id FROM "${parent}" WHERE owner_id = $1`, [victim])
    for (const { id } of foreign) {
      const outcome = await referTo(environment, { child, column, id, attacker })
      // Another rule refused this id first, so it proves nothing: the next one may.
      if (outcome === 'another rule') continue
      tries += 1
      if (outcome === 'stored') stored += 1
      break
    }
  }
  return {
    figure: `${among.length} references among accounts' records, ${loose.length} without the owner${loose.length > 0 ? ` (${loose.map(({ name }) => name).join(', ')})` : ''}; ${tries} foreign ids tried, stored ${stored}`,
    holds: among.length > 0 && loose.length === 0 && tries > 0 && stored === 0,
  }
})

row('65', 'owner, plan, role and the like in the body of every call', async (trial) => {
  trial.mustHold('refused in 100 %')
  const attacker = await signUp((await openTarget(trial)).url)
  const id = await attacker.accountId()
  let tries = 0
  const accepted: string[] = []
  for (const call of everyCall)
    for (const extra of trespasses(id)) {
      const [name = ''] = Object.keys(extra)
      if (!call.body || name in (shapeOf(call.body).properties ?? {})) continue
      tries += 1
      const { status, text } = await askWith(attacker, call, id, (body) => Object.assign(body, extra))
      if (!refusesField(status, text, name)) accepted.push(`${nameOf(call)} with ${name}: ${status}`)
    }
  return {
    figure: `${tries} bodies, ${tries - accepted.length} refused${accepted.length > 0 ? `; ${accepted.slice(0, 3).join(', ')}` : ''}`,
    holds: tries > 0 && accepted.length === 0,
  }
})

/** The paths to the text fields of a body. */
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

row('72', 'objects, lists and numbers in place of every text of every call', { short: true }, async (trial) => {
  trial.mustHold('400 in 100 %; nothing of a file in any answer')
  const attacker = await signUp((await openTarget(trial)).url)
  const id = await attacker.accountId()
  const values = [{ path: '/etc/passwd' }, { href: 'file:///etc/passwd' }, [{ path: '/etc/passwd' }], [['x']], 12_345]
  let [fields, tries, read] = [0, 0, 0]
  const accepted: string[] = []
  for (const call of everyCall) {
    if (!call.body) continue
    for (const path of textFields(shapeOf(call.body))) {
      fields += 1
      // In the short selection one of them in turn: each kind is tried at many fields.
      for (const value of trial.short ? values.slice(fields % values.length).slice(0, 1) : values) {
        tries += 1
        const answered = await askWith(attacker, call, id, (body) => put(body, path, value))
        if (answered.status !== 400) accepted.push(`${nameOf(call)} ${path.join('.')}: ${answered.status}`)
        if (answered.text.includes('root:')) read += 1
      }
    }
  }
  return {
    figure: `${fields} texts, ${tries} tries, ${tries - accepted.length} refused; files read ${read}${accepted.length > 0 ? `; ${accepted.slice(0, 3).join(', ')}` : ''}`,
    holds: fields > 20 && accepted.length === 0 && read === 0,
  }
})
