/*
 * What is in the text of a bank's row: references, in one form however they are written, and the words of names. Reading is linear in the text,
 * whatever it says: it was written by others.
 */

/** A run of letters or of digits in one of the texts of a row, or what is between them. */
export interface Run {
  /** In the form that is compared. */
  text: string
  kind: 'letters' | 'digits' | 'gap' | 'other'
  /** Which of the texts, and where in it. */
  at: number
  from: number
  to: number
}

/** For a class of characters, with the one that means itself last. NFKC writes all others as one of these. */
export const dashes = '‐‒–—―−-'
/** What separates the parts of a reference and is not compared. */
const gaps = `\\s/${dashes.replace('-', '\\-')}`
const runs = new RegExp(`([\\p{L}\\p{M}]+)|(\\p{N}+)|([${gaps}]+)|[^\\p{L}\\p{M}\\p{N}${gaps}]+`, 'gu')
const ascii = /^[\x20-\x7e]*$/

/** The runs of texts that follow each other: no reference continues from one into the next. */
export function readRuns(texts: string[]): Run[] {
  const found: Run[] = []
  for (const [at, written] of texts.entries()) {
    if (written === '') continue
    if (found.length > 0) found.push({ text: '|', kind: 'other', at, from: 0, to: 0 })
    const { text, placeOf } = normalized(written)
    for (const { 0: run, 1: letters, 2: digits, 3: gap, index } of text.matchAll(runs)) {
      const kind = letters !== undefined ? 'letters' : digits !== undefined ? 'digits' : gap !== undefined ? 'gap' : 'other'
      found.push({ text: run.toLowerCase(), kind, at, from: placeOf(index), to: placeOf(index + run.length) })
    }
  }
  return found
}

/** A text in NFKC, and where a place of it is in the text as written. */
function normalized(written: string): { text: string; placeOf: (at: number) => number } {
  if (ascii.test(written) || written.normalize('NFKC') === written) return { text: written, placeOf: (at) => at }
  const places: number[] = []
  let text = ''
  for (const { 0: letter, index } of written.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
    const plain = letter.normalize('NFKC')
    for (let nth = 0; nth < plain.length; nth += 1) places.push(index)
    text += plain
  }
  return { text, placeOf: (at) => places[at] ?? written.length }
}

const shortest = 4
/** Runs that are read together as one reference at most: more than any numbering scheme has. */
const longestReference = 8

/** What is the same in so many invoices or payments says nothing about one of them. */
const mostAlike = 10

/** How references are compared. */
export interface Form {
  /** Without case, spaces, dashes and `/`; empty where it is too short, or has no figure, to be recognised in a text. */
  text: string
  /** After which of its characters two groups of digits, or two words, meet. */
  joints: readonly number[]
}

export function formOf(reference: string): Form {
  const joints: number[] = []
  let text = ''
  let last: Run['kind'] | null = null
  for (const run of readRuns([reference])) {
    if (run.kind === 'gap') continue
    if (run.kind === last) joints.push(text.length)
    text += run.text
    last = run.kind
  }
  return text.length >= shortest && /\p{N}/u.test(text) ? { text, joints } : { text: '', joints: [] }
}

/** A reference in a text: runs that follow each other with nothing but spaces, dashes and `/` in between. */
export interface Token extends Form {
  /** The first run and the last. */
  from: number
  to: number
  /** A group of digits follows or precedes it behind nothing but dashes or `/`: perhaps it is a part of a longer number. */
  continued: boolean
}

/** What references belong to, found by their form. */
export class References<T> {
  private readonly known = new Map<string, T[]>()
  /** Their first characters: most of a text begins no reference, and is looked at once. */
  private readonly heads = new Set<string>()
  private longest = 0

  /** Of many that are alike, only the first are kept: none of them is meant more than the others. */
  add(reference: string, one: T): void {
    const all = this.known.get(reference)
    if (reference === '') return
    if (all) {
      if (all.length < mostAlike) all.push(one)
      return
    }
    this.known.set(reference, [one])
    this.longest = Math.max(this.longest, reference.length)
    for (let length = 1; length <= shortest; length += 1) this.heads.add(reference.slice(0, length))
  }

  get(reference: string): readonly T[] {
    return this.known.get(reference) ?? []
  }

  /** Every token of the runs that is one of the references. */
  in(all: Run[]): Token[] {
    const found: Token[] = []
    if (this.known.size === 0) return found
    const isPart = (at: number) => all[at]?.kind === 'letters' || all[at]?.kind === 'digits'
    for (let from = 0; from < all.length; from += 1) {
      // Not in the middle of a word such as REF0042.
      if (!isPart(from) || isPart(from - 1)) continue
      let joined = ''
      let last: Run['kind'] | null = null
      const joints: number[] = []
      for (let to = from, parts = 0; to < all.length && parts < longestReference; to += 1) {
        const run = all[to] as Run
        if (run.kind === 'other') break
        if (run.kind === 'gap') continue
        if (joined.length + run.text.length > this.longest) break
        if (last === run.kind) joints.push(joined.length)
        joined += run.text
        if (!this.heads.has(joined.slice(0, shortest))) break
        last = run.kind
        parts += 1
        if (isPart(to + 1) || !this.known.has(joined)) continue
        found.push({ text: joined, from, to, joints: [...joints], continued: isContinued(all, from, to) })
      }
    }
    return found
  }
}

function isContinued(all: Run[], from: number, to: number): boolean {
  const tight = (at: number) => all[at]?.kind === 'gap' && !/\s/u.test(all[at]?.text ?? '')
  const before = all[from]?.kind === 'digits' && tight(from - 1) && all[from - 2]?.kind === 'digits'
  return before || (all[to]?.kind === 'digits' && tight(to + 1) && all[to + 2]?.kind === 'digits')
}

/** Whether a token can be a reference as it is written: 15/01 is no invoice 1501, for where figures meet in the text, they must meet in it. */
export function isWrittenAs(token: Token, { joints }: Form): boolean {
  return token.joints.every((joint) => joints.includes(joint))
}

/** A run with every figure as 0 and every letter as a. */
export function shaped(run: Run): Run {
  return run.kind === 'letters' || run.kind === 'digits' ? { ...run, text: run.text.replace(/[0-9]/g, '0').replace(/[^0]/gu, 'a') } : run
}

/** The text of a token of runs that were not shaped. */
export function joined(all: Run[], { from, to }: Token): string {
  return all
    .slice(from, to + 1)
    .flatMap(({ kind, text }) => (kind === 'gap' ? [] : [text]))
    .join('')
}

/** Of tokens inside one another only the longest; they are in the order of the text. */
export function longestOf(tokens: Token[]): Token[] {
  const inOrder = tokens.toSorted((a, b) => a.from - b.from || b.to - a.to)
  let reached = -1
  return inOrder.filter(({ to }) => {
    const isInside = to <= reached
    reached = Math.max(reached, to)
    return !isInside
  })
}

/** Whether a text holds a reference, such as a UTR, as a whole token. */
export function holds(text: string, reference: string): boolean {
  const wanted = new References<true>()
  const { text: plain } = formOf(reference)
  if (plain === '') return false
  wanted.add(plain, true)
  return wanted.in(readRuns([text])).length > 0
}

/** A word as names are compared: without case and accents; null where it is too short, or in too many names. */
function plainWord(text: string): string | null {
  const plain = ascii.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')
  return plain.length >= 4 && !everywhere.has(plain) ? plain : null
}

/** Words that are in many names, and in what banks write themselves. */
const everywhere = new Set(
  'private limited company services solutions enterprises traders india from payment invoice transfer credit neft imps rtgs sepa bank gmbh'.split(
    ' ',
  ),
)

/** The words of a name, each once, and all of it as one word: banks leave spaces out. */
export function wordsOfName(name: string): { words: string[]; joined: string } {
  const letters = readRuns([name]).filter(({ kind }) => kind === 'letters')
  const words = [...new Set(letters.flatMap(({ text }) => plainWord(text) ?? []))]
  const joined = plainWord(letters.map(({ text }) => text).join('')) ?? ''
  return { words, joined: letters.length > 1 && joined.length >= 8 ? joined : '' }
}

/** The words of a row that could be of a name, and which runs they are. */
export function* wordsIn(all: Run[]): Generator<[word: string, run: number]> {
  for (const [at, { text, kind }] of all.entries()) {
    const word = kind === 'letters' ? plainWord(text) : null
    if (word !== null) yield [word, at]
  }
}
