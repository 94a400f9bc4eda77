import { afterEach, beforeEach, expect, vi } from 'vitest'
import { errorsLogged, secretsTold } from './harness.ts'

// A setup file runs again for every test file, also where files share their modules: hooks must be registered here, not in the harness.

beforeEach(() => {
  errorsLogged.length = 0
  secretsTold.length = 0
  vi.spyOn(console, 'error').mockImplementation((...words: unknown[]) => {
    errorsLogged.push(words.map(String).join(' '))
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  expect(errorsLogged, 'unexpected errors').toEqual([])
  expect(secretsTold, 'leaked secrets').toEqual([])
})
