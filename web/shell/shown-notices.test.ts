import { expect, test } from 'vitest'
import type { Notice } from '#contract/notices.ts'
import { shownNotices } from './shown-notices.ts'

const aNotice = (kind: Notice['kind']): Notice => ({
  _id: kind,
  kind,
  title: kind,
  text: '',
  link: null,
  createdAt: '2026-03-02T03:30:00Z',
})
const all = [aNotice('promise_broken'), aNotice('login_refused'), aNotice('quota')]
const kinds = (notices: Notice[]) => notices.map(({ kind }) => kind)

test('a mailbox that refuses is told once, by its banner', () => {
  const pause = {
    reason: 'login_refused' as const,
    provider: 'smtp' as const,
    message: '535 no',
    since: '2026-03-02T03:30:00Z',
    until: null,
  }
  expect(kinds(shownNotices(all, pause))).toEqual(['promise_broken'])
})

test('a login that works again is no news any more, yesterday’s quota is', () => {
  expect(kinds(shownNotices(all, null))).toEqual(['promise_broken', 'quota'])
})
