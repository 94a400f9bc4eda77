import { formatSums, sumByCurrency } from '#contract/money.ts'
import { lateness, latenessOf } from './dates.ts'
import { texts } from './texts.ts'

/** One open invoice on the line. */
export interface DueItem {
  id: string
  name: string
  /** The client's address, in lower case. */
  email: string
  currency: string
  amount: number
  /** Negative before the due date. */
  daysLate: number
  late: boolean
}

/** One invoice, or a group of invoices that would overlap. */
export interface Dot {
  key: string
  x: number
  y: number
  radius: number
  late: boolean
  /** From 0 to 1: the share of the largest dot in the same currency, because amounts of different currencies cannot be compared. */
  size: number
  /** Largest first. */
  items: DueItem[]
}

interface Tick {
  x: number
  text: string
  anchor: 'start' | 'middle' | 'end'
}

/** The name and amount of a dot, above it. */
export interface DotName {
  key: string
  name: string
  amount: string
  /** The middle of its foot. */
  x: number
  y: number
}

export interface DueLineLayout {
  dots: Dot[]
  /** Of the largest dots, where there is room. */
  names: DotName[]
  /** Round amounts with the radius of a dot of that amount, the smallest first; empty where no single dots are drawn, or of several currencies. */
  key: { amount: number; radius: number }[]
  ticks: Tick[]
  todayX: number
  /** The y of the axis. */
  baseline: number
  height: number
}

interface Span {
  days: number
  text: string
}

const drawing = 106
const below = 30
/** The position of today: the future needs less room than the past. */
const todayShare = 0.38
/** With too many invoices for single dots, each side of today is cut into columns of this many pixels, one dot per column. */
const crowdWidth = 34
/** The word "today", left of its mark: dots and names must leave it free. */
const word = { width: 46, foot: 22 }
/** The radius shrinks by this share of the largest for each tenth of the amount, so that one large invoice cannot hide the others. */
const perTenth = 0.3
const smallest = 4
/** Below this width only the largest dot has its name above it. */
const roomy = 600
const named = { wide: 3, narrow: 1 }
const nameHeight = 34

/**
 * Places the dots for a width in pixels: x is the due date, and the radius grows with the logarithm of the amount. `currency`: that of the
 * account, which is named first.
 */
export function layOutDueLine(items: DueItem[], width: number, currency: string): DueLineLayout {
  const todayX = Math.round(width * todayShare)
  const spans = { before: span(items.map(({ daysLate }) => -daysLate)), after: span(items.map(({ daysLate }) => daysLate)) }
  const scale = (daysLate: number) =>
    daysLate > 0 ? todayX + (width - todayX) * reach(daysLate / spans.after.days) : todayX - todayX * reach(-daysLate / spans.before.days)
  const crowded = items.length > Math.max(12, width / 22)
  const columns = { before: Math.floor(todayX / crowdWidth), after: Math.floor((width - todayX) / crowdWidth) }
  const columnOf = (daysLate: number) => {
    const side = daysLate > 0 ? 'after' : 'before'
    const index = Math.min(Math.floor(Math.abs(scale(daysLate) - todayX) / crowdWidth), Math.max(1, columns[side]) - 1)
    return { side, index, x: todayX + (index + 0.5) * crowdWidth * (daysLate > 0 ? 1 : -1) }
  }
  const groups = crowded ? gather(items, ({ daysLate }) => Object.values(columnOf(daysLate)).join(' ')) : items.map((item) => [item])
  const most = crowded ? crowdWidth / 2 - 1 : Math.min(20, Math.max(15, width / 45))
  const radiusOf = (size: number) => Math.max(smallest, most * (1 + perTenth * Math.log10(size)))
  const itemSize = sizes(items.map((item) => [item]))
  const ceiling = (x: number, radius: number) => (x < todayX && x + radius > todayX - word.width ? word.foot : 0)
  const draw = (drawn: DueItem[][]): Dot[] => {
    const sizeOf = sizes(drawn)
    const dots = drawn.map((group): Dot => {
      const first = group[0] as DueItem
      // A group shows its number of invoices, so it must be large enough for the digits.
      const least = group.length > 1 ? Math.min(most, 6 + 3 * String(group.length).length) : 4
      const size = sizeOf(group)
      const radius = Math.max(least, radiusOf(size))
      const wanted = crowded ? columnOf(first.daysLate).x : mean(group.map(({ daysLate }) => scale(daysLate)))
      return {
        key: first.id,
        x: clear(wanted, radius, first.daysLate > 0 ? [todayX + 3, width] : [0, todayX - 3]),
        y: drawing - radius - 1,
        radius,
        late: group.some(({ late }) => late),
        size,
        items: group.toSorted((one, other) => itemSize([other]) - itemSize([one])),
      }
    })
    const { placed, stuck } = pile(dots, ceiling)
    if (!stuck) return placed
    const together = new Set(dots.filter((dot) => close(dot, stuck)).map(({ key }) => key))
    const [joined, rest] = [
      drawn.filter(([item]) => item && together.has(item.id)),
      drawn.filter(([item]) => item && !together.has(item.id)),
    ]
    return draw([...rest, joined.flat()])
  }
  const dots = draw(groups)
  const single = new Set(items.map((item) => item.currency)).size === 1
  const largest = crowded || !single ? 0 : Math.max(...dots.map((dot) => total(dot.items)))
  return {
    dots,
    names: nameLargest(dots, { width, todayX, currency }),
    key: largest < 1 ? [] : roundAmounts(largest).map((amount) => ({ amount, radius: radiusOf(amount / largest) })),
    ticks: ticks(width, todayX, spans, scale),
    todayX,
    baseline: drawing,
    height: drawing + below,
  }
}

/** The three powers of ten up to the largest amount. */
function roundAmounts(largest: number): number[] {
  const top = 10 ** Math.floor(Math.log10(largest))
  return [top / 100, top / 10, top].filter((amount) => amount >= 1)
}

interface Area {
  left: number
  right: number
  top: number
  foot: number
}

/** The names of the largest dots, each above its dot and clear of other dots, other names and the mark of today. */
function nameLargest(dots: Dot[], { width, todayX, currency }: { width: number; todayX: number; currency: string }): DotName[] {
  const names: DotName[] = []
  const taken: Area[] = [{ left: todayX - word.width, right: todayX + 4, top: 0, foot: word.foot }]
  const most = width < roomy ? named.narrow : named.wide
  for (const dot of dots.toSorted((one, other) => other.size - one.size).slice(0, most)) {
    const [name, amount] = dotLabel(dot, currency)
    // A name may be cut short, an amount must not.
    const half = Math.max(Math.min(longestName, name.length * letter.bold), amount.length * letter.plain) / 2
    // Beside its dot rather than not at all, as long as the name still touches it.
    const places = [0, 0.5, -0.5, 0.9, -0.9].map((shift) => Math.min(Math.max(dot.x + shift * half, half), width - half))
    const found = places.flatMap((x) => {
      const top = (foot: number): Area => ({ left: x - half, right: x + half, top: foot - nameHeight, foot })
      const under = dots.filter((other) => Math.abs(other.x - x) < half + other.radius)
      const foot = Math.min(dot.y - dot.radius, ...under.map(({ y, radius }) => y - radius)) - 5
      const area = top(foot)
      const crossesToday = area.left < todayX + 4 && area.right > todayX - 4
      return area.top < 0 || crossesToday || taken.some((other) => overlap(area, other)) ? [] : [{ x, foot, area }]
    })
    // The nearest to its dot.
    const [best] = found.toSorted((one, other) => other.foot - one.foot || Math.abs(one.x - dot.x) - Math.abs(other.x - dot.x))
    if (!best) continue
    taken.push(best.area)
    names.push({ key: dot.key, name, amount, x: best.x, y: best.foot })
  }
  return names
}

/** Widths in pixels: estimates that are rather too large. */
const letter = { bold: 7.6, plain: 7.8 }
export const longestName = 150

function overlap(one: Area, other: Area): boolean {
  return one.left < other.right + 6 && one.right > other.left - 6 && one.top < other.foot && one.foot > other.top
}

/** The days that one side shows; anything further away is placed at the end, whose tick then reads "90+". */
function span(days: number[]): Span {
  const most = days.reduce((far, day) => Math.max(far, day), 0)
  const shown = most <= 30 ? 30 : most <= 60 ? 60 : 90
  return { days: shown, text: most > shown ? `${shown}+` : `${shown}` }
}

/** Days near today are wider than days far away. */
function reach(share: number): number {
  return Math.min(1, share) ** 0.7
}

function total(items: DueItem[]): number {
  return items.reduce((sum, { amount }) => sum + amount, 0)
}

/** The size of each group: its share of the largest sum in a currency, the largest of them where it has several. */
function sizes(groups: DueItem[][]): (group: DueItem[]) => number {
  const sumsOf = (group: DueItem[]) => [...Map.groupBy(group, (item) => item.currency)].map(([code, of]) => [code, total(of)] as const)
  const largest = new Map<string, number>()
  for (const group of groups) for (const [code, sum] of sumsOf(group)) largest.set(code, Math.max(sum, largest.get(code) ?? 0))
  return (group) => Math.max(...sumsOf(group).map(([code, sum]) => sum / (largest.get(code) ?? sum)))
}

function mean(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0) / numbers.length
}

function clear(x: number, radius: number, [low, high]: [number, number]): number {
  return Math.min(Math.max(x, low + radius + 1), high - radius - 1)
}

function gather(items: DueItem[], column: (item: DueItem) => string): DueItem[][] {
  const columns = new Map<string, DueItem[]>()
  for (const item of items) {
    const group = columns.get(column(item))
    if (group) group.push(item)
    else columns.set(column(item), [item])
  }
  return [...columns.values()]
}

/** Stacks dots that would overlap: large ones on the axis, small ones above. `stuck` is a dot without a free place. */
function pile(dots: Dot[], ceiling: (x: number, radius: number) => number): { placed: Dot[]; stuck: Dot | null } {
  const placed: Dot[] = []
  for (const dot of dots.toSorted((one, other) => other.radius - one.radius)) {
    const near = placed.filter((other) => close(dot, other))
    const highest = ceiling(dot.x, dot.radius) + dot.radius
    const heights = [dot.y, ...near.map((other) => above(dot, other))].filter((y) => y <= dot.y && y >= highest)
    const free = heights.toSorted((one, other) => other - one).find((y) => near.every((other) => apart({ ...dot, y }, other)))
    if (free === undefined) return { placed, stuck: dot }
    placed.push({ ...dot, y: free })
  }
  return { placed: placed.toSorted((one, other) => one.x - other.x), stuck: null }
}

/** Whether two dots would overlap on the axis. */
function close(one: Dot, other: Dot): boolean {
  return Math.abs(one.x - other.x) < one.radius + other.radius + 1
}

function above(dot: Dot, other: Dot): number {
  const distance = dot.radius + other.radius + 1.5
  return other.y - Math.sqrt(Math.max(0, distance ** 2 - (dot.x - other.x) ** 2))
}

function apart(one: Dot, other: Dot): boolean {
  return Math.hypot(one.x - other.x, one.y - other.y) >= one.radius + other.radius + 1
}

/** The ends, and between them the days that are far enough from each other, from today and from the ends. */
function ticks(width: number, todayX: number, spans: { before: Span; after: Span }, scale: (daysLate: number) => number): Tick[] {
  const ends: Tick[] = [
    { x: 0, text: texts.dueLine.dueIn(spans.before.text), anchor: 'start' },
    { x: width, text: texts.dueLine.overdue(spans.after.text), anchor: 'end' },
  ]
  const between = [-14, -7, 7, 14, 30].flatMap((days): Tick[] => {
    const x = scale(days)
    const inside = days < 0 ? -days < spans.before.days : days < spans.after.days
    const free = Math.abs(x - todayX) > 44 && (days < 0 ? x > endWidth.before : x < width - endWidth.after)
    return inside && free ? [{ x, text: `${Math.abs(days)}`, anchor: 'middle' }] : []
  })
  return [...ends, ...between.filter(({ x }, nth) => between.slice(0, nth).every((other) => Math.abs(other.x - x) > 34))]
}

/** How much of the line the texts at its ends take. */
const endWidth = { before: 110, after: 130 }

/** The label of a dot: client or number of invoices, amounts with the account's currency first, lateness. */
export function dotLabel(dot: Dot, currency: string): [name: string, amount: string, when: string] {
  const [first] = dot.items
  const amount = formatSums(sumByCurrency(dot.items, currency), currency)
  if (first && dot.items.length === 1) return [first.name, amount, lateness(first.daysLate)]
  return [texts.dueLine.several(dot.items.length), amount, latenessOf(dot.items.map(({ daysLate }) => daysLate))]
}
