import PostalMime from 'postal-mime'
import { type Environment, onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row, type Trial } from '#test/faults/row.ts'
import { addressesIn, Browser, confirmEmail, everyRow, overdueInvoice, signUp, startTarget, systemMailEnv } from './browser.ts'

/** An account with an evening list and a weekly summary that were sent, and the tokens of their links. */
async function informed(trial: Trial, environment: Environment) {
  const [post, smtp] = [await openMailServer(trial), await openMailServer(trial)]
  const { url } = await startTarget(environment, systemMailEnv(post))
  const asha = await signUp(url)
  await confirmEmail(trial, post, asha)
  await asha.saveMailbox(smtp)
  for (const name of ['anna', 'ben'])
    await asha.ask('POST /invoice', { body: overdueInvoice({ clientName: name, clientEmail: `${name}@example.com` }) })
  await asha.ask('POST /reminder/start')
  await environment.untilClosed(2)
  await asha.ask('PATCH /reminder/settings', { body: { eveningList: true, weeklySummary: true } })
  await environment.rows(
    "UPDATE accounts SET next_evening_at = now() - interval '1 second', next_summary_at = now() - interval '1 second' RETURNING id",
  )
  const read = async (subject: RegExp) => {
    const raw = await trial.until(`an email ${subject}`, () => post.mails.find((mail) => subject.test(mail.subject ?? ''))?.raw)
    const { text = '', html = '' } = await PostalMime.parse(raw)
    return { email: `${text}\n${html}`, token: /token=([\w-]{43})/.exec(text)?.[1] ?? '' }
  }
  const [list, summary] = [await read(/^Tomorrow at /), await read(/^Your weekly summary/)]
  const isOpen = async () =>
    (await environment.rows('SELECT 1 FROM runs WHERE settled_at IS NULL UNION ALL SELECT 1 FROM system_mails')).length > 0
  await trial.until('everything is recorded', async () => !(await isOpen()))
  return { url, list, summary }
}

row(
  '131',
  'a scanner that opens every address of an evening list and a weekly summary, and links that are forged, expired or of another purpose',
  async (trial) => {
    trial.mustHold('no row changes; every wrong link gets one answer, 404')
    const environment = await onPostgres(trial)
    const { url, list, summary } = await informed(trial, environment)
    const before = await everyRow(environment)
    const seen = new Set<string>()
    let next = addressesIn(`${list.email}\n${summary.email}`, url)
    for (let depth = 0; depth < 3; depth += 1) {
      const found: string[] = []
      for (const path of next.map((one) => one.replace(/#.*/, ''))) {
        if (seen.has(path)) continue
        seen.add(path)
        await new Browser(url).ask(`HEAD ${path}`)
        found.push(...addressesIn((await new Browser(url).ask(`GET ${path}`)).text, url))
      }
      next = found
    }
    const post = (path: string, body?: object) => new Browser(url).ask(`POST ${path}`, body ? { body } : {})
    // What the script of the page does.
    const looked = await post('/evening/look', { token: list.token })
    const answers = new Set<string>()
    const tryAll = async (token: string, purposes: ('evening' | 'summary')[]) => {
      const asked = [
        ...(purposes.includes('evening') ? ['look', 'leave-out', 'take-back'].map((act) => post(`/evening/${act}`, { token })) : []),
        ...(purposes.includes('summary') ? [post(`/summary/unsubscribe?token=${token}`)] : []),
      ]
      for (const { status, text } of await Promise.all(asked)) answers.add(`${status} ${text}`)
    }
    const both = ['evening', 'summary'] as const
    for (const token of ['x', 'y'.repeat(43), list.token.slice(0, 42), `${list.token}x`]) await tryAll(token, [...both])
    await tryAll(list.token, ['summary'])
    await tryAll(summary.token, ['evening'])
    const after = (await everyRow(environment)).split('\n')
    const changed = before.split('\n').flatMap((table, at) => (table === after[at] ? [] : (table.split(' ')[0] ?? '')))
    const left = await post('/evening/leave-out', { token: list.token })
    const ended = await post(`/summary/unsubscribe?token=${summary.token}`)
    await environment.rows('UPDATE owner_links SET expires_at = now() RETURNING id')
    const atTheEnd = await environment.rows('SELECT client_key FROM left_out ORDER BY 1')
    await tryAll(list.token, [...both])
    await tryAll(summary.token, [...both])
    const unmoved = JSON.stringify(await environment.rows('SELECT client_key FROM left_out ORDER BY 1')) === JSON.stringify(atTheEnd)
    return {
      figure: `${seen.size} addresses opened, ${changed.length === 0 ? 'no row' : `rows of ${changed.join(', ')}`} changed; ${answers.size} answer to wrong links; the right ones ${looked.status}, ${left.status} and ${ended.status}`,
      holds:
        changed.length === 0 &&
        unmoved &&
        atTheEnd.length === 2 &&
        seen.size >= 3 &&
        answers.size === 1 &&
        [...answers].every((answer) => answer.startsWith('404 ')) &&
        looked.status === 200 &&
        left.status === 200 &&
        ended.status === 204,
    }
  },
)
