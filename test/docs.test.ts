import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const decisions = 'docs/decisions'
const records = readdirSync(decisions)
  .filter((name) => name !== 'README.md')
  .sort()
const pages = globSync('{*.md,docs/**/*.md,zapier/*.md}')

test('decision records are numbered without gaps and titled alike in file and index', () => {
  const index = readFileSync(`${decisions}/README.md`, 'utf8').split('\n')
  expect(records.map((name) => name.slice(0, 3))).toEqual(records.map((_, nth) => String(nth + 1).padStart(3, '0')))
  for (const name of records) {
    const number = name.slice(0, 3)
    const [, title] = /^# (.*)$/m.exec(readFileSync(`${decisions}/${name}`, 'utf8')) ?? []
    const row = index.find((line) => line.includes(`[${number}](${name})`))
    expect(`${number} ${row?.split('|')[2]?.trim()}`, name).toBe(title)
  }
})

test('each decision record names its alternatives', () => {
  const parts = ['Context', 'Decision', 'Alternatives', 'Consequences'].map((part) => `**${part}.**`)
  expect(records.filter((name) => parts.some((part) => !readFileSync(`${decisions}/${name}`, 'utf8').includes(part)))).toEqual([])
})

test('links between pages and paths of files in them lead somewhere', () => {
  const lost = pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8')
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => path.join(path.dirname(page), target))
    const files = [...text.matchAll(/`((?:contract|server|web|test|run|dev|bench|docs|migrations|zapier)\/[\w./-]+\.\w+)`/g)].map(
      ([, file = '']) => file,
    )
    // This page leaves `server/` out.
    const ofServer = page === 'docs/security.md' ? [...text.matchAll(/`([a-z]+\/[\w.-]+\.ts)`/g)].map(([, file = '']) => file) : []
    return [
      ...[...links, ...files].filter((file) => !existsSync(file)),
      ...ofServer.filter((file) => !existsSync(file) && !existsSync(path.join('server', file))),
    ].map((file) => `${page}: ${file}`)
  })
  expect(lost).toEqual([])
})
