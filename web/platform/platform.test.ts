import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { businessHeader } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { changedFields, withTyped } from './contract-form.tsx'
import { send } from './send.ts'
import { keepBusiness, openBusiness, readBusiness } from './session.ts'

/** A storage of the browser. */
function aStorage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

const assign = vi.fn()
const asked: (string | undefined)[] = []
/** What the server answers: the status, and the business that the answer is about. */
let answer: [status: number, about: string | null] = [200, null]

beforeEach(() => {
  vi.stubGlobal('localStorage', aStorage())
  vi.stubGlobal('sessionStorage', aStorage())
  vi.stubGlobal('window', { location: { assign } })
  vi.stubGlobal('fetch', async (_address: string, { headers }: { headers: Record<string, string> }) => {
    asked.push(headers[businessHeader])
    const [status, about] = answer
    return new Response('[]', { status, headers: about === null ? {} : { [businessHeader]: about } })
  })
  localStorage.setItem('user', JSON.stringify({ _id: 'asha', displayName: 'Asha Rao', email: 'asha@example.com' }))
  localStorage.setItem('accessToken', 'token')
  asked.length = 0
  answer = [200, null]
  keepBusiness('neem')
})
afterEach(() => {
  vi.unstubAllGlobals()
  assign.mockClear()
})

test('a page that is kept although another business was chosen, such as for an unsaved form, stays about its own', async () => {
  openBusiness('banyan', '/dashboard')
  expect(assign).toHaveBeenCalledWith('/dashboard')
  // The person chose to stay: the page is still there.
  await send(invoiceCalls.list)
  expect([asked, readBusiness()]).toEqual([['neem'], 'neem'])
  // The next page is about the other one.
  expect(sessionStorage.getItem('duely-business')).toBe('asha banyan')
})

test('a page of a business that the person was removed from saves nothing in another one', async () => {
  answer = [404, null]
  await expect(send(invoiceCalls.list)).rejects.toThrow()
  expect(assign).toHaveBeenCalledTimes(1)
  await expect(send(invoiceCalls.list)).rejects.toThrow()
  expect([asked, assign.mock.calls.length]).toEqual([['neem', 'neem'], 1])
  expect(sessionStorage.getItem('duely-business')).toBeNull()
})

const before = { timezone: 'Asia/Kolkata', reminderHour: 9, address: ['1 Neem Road', 'Pune'], colour: null as string | null }

test('only the fields that differ are sent, and lists by what they contain', () => {
  expect(changedFields(before, { ...before, address: [...before.address] })).toEqual({})
  expect(changedFields(before, { ...before, reminderHour: 10, address: ['1 Neem Road'] })).toEqual({
    reminderHour: 10,
    address: ['1 Neem Road'],
  })
  expect(changedFields({ ...before, colour: '#112233' }, before)).toEqual({ colour: null })
})

test('a form takes over what someone else changed, and keeps what was typed', () => {
  const newest = { ...before, reminderHour: 8, address: ['2 Neem Road'] }
  const typed = { ...before, address: ['3 Neem Road'] }
  expect(withTyped(newest, before, typed)).toEqual({ ...newest, address: ['3 Neem Road'] })
  expect(changedFields(newest, withTyped(newest, before, typed))).toEqual({ address: ['3 Neem Road'] })
})
