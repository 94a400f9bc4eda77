import { onPostgres } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import { Browser, overdueInvoice, password, signUp, startTarget } from './browser.ts'

const inBusiness = (id: string) => ({ 'duely-business': id })

async function makeKey(browser: Browser, business?: string): Promise<Browser> {
  const headers = business === undefined ? {} : inBusiness(business)
  const body = { name: 'Mine', scopes: ['read', 'write'], currentPassword: password }
  const made = await browser.ask('POST /api-keys', { body, headers })
  const { key } = (
    made.status === 400 ? await browser.ask('POST /api-keys', { body: { ...body, currentPassword: undefined }, headers }) : made
  ).body as { key: string }
  return new Browser(browser.url, key)
}

row('146', 'an admin makes a key and changes an invoice, and is removed', { short: true }, async (trial) => {
  trial.mustHold('the logs name them as long as they have an account, and then as a former member')
  const { url } = await startTarget(await onPostgres(trial))
  const owner = await signUp(url, { displayName: 'Asha Rao' })
  const admin = await signUp(url, { displayName: 'Farah Khan' })
  const { link } = (await owner.ask('POST /business/invitations', { body: { email: admin.email, role: 'admin' } })).body as { link: string }
  await admin.ask('POST /invitations/accept', { body: { token: link.split('#token=')[1] } })
  const business = await owner.accountId()
  await makeKey(admin, business)
  const { _id } = (await admin.ask('POST /invoice', { body: overdueInvoice(), headers: inBusiness(business) })).body as { _id: string }
  const named = async () => {
    const log = (await owner.ask('GET /business/audit')).body as { kind: string; by: string }[]
    const { changes } = (await owner.ask(`GET /invoice/${_id}/history`)).body as { changes: { by: string }[] }
    return `${log.find(({ kind }) => kind === 'key_made')?.by}, ${changes.at(-1)?.by}`
  }
  const there = await named()
  await owner.ask(`DELETE /business/members/${await admin.personId()}`, { body: { programs: 'revoke' } })
  const removed = await named()
  await admin.ask('DELETE /user/account')
  const deleted = await named()
  return {
    figure: `key and invoice, while they work there: ${there}; removed: ${removed}; without an account: ${deleted}`,
    holds: there === 'Farah Khan, Farah Khan' && removed === there && deleted === 'a former member, a former member',
  }
})
