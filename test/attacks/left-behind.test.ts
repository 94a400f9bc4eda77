import PostalMime from 'postal-mime'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row, type Trial } from '#test/faults/row.ts'
import { isSigned } from '#test/webhooks.ts'
import { Browser, confirmEmail, overdueInvoice, signIn, signUp, startTarget, systemMailEnv } from './browser.ts'

/** A link that opens a file for everyone who has it. */
const secretLink = 'https://files.example.com/export.csv?key=7hVq2mXk'

/** A business with its owner, and how people join it. */
async function aBusiness(trial: Trial) {
  const systemMail = await openMailServer(trial)
  const environment = await onPostgres(trial)
  const receiver = trial.stack.use(await openFakeReceiver())
  const { url } = await startTarget(environment, { HOOK_ALLOW_PRIVATE_HOSTS: 'true', ...systemMailEnv(systemMail) })
  const owner = await signUp(url, { displayName: 'Asha Rao' })
  await confirmEmail(trial, systemMail, owner)
  const join = async (role: 'admin' | 'member' | 'viewer') => {
    const person = await signUp(url)
    await confirmEmail(trial, systemMail, person)
    const invited = await owner.ask('POST /business/invitations', { body: { email: person.email, role, ...owner.proof } })
    const { link } = invited.body as { link: string }
    const joined = await person.ask('POST /invitations/accept', { body: { token: link.split('#token=')[1] } })
    person.business = (joined.body as { _id: string })._id
    return person
  }
  const remove = async (who: Browser, whom: Browser, body: object) =>
    (await who.ask(`DELETE /business/members/${await whom.personId()}`, { body })).status
  const emails = async (subject: string) =>
    (await Promise.all(systemMail.mails.map(({ raw }) => PostalMime.parse(raw)))).filter(
      (mail) => mail.subject === subject && mail.to?.some(({ address }) => address === owner.email),
    ).length
  /** How many calls with an invoice a path of the receiver gets once there is one more. */
  const told = async (path: string, witness: string) => {
    const calls = (at: string) => receiver.calls.filter((call) => call.path === at)
    const [before, seen] = [calls(path).length, calls(witness).length]
    await owner.ask('POST /invoice', { body: overdueInvoice() })
    await trial.until('another webhook is called', () => calls(witness).length > seen)
    return calls(path).slice(before)
  }
  const hook = async (who: Browser, path: string) => {
    const body = { url: receiver.url + path, events: ['invoice.created'], ...who.proof }
    const added = await who.ask('POST /webhooks', { body })
    const { _id: id, secret } = added.body as { _id: string; secret: string }
    await trial.until('it is verified', async () =>
      ((await owner.ask('GET /webhooks')).body as { _id: string; pausedBecause: string | null }[]).some(
        (one) => one._id === id && one.pausedBecause === null,
      ),
    )
    return { id, secret }
  }
  const key = async (who: Browser) => {
    const made = await who.ask('POST /api-keys', { body: { name: 'Robot', scopes: ['read', 'write'], ...who.proof } })
    return new Browser(url, (made.body as { key: string }).key)
  }
  return { url, owner, receiver, join, remove, emails, told, hook, key }
}

row('134', 'an admin who leaves, or is removed, has what they made taken over', { short: true }, async (trial) => {
  trial.mustHold(
    'no key that they know opens anything, and no webhook is signed with a secret that they know; who is to take over is asked, and gets an email',
  )
  const { owner, join, remove, told, hook, key, emails } = await aBusiness(trial)
  await hook(owner, '/witness')
  const tries: { how: string; key: number; signed: number; removal: number }[] = []
  for (const leaves of [true, false]) {
    const admin = await join('admin')
    const stolen = await key(admin)
    const { secret } = await hook(admin, leaves ? '/left' : '/removed')
    const removal = await remove(leaves ? admin : owner, admin, { programs: 'take_over' })
    const me = await stolen.ask('GET /api/me')
    const calls = await told(leaves ? '/left' : '/removed', '/witness')
    const signed = calls.filter((call) => isSigned(call, secret, Date.now() / 1000)).length
    tries.push({ how: leaves ? 'leaving' : 'removal', key: me.status, signed, removal })
  }
  const waiting = ((await owner.ask('GET /business/handed-over')).body as unknown[]).length
  const emailed = await emails('Connections for you to take over')
  return {
    figure: `${tries.map((one) => `${one.how} ${one.removal}: the key ${one.key}, events signed with a known secret ${one.signed}`).join('; ')}; for the owner to decide ${waiting}, emails ${emailed}`,
    holds: tries.every((one) => one.removal === 204 && one.key === 401 && one.signed === 0) && waiting === 4 && emailed === 1,
  }
})

row(
  '135',
  'an admin points a webhook of the owner at themselves, adds a watched address, and is removed',
  { short: true },
  async (trial) => {
    trial.mustHold('the removal asks about each; afterwards nothing arrives; the owner gets an email for each')
    const { owner, receiver, join, remove, told, hook, emails } = await aBusiness(trial)
    await hook(owner, '/witness')
    const { id } = await hook(owner, '/ledger')
    const admin = await join('admin')
    const moved = await admin.ask(`PATCH /webhooks/${id}`, { body: { url: `${receiver.url}/theirs`, ...admin.proof } })
    const replaced = await admin.ask(`POST /webhooks/${id}/secret`, { body: admin.proof })
    const watched = await admin.ask('POST /sources', { body: { url: `${receiver.url}/invoices.csv`, ...admin.proof } })
    await trial.until('it is verified', () => receiver.challenges.some(({ path }) => path === '/theirs'))
    const unasked = await remove(owner, admin, {})
    const removed = unasked === 204 ? 204 : await remove(owner, admin, { programs: 'revoke' })
    const calls = (await told('/theirs', '/witness')).length
    const sources = ((await owner.ask('GET /sources')).body as unknown[]).length
    const mails = await emails('A connection of your business was changed')
    return {
      figure: `set by the admin ${[moved, replaced, watched].map(({ status }) => status).join(', ')}; removed without a question ${unasked}, then ${removed}; events that arrived ${calls}, sources left ${sources}, emails to the owner ${mails}`,
      holds:
        [moved, replaced, watched].every(({ status }) => status < 300) &&
        unasked === 400 &&
        removed === 204 &&
        calls === 0 &&
        sources === 0 &&
        mails === 3,
    }
  },
)

row(
  '139',
  'a stolen session makes a key and an admin, moves a webhook and a mailbox; and a key outlives a new password',
  { short: true },
  async (trial) => {
    trial.mustHold('all refused without the password, also in a session that is minutes old; a new password ends the keys of its person')
    const { url, owner, receiver, join, hook, key } = await aBusiness(trial)
    const viewer = await join('viewer')
    const smtp = await openMailServer(trial)
    const first = await owner.saveMailbox(smtp)
    const { id } = await hook(owner, '/ledger')
    const robot = await key(owner)
    const thief = owner.copy()
    const { host, port, login } = smtp
    // Nor is there room for a first one once it was removed.
    await thief.ask('DELETE /mail-config')
    const bodies = {
      'POST /api-keys': { name: 'Mine', scopes: ['read'] },
      'POST /webhooks': { url: `${receiver.url}/mine`, events: ['invoice.created'] },
      [`PATCH /webhooks/${id}`]: { url: `${receiver.url}/moved` },
      [`POST /webhooks/${id}/secret`]: undefined,
      'POST /sources': { url: secretLink },
      'POST /mail-config/smtp': { host, port, secure: false, ...login },
      'POST /mailboxes': { provider: 'smtp', host, port, secure: false, ...login },
      'POST /business/reply-to': { email: 'thief@example.com' },
      'POST /business/invitations': { email: 'thief@example.com', role: 'admin' },
      [`PATCH /business/members/${await viewer.personId()}`]: { role: 'admin' },
    }
    const answered: string[] = []
    for (const [call, body] of Object.entries(bodies))
      for (const proven of body === undefined ? [{}] : [{}, { currentPassword: 'wrong horse' }]) {
        const { status } = await thief.ask(call, body === undefined ? {} : { body: { ...body, ...proven } })
        answered.push(`${call.replace(/[\da-f-]{36}/, ':id')} ${status}`)
      }
    const newPassword = 'a new password after the theft'
    await owner.ask('PATCH /user/change-password', { body: { ...owner.proof, newPassword } })
    const outlives = (await robot.ask('GET /api/me')).status
    const back = await signIn(url, owner.email, newPassword)
    return {
      figure: `first mailbox ${first.status}; ${answered.join(', ')}; the key after a new password ${outlives}`,
      holds: first.status === 200 && answered.every((one) => / 40[01]$/.test(one)) && outlives === 401 && back !== null,
    }
  },
)

row('144', 'a viewer and a member read the link of a watched address', { short: true }, async (trial) => {
  trial.mustHold('they see its name and its last result; the link is for admins')
  const { owner, join } = await aBusiness(trial)
  await owner.ask('POST /sources', { body: { name: 'Ledger', url: secretLink, ...owner.proof } })
  const seen: string[] = []
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const { text } = await (await join(role)).ask('GET /sources')
    seen.push(`${role} ${text.includes('Ledger') ? 'its name' : 'nothing'}${text.includes('7hVq2mXk') ? ' and the link' : ''}`)
  }
  return { figure: seen.join(', '), holds: seen.join() === 'viewer its name,member its name,admin its name and the link' }
})
