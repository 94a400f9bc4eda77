/*
 * The words that STYLE.md refuses, searched for in texts, docs, comments and test names. `npm run check` runs this file.
 * One part: node run/words.ts server/mail; how many there are per folder: node run/words.ts --count
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const verb = String.raw`(?!its |this |plus )(?:is|was|are|were|has|had|may|might|can|could|must|will|would|[a-z]+(?:s|ed))\b`
const refused: [words: RegExp, instead: string][] = [
  [/\bwho(?:m)?ever\b/i, 'name the person'],
  [new RegExp(String.raw`\bwhatever ${verb}`, 'i'), 'name the thing'],
  [/\bsomebody\b/i, 'name the person, or "someone"'],
  [/\bnobody\b(?!@)/i, 'name what does or does not happen'],
  [/\banew\b/i, '"again"'],
  [/\bby (?:itself|themselves)\b/i, '"automatically"'],
  [/\b(?:becomes?|became|becoming) of\b/i, '"outcome", "state"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix"'],
  [/\b(?:is|are|was|were|be|been|being) told\b|\btold of\b/i, '"notified", "shown"'],
  [/\bgood for\b/i, '"valid for"'],
  [/\bstands?\b(?! for\b|-)/i, '"is shown", "is"'],
  [/\b(?:goes|go|went|going) on\b/i, '"resumes", "continues"'],
  [/\bfor good\b/i, '"permanently"'],
]
/** Sentences that the product's specification fixes word for word. */
const fixed = [
  'Refund it there; it is then taken off here by itself.',
  'has been told.',
  'Please ask whoever sent it for a new one.',
  'Its reminders go on.',
  'is told at once.',
  'Never by itself',
  'nothing more leaves by itself.',
  'usually pays by itself by day ',
  'They leave by themselves if Duely is back before 18:00. Please tell whoever runs ',
  'If nobody pays meanwhile and every email is accepted.',
]

interface Passage {
  line: number
  text: string
}

/** The prose of a Markdown file: neither code nor addresses. */
function proseOf(text: string): Passage[] {
  const blank = (match: string) => match.replace(/[^\n]/g, ' ')
  const prose = text.replace(/^```.*?^```$/gms, blank).replace(/`[^`\n]*`|\]\([^)\n]*\)/g, blank)
  return prose.split('\n').map((line, index) => ({ line: index + 1, text: line }))
}

/** The comments and the strings of a program. A string in single or double quotes ends with its line, so JSX text cannot confuse the rest. */
function partsOf(code: string): { comments: Passage[]; strings: Passage[] } {
  const comments: Passage[] = []
  const strings: Passage[] = []
  const token =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//g
  for (const { 0: found, index } of code.matchAll(token)) {
    const kind = /^\/[*/]/.test(found) ? comments : found.startsWith('/') ? null : strings
    const first = code.slice(0, index).split('\n').length
    // A sentence may break over lines; each line is reported where it is.
    const text = kind === comments ? found.replace(/`[^`\n]*`/g, '') : found
    kind?.push(...text.split('\n').map((one, nth) => ({ line: first + nth, text: one })))
  }
  return { comments, strings }
}

const code = globSync('{*.ts,{contract,server,web,test,run,dev,bench,zapier}/**/*.{ts,tsx,mjs,js}}', {
  exclude: (name) => name === 'node_modules' || name.endsWith('/node_modules'),
}).filter((file) => !file.includes('node_modules') && file !== 'run/words.ts')
const docs = globSync('{*.md,docs/**/*.md,zapier/*.md}').filter((file) => file !== 'STYLE.md')

function passagesOf(file: string): Passage[] {
  const text = readFileSync(file, 'utf8')
  if (file.endsWith('.md')) return proseOf(text)
  const { comments, strings } = partsOf(text)
  const read = /\.(?:test|spec)\.tsx?$/.test(file)
    ? strings.filter(({ line }) => /^\s*(?:test|describe)\b/.test(text.split('\n')[line - 1] ?? ''))
    : file.startsWith('test/')
      ? []
      : strings
  return [...comments, ...read]
}

const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const files = [...docs, ...code].filter((file) => parts.length === 0 || parts.some((part) => file.startsWith(part)))

const found = files.flatMap((file) =>
  passagesOf(file)
    .filter(({ text }) => !fixed.some((sentence) => text.includes(sentence)))
    .flatMap(({ line, text }) =>
      refused.flatMap(([words, instead]) => {
        const match = words.exec(text)
        return match ? [{ file, text: `${file}:${line}: "${match[0]}": use ${instead}` }] : []
      }),
    ),
)
if (process.argv.includes('--count')) {
  const folders = Map.groupBy(found, ({ file }) => path.dirname(file).split('/').slice(0, 2).join('/'))
  for (const [folder, hits] of [...folders].sort()) process.stdout.write(`${String(hits.length).padStart(5)}  ${folder}\n`)
} else for (const { text } of found) process.stdout.write(`${text}\n`)
if (found.length > 0) process.stdout.write(`${found.length} refused words. STYLE.md has examples of what to write instead.\n`)
process.exit(found.length === 0 ? 0 : 1)
