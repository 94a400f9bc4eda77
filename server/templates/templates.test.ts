import { expect, test } from 'vitest'
import { defaultContent, defaultSubject, templateCalls } from '#contract/templates.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readWordings } from './templates.ts'

const own = { customSubject: 'About {{invoiceId}}', customContent: 'Dear {{clientName}}' }
const save = (app: TestApp, someone: Person, body: { useCustomTemplate?: boolean; customSubject?: string; customContent?: string }) =>
  ask(app, someone, templateCalls.save, { body })

test('without own texts the default is used', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await ask(app, asha, templateCalls.read)).reply).toEqual({
    useCustomTemplate: false,
    customSubject: '',
    customContent: '',
    defaultSubject,
    defaultContent,
    version: expect.any(String),
  })
  expect((await readWordings(app.db, [asha.id])).get(asha.id)?.one).toEqual({ subject: defaultSubject, content: defaultContent })
})

test('the first switch-on starts from the default texts', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { status, reply } = await save(app, asha, { useCustomTemplate: true })
  expect(status).toBe(200)
  expect(reply).toMatchObject({ useCustomTemplate: true, customSubject: defaultSubject, customContent: defaultContent })
  expect((await ask(app, asha, templateCalls.read)).reply).toEqual(reply)
})

test('own texts are used while they are switched on and kept while they are off', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await save(app, asha, { useCustomTemplate: true, ...own })
  expect((await readWordings(app.db, [asha.id])).get(asha.id)?.one).toEqual({ subject: own.customSubject, content: own.customContent })
  await save(app, asha, { useCustomTemplate: false })
  expect((await readWordings(app.db, [asha.id])).get(asha.id)?.one).toEqual({ subject: defaultSubject, content: defaultContent })
  expect((await save(app, asha, { useCustomTemplate: true })).reply).toMatchObject({ useCustomTemplate: true, ...own })
})

test('a change of one part leaves the others alone', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await save(app, asha, { useCustomTemplate: true, ...own })
  expect((await save(app, asha, { customSubject: 'New' })).reply).toMatchObject({
    useCustomTemplate: true,
    customSubject: 'New',
    customContent: own.customContent,
  })
  expect((await save(app, asha, {})).reply).toMatchObject({ customSubject: 'New', customContent: own.customContent })
})

test('changes of different parts at the same moment are both kept', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await Promise.all([save(app, asha, { customSubject: own.customSubject }), save(app, asha, { customContent: own.customContent })])
  expect((await ask(app, asha, templateCalls.read)).reply).toMatchObject(own)
})

test('a template in use needs a subject and a text, and says which one is missing', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const both = await save(app, asha, { useCustomTemplate: true, customSubject: ' ', customContent: '\n' })
  expect(both.status).toBe(400)
  expect(both.problem?.errors?.map(({ path }) => path)).toEqual(['customSubject', 'customContent'])
  await save(app, asha, { useCustomTemplate: true, ...own })
  const subject = await save(app, asha, { customSubject: '' })
  expect(subject.problem).toMatchObject({ code: 'invalid', message: 'Please enter a subject.', errors: [{ path: 'customSubject' }] })
  expect((await ask(app, asha, templateCalls.read)).reply).toMatchObject({ useCustomTemplate: true, ...own })
  expect((await save(app, asha, { useCustomTemplate: false, customSubject: '' })).status).toBe(200)
  expect((await save(app, asha, { useCustomTemplate: true })).problem?.errors).toMatchObject([{ path: 'customSubject' }])
})

test('a variable that does not exist is refused by its name', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { status, problem } = await save(app, asha, {
    customSubject: 'For {{client}}',
    customContent: 'Dear {{clientName}}, {{total}} {{amount}',
  })
  expect(status).toBe(400)
  expect(problem?.errors?.map(({ path }) => path)).toEqual(['customSubject', 'customContent', 'customContent'])
  expect(problem?.message).toContain('{{client}}')
  expect(problem?.errors?.[1]?.message).toContain('{{total}}')
})

test('a template may use the list of invoices once and any other variable 20 times', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const group = (body: object) => ask(app, asha, templateCalls.saveGroup, { body })
  const twice = await group({ customSubject: 'All', customContent: '{{invoiceList}} {{invoiceList}}' })
  expect(twice.problem).toMatchObject({
    code: 'invalid',
    message: 'Use {{invoiceList}} only once; it is used 2 times.',
    errors: [{ path: 'customContent' }],
  })
  // Subject and content count together, whichever of them was saved first.
  expect((await group({ customContent: '{{invoiceList}}' })).status).toBe(200)
  expect((await group({ customSubject: '{{invoiceList}}' })).problem?.message).toContain('only once')
  expect((await save(app, asha, { customSubject: 'Hello', customContent: '{{clientName}} '.repeat(20) })).status).toBe(200)
  expect((await save(app, asha, { customContent: '{{clientName}} '.repeat(21) })).problem?.message).toBe(
    'Use {{clientName}} at most 20 times; it is used 21 times.',
  )
  expect((await ask(app, asha, templateCalls.read)).reply.customContent).toBe('{{clientName}} '.repeat(20))
})

test('a two-line subject, an oversized text and an unknown key are refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await save(app, asha, { customSubject: 'One\r\nBcc: x@example.com' })).problem?.errors).toMatchObject([{ path: 'customSubject' }])
  expect((await save(app, asha, { customContent: 'a'.repeat(20_001) })).problem?.errors).toMatchObject([{ path: 'customContent' }])
  expect((await save(app, asha, { customContent: 'a\0b' })).problem?.errors).toMatchObject([{ path: 'customContent' }])
  const extra = { ...own, ownerId: 'somebody' }
  expect((await save(app, asha, extra)).status).toBe(400)
})

test('an account has own texts in at most 20 languages, and cleared ones make room', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const saveIn = (language: string, body: object) => ask(app, asha, templateCalls.save, { query: { language }, body })
  const tags = Array.from({ length: 20 }, (_, nth) => `de-a${String(nth).padStart(4, '0')}`)
  for (const tag of tags) expect((await saveIn(tag, own)).status).toBe(200)
  const beyond = await saveIn('fr', own)
  expect(beyond.problem).toEqual({
    code: 'conflict',
    message: 'You have texts in 20 languages, the most there can be. Please clear those in another language first.',
  })
  expect((await saveIn(tags[0] ?? '', { customSubject: 'New' })).status).toBe(200)
  const group = { customSubject: 'All', customContent: '{{invoiceList}}' }
  expect((await ask(app, asha, templateCalls.saveGroup, { query: { language: tags[0] ?? '' }, body: group })).status).toBe(200)
  await saveIn(tags[1] ?? '', { customSubject: '', customContent: '' })
  expect((await saveIn('fr', own)).status).toBe(200)
})

test('each account has its own template', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  await save(app, asha, { useCustomTemplate: true, ...own })
  expect((await ask(app, ravi, templateCalls.read)).reply).toMatchObject({ useCustomTemplate: false, customSubject: '' })
})
