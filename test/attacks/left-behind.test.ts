import { onAnyDatabase } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import { type Browser, signUp, startTarget } from './browser.ts'

/** A link that opens a file for everyone who has it. */
const secretLink = 'https://files.example.com/export.csv?key=7hVq2mXk'

/** Signs someone up, and lets them join the business. */
async function join(owner: Browser, role: 'admin' | 'member' | 'viewer'): Promise<Browser> {
  const person = await signUp(owner.url)
  const { link } = (await owner.ask('POST /business/invitations', { body: { email: person.email, role } })).body as { link: string }
  const joined = await person.ask('POST /invitations/accept', { body: { token: link.split('#token=')[1] } })
  person.business = (joined.body as { _id: string })._id
  return person
}

row('144', 'a viewer and a member read the link of a watched address', { short: true }, async (trial) => {
  trial.mustHold('they see its name and its last result; the link is for admins')
  const { url } = await startTarget(await onAnyDatabase(trial))
  const owner = await signUp(url)
  await owner.ask('POST /sources', { body: { name: 'Ledger', url: secretLink } })
  const seen: string[] = []
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const { text } = await (await join(owner, role)).ask('GET /sources')
    seen.push(`${role}: ${text.includes('Ledger') ? 'its name' : 'nothing'}${text.includes('7hVq2mXk') ? ' and the link' : ''}`)
  }
  return { figure: seen.join(', '), holds: seen.join() === 'viewer: its name,member: its name,admin: its name and the link' }
})
