import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { findSender, sealedSenders, storeSmtp } from '#server/mail/mail.ts'
import { reseal } from '#server/platform/reseal.ts'
import { seal, sealMark, unseal } from '#server/platform/secrets.ts'
import { aPerson } from '#test/factories.ts'
import { openTestApp } from '#test/harness.ts'

const [before, now] = ['the secret key of before, 32 characters', 'the secret key of now, also 32 characters']
const both = `${now}\n${before}`
const [passwords] = sealedSenders
if (!passwords) throw new Error('Nothing is sealed.')
const draft = { host: 'smtp.example.com', port: 587, secure: false, user: 'asha@example.com', pass: 'app-password' }

test('a sealed secret opens only with its own key, place and purpose', () => {
  const sealed = seal(before, 'mail-password', 'a row', 'app-password')
  expect(unseal(both, 'mail-password', 'a row', sealed)).toBe('app-password')
  expect(() => unseal(now, 'mail-password', 'a row', sealed)).toThrow()
  expect(() => unseal(both, 'mail-password', 'another row', sealed)).toThrow()
  expect(() => unseal(both, 'second-factor', 'a row', sealed)).toThrow()
  expect(() => unseal(both, 'mail-password', 'a row', `${sealed.slice(0, -2)}AA`)).toThrow()
  expect(seal(both, 'mail-password', 'a row', 'x')).toContain(sealMark(now, 'mail-password'))
})

test('every secret is re-encrypted with the new key, and a second run changes nothing', async () => {
  await using app = await openTestApp()
  const people = []
  for (let n = 0; n < 205; n += 1) people.push(await aPerson(app))
  for (const { id } of people) await storeSmtp(app.db, before, id, draft, app.clock.now())
  expect(await reseal(app.db, both, passwords)).toEqual({ done: 205, closed: 0 })
  expect(await reseal(app.db, both, passwords)).toEqual({ done: 0, closed: 0 })
  for (const { id } of people) {
    const sealed = (await findSender(app.db, id))?.sealedPassword ?? ''
    expect(unseal(now, passwords.purpose, passwords.place(id, id), sealed)).toBe(draft.pass)
  }
})

test('a forged or moved secret stays closed and does not stop the rotation', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  await storeSmtp(app.db, before, asha.id, draft, app.clock.now())
  await storeSmtp(app.db, before, meera.id, draft, app.clock.now())
  await app.db.execute(
    sql`UPDATE mail_configs SET sealed_password = (SELECT sealed_password FROM mail_configs WHERE owner_id = ${asha.id}) WHERE owner_id = ${meera.id}`,
  )
  expect(await reseal(app.db, both, passwords)).toEqual({ done: 1, closed: 1 })
})
