import { expect, test } from 'vitest'
import { csvCell } from './csv.ts'

test.each([
  ['a;=1+1;b', "a;'=1+1;b"],
  ['a;"=1+1";b', `a;"'=1+1";b`],
  ['a; ;+1;b', "a; ;'+1;b"],
  ['a\n@SUM(A1)', "a\n'@SUM(A1)"],
  ['=1;=2', "'=1;'=2"],
  ['a;b=1+1;c - d', 'a;b=1+1;c - d'],
])('%j begins no formula where cells end at semicolons, tabs or line breaks', (text, written) => {
  expect(csvCell(text)).toBe(`"${written.replaceAll('"', '""')}"`)
})
