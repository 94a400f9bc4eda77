// Also on PostgreSQL: a takeover locks businesses and people in the order of everyone else.
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { joinAs, linkSentTo, newPassword, openSquatted, password, takeOver, withoutMail } from '#test/squatted.ts'
import { times } from '#test/thorough.ts'
import { giveBusiness } from './team.ts'

const within = ({ id }: Pick<Person, 'id'>) => ({ [businessHeader]: id })

/** Someone owns a business, and hands it over; neither needs a confirmed email yet. */
async function handOver(app: TestApp, { business, from, to }: { business: Pick<Person, 'id'>; from: Person; to: Person }) {
  const body = { personId: String(to.personId), currentPassword: password }
  expect((await ask(app, from, teamCalls.offerOwnership, { body }, within(business))).status).toBe(204)
  expect((await ask(app, to, teamCalls.acceptOwnership, {}, within(business))).status).toBe(200)
}

async function businessesOf(app: TestApp, { email }: Person) {
  const { reply } = await ask(app, null, accountCalls.signIn, { body: { email, password: newPassword } })
  const owner = { token: reply.accessToken }
  return { owner, list: (await ask(app, owner, businessCalls.list)).reply }
}

const peopleIn = async (app: TestApp, asker: Person, business: Pick<Person, 'id'>) =>
  (await ask(app, asker, teamCalls.members, {}, within(business))).reply.members.map(({ email, role }) => `${email} ${role}`)

test('someone who handed their business over before the takeover gets an empty one, and the screens say where they no longer work', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const attacker = await aPerson(app, { displayName: 'Attacker' })
  await anInvoice(app, { owner: stranger })
  await withoutMail(app, async () => {
    await joinAs(app, stranger, attacker, 'admin')
    await handOver(app, { business: stranger, from: stranger, to: attacker })
  })
  await ask(app, attacker, businessCalls.change, { body: { name: 'Owner & Sons' } }, within(stranger))
  const { reply } = await takeOver(squatted, stranger)
  expect(reply).toMatchObject({ left: ['Owner & Sons'], removed: ['display_name'] })
  expect(reply.message).toContain('It was removed from “Owner & Sons”')
  expect(reply.message).not.toContain('Your invoices are still here')
  const { owner, list } = await businessesOf(app, stranger)
  expect(list).toMatchObject([{ name: 'owner', role: 'owner' }])
  expect(list[0]?._id).not.toBe(stranger.id)
  expect((await ask(app, owner, invoiceCalls.list, { query: {} })).reply).toEqual([])
  expect((await ask(app, owner, noticeCalls.list)).reply).toMatchObject([
    { kind: 'taken_over', text: expect.stringContaining('“Owner & Sons”') },
  ])
  expect(await peopleIn(app, attacker, stranger)).toEqual([`${attacker.email} owner`])
})

test('a business that was handed to someone goes back at the takeover, without what they made there', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const [vikram, farah] = [await aPerson(app, { password, confirmed: true }), await aPerson(app, { confirmed: true })]
  const { key, hook } = await withoutMail(app, async () => {
    await joinAs(app, vikram, farah, 'admin')
    await joinAs(app, vikram, stranger, 'admin')
    await handOver(app, { business: vikram, from: vikram, to: stranger })
    // Only its owner has another role, so that a demoted former owner still gets it back.
    const demoted = { params: { personId: String(vikram.personId) }, body: { role: 'viewer' as const } }
    expect((await ask(app, stranger, teamCalls.changeMember, demoted, within(vikram))).status).toBe(200)
    const added = { name: 'Mine', scopes: ['read' as const] }
    return {
      key: (await ask(app, stranger, integrationCalls.addKey, { body: { ...added, currentPassword: password } }, within(vikram))).reply.key,
      hook: (await ask(app, farah, integrationCalls.addKey, { body: added }, within(vikram))).reply.key,
    }
  })
  expect((await takeOver(squatted, stranger)).reply.left).toEqual([vikram.displayName])
  expect(await peopleIn(app, vikram, vikram)).toEqual([`${vikram.email} owner`, `${farah.email} admin`])
  expect((await ask(app, { token: key }, integrationCalls.me)).status).toBe(401)
  expect((await ask(app, { token: hook }, integrationCalls.me)).status).toBe(200)
  expect((await businessesOf(app, stranger)).list).toMatchObject([{ _id: stranger.id }])
})

test('where the one who handed a business over is gone, its oldest admin gets it', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const [vikram, farah, meera] = [await aPerson(app, { password }), await aPerson(app), await aPerson(app)]
  await withoutMail(app, async () => {
    for (const [person, role] of [
      [stranger, 'admin'],
      [meera, 'member'],
      [farah, 'admin'],
    ] as const)
      await joinAs(app, vikram, person, role)
    await handOver(app, { business: vikram, from: vikram, to: stranger })
    const self = { params: { personId: String(vikram.personId) }, body: {} }
    expect((await ask(app, vikram, teamCalls.removeMember, self, within(vikram))).status).toBe(204)
  })
  await takeOver(squatted, stranger)
  expect(await peopleIn(app, farah, vikram)).toEqual([`${farah.email} owner`, `${meera.email} member`])
})

test('a business that the operator gave them, or that no one can take back, stays theirs and is emptied', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const [vikram, farah] = [await aPerson(app, { password }), await aPerson(app, { password })]
  app.clock.advance({ minutes: 1 })
  await withoutMail(app, async () => {
    await giveBusiness(app.deps, vikram.id, stranger.email, app.clock.now(), async () => undefined)
    await joinAs(app, farah, stranger, 'admin')
    await handOver(app, { business: farah, from: farah, to: stranger })
    const self = { params: { personId: String(farah.personId) }, body: {} }
    expect((await ask(app, farah, teamCalls.removeMember, self, within(farah))).status).toBe(204)
  })
  const { reply } = await takeOver(squatted, stranger)
  expect(reply.left).toBeUndefined()
  expect(reply.removed).toContain('team')
  const { list } = await businessesOf(app, stranger)
  expect(list.map(({ _id, role }) => `${_id} ${role}`).toSorted()).toEqual(
    [stranger.id, vikram.id, farah.id].map((id) => `${id} owner`).toSorted(),
  )
  expect((await ask(app, vikram, businessCalls.list)).reply).toMatchObject([{ role: 'owner', owner: vikram.displayName }])
})

test('where the server can send the link, no one with an unconfirmed email invites, hands over or accepts', async () => {
  await using squatted = await openSquatted()
  const { app, stranger } = squatted
  const vikram = await aPerson(app, { password, confirmed: true })
  await withoutMail(app, async () => {
    await joinAs(app, stranger, vikram, 'admin')
    await joinAs(app, vikram, stranger, 'admin')
    await ask(app, stranger, teamCalls.invite, { body: { email: 'friend@example.com', role: 'viewer' } }, within(stranger))
  })
  const refused = (wish: string) => ({
    status: 403,
    problem: {
      code: 'email_not_confirmed',
      message: `Open the link that we sent to ${stranger.email} to confirm your email, then ${wish}.`,
    },
  })
  const body = { email: 'friend@example.com', role: 'viewer' as const }
  for (const business of [stranger, vikram])
    expect(await ask(app, stranger, teamCalls.invite, { body }, within(business))).toMatchObject(refused('invite people'))
  const [waiting] = (await ask(app, stranger, teamCalls.invitations, {}, within(stranger))).reply
  const again = { params: { id: waiting?._id ?? '' } }
  expect(await ask(app, stranger, teamCalls.inviteAgain, again, within(stranger))).toMatchObject(refused('invite people'))
  const to = (person: Person) => ({ body: { personId: String(person.personId), currentPassword: password } })
  expect(await ask(app, stranger, teamCalls.offerOwnership, to(vikram), within(stranger))).toMatchObject(refused('hand over the business'))
  expect((await ask(app, vikram, teamCalls.offerOwnership, to(stranger), within(vikram))).status).toBe(204)
  expect(await ask(app, stranger, teamCalls.acceptOwnership, {}, within(vikram))).toMatchObject(refused('accept the business'))
  await expect(giveBusiness(app.deps, vikram.id, stranger.email, app.clock.now(), async () => undefined)).rejects.toThrow(
    `${stranger.email} is not confirmed.`,
  )
})

test('what is joined or accepted at the moment of the takeover is left too', async () => {
  await using squatted = await openSquatted()
  const { app } = squatted
  for (let nth = 0; nth < times(2, 20); nth += 1) {
    const stranger = await aPerson(app, { password })
    const [vikram, farah] = [await aPerson(app, { password }), await aPerson(app)]
    await ask(app, null, accountCalls.forgotPassword, { body: { email: stranger.email } })
    const token = await linkSentTo(squatted, stranger.email)
    await withoutMail(app, async () => {
      await joinAs(app, vikram, stranger, 'admin')
      const offer = { personId: String(stranger.personId), currentPassword: password }
      await ask(app, vikram, teamCalls.offerOwnership, { body: offer }, within(vikram))
      const invited = await ask(app, farah, teamCalls.invite, { body: { email: stranger.email, role: 'admin' } }, within(farah))
      const invitation = { token: invited.reply.link.split('#token=')[1] ?? '' }
      const [taken] = await Promise.all([
        ask(app, null, accountCalls.resetPassword, { body: { token, newPassword } }),
        ask(app, stranger, teamCalls.acceptInvitation, { body: invitation }),
        ask(app, stranger, teamCalls.acceptOwnership, {}, within(vikram)),
      ])
      expect(taken.status).toBe(200)
    })
    expect((await businessesOf(app, stranger)).list).toMatchObject([{ _id: stranger.id, role: 'owner' }])
    expect(await peopleIn(app, vikram, vikram)).toEqual([`${vikram.email} owner`])
    expect(await peopleIn(app, farah, farah)).toEqual([`${farah.email} owner`])
  }
})
