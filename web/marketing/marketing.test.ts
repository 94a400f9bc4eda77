import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocksOf } from './privacy-screen.tsx'

test('a Markdown text is read as headings, paragraphs, lists and tables, without its title', () => {
  const text =
    '# Title\n\nTwo\nlines.\n\n| data | kept |\n| ---- | ---- |\n| name | 30 days |\n\n## Your rights\n\n- **One**: first\n  line\n- Two\n'
  expect(blocksOf(text)).toEqual([
    { kind: 'paragraph', text: 'Two lines.' },
    { kind: 'table', head: ['data', 'kept'], rows: [['name', '30 days']] },
    { kind: 'heading', text: 'Your rights' },
    { kind: 'list', items: ['**One**: first line', 'Two'] },
  ])
})

test('every block of docs/privacy.md is shown as what it is: no row lacks a cell, and no Markdown is left over', () => {
  const blocks = blocksOf(readFileSync('docs/privacy.md', 'utf8'))
  const [table] = blocks.filter((block) => block.kind === 'table')
  expect(table?.head).toHaveLength(4)
  expect(table?.rows.filter((row) => row.length !== 4)).toEqual([])
  const words = blocks.flatMap((block) => {
    if (block.kind === 'table') return block.rows.flat()
    return block.kind === 'list' ? block.items : [block.text]
  })
  expect(words.filter((text) => /\]\(|^#|^\||~~|\*\*[^*]*$/.test(text.replaceAll(/\*\*[^*]+\*\*/g, '')))).toEqual([])
})
