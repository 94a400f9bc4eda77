/*
 * `npm run simulate-smart`: two years of 60 invented clients, with smart reminders and without, 100 times each. It prints days late and emails;
 * docs/smart-reminders.md has the figures. Another number of worlds: npm run simulate-smart -- 10
 */
import { compareSmart, type Effect, type Habit, madeReady } from '#test/paying-clients.ts'

const seeds = Array.from({ length: Number(process.argv[2] ?? 100) }, (_none, nth) => nth + 1)
const mixes: Record<string, Habit[]> = {
  'all four': ['punctual', 'friday', 'slow', 'forgetful'],
  'late ones': ['punctual', 'friday', 'late', 'forgetful'],
  punctual: ['punctual'],
  friday: ['friday'],
  slow: ['slow'],
  forgetful: ['forgetful'],
}
const sequences = { 'Friendly to final': madeReady.friendlyToFinal, Gentle: madeReady.gentle }
const effects: Effect[] = ['multiply', 'add', 'none']

const line = (cells: string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
const change = ([without, with_]: [number, number]) => {
  const percent = (100 * (with_ - without)) / Math.abs(without)
  return [without.toFixed(2), with_.toFixed(2), `${percent > 0 ? '+' : ''}${percent.toFixed(2)} %`]
}

line(['sequence', 'clients', 'an email', 'days late', 'with', 'change', 'emails', 'with', 'change'])
line(Array.from({ length: 9 }, () => '---'))
for (const [name, sequence] of Object.entries(sequences))
  for (const [clients, mix] of Object.entries(mixes))
    for (const effect of effects) {
      const { daysLate, emails } = compareSmart({ mix, effect, seeds, sequence })
      line([name, clients, effect, ...change(daysLate), ...change(emails)])
    }
