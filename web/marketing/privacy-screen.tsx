import { Fragment, type ReactNode } from 'react'
import { screens } from '#contract/screens.ts'
import styles from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** docs/privacy.md, as it was when this page was built. */
const [privacy = ''] = Object.values(import.meta.glob<string>('/docs/privacy.md', { query: '?raw', import: 'default', eager: true }))

export default function PrivacyScreen(): ReactNode {
  return (
    <PlainPage texts={texts.privacy} path={screens.privacy}>
      <Markdown text={privacy} />
    </PlainPage>
  )
}

type Block =
  | { kind: 'heading' | 'paragraph'; text: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; head: string[]; rows: string[][] }

/** The blocks of a Markdown text: headings of the second level, paragraphs, lists and tables. The title is left out. */
export function blocksOf(markdown: string): Block[] {
  return markdown
    .split(/\n{2,}/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '' && !piece.startsWith('# '))
    .map((piece): Block => {
      if (piece.startsWith('## ')) return { kind: 'heading', text: piece.slice(3) }
      if (piece.startsWith('- ')) return { kind: 'list', items: piece.slice(2).split('\n- ').map(onOneLine) }
      if (!piece.startsWith('|')) return { kind: 'paragraph', text: onOneLine(piece) }
      const [head = [], , ...rows] = piece.split('\n').map((line) => line.split('|').slice(1, -1).map(onOneLine))
      return { kind: 'table', head, rows }
    })
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function Markdown({ text }: { text: string }): ReactNode {
  return blocksOf(text).map((block, nth) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes.
    <Fragment key={nth}>
      <MarkdownBlock block={block} />
    </Fragment>
  ))
}

function MarkdownBlock({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case 'heading':
      return <h2 className={styles.heading}>{block.text}</h2>
    case 'paragraph':
      return (
        <p className={styles.paragraph}>
          <Inline text={block.text} />
        </p>
      )
    case 'list':
      return (
        <ul className={styles.list}>
          {block.items.map((item) => (
            <li key={item}>
              <Inline text={item} />
            </li>
          ))}
        </ul>
      )
    case 'table':
      return <Table head={block.head} rows={block.rows} />
  }
}

/** On a phone each row is a card, whose cells carry the names of their columns. */
function Table({ head, rows }: { head: string[]; rows: string[][] }): ReactNode {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first = '', ...cells]) => (
          <tr key={first}>
            <th scope="row">{first}</th>
            {cells.map((cell, nth) => (
              <td key={head[nth + 1]} data-column={head[nth + 1]}>
                <Inline text={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** `**strong**` and `code`. */
function Inline({ text }: { text: string }): ReactNode {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, nth) => {
    if (part.startsWith('**')) return <strong key={part}>{part.slice(2, -2)}</strong>
    if (part.startsWith('`')) return <code key={part}>{part.slice(1, -1)}</code>
    // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes.
    return <Fragment key={nth}>{part}</Fragment>
  })
}
