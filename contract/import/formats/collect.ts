import type { StatementAccount, StatementEntry, StatementFile } from '#contract/import/statement.ts'

/** The index of an account in a file, which has each once. */
export function accountOf(file: Pick<StatementFile, 'accounts'>, account: StatementAccount): number {
  const found = file.accounts.findIndex(
    ({ id, currency, name }) => id === account.id && currency === account.currency && (id !== null || name === account.name),
  )
  return found >= 0 ? found : file.accounts.push(account) - 1
}

/** Most sentences about a file: the first ones are enough to see what is wrong with it. */
const mostNotes = 20

export function sayOnce(file: Pick<StatementFile, 'notes'>, sentence: string): void {
  if (file.notes.length < mostNotes && !file.notes.includes(sentence)) file.notes.push(sentence)
}

/** Ids that a bank gives to different entries are no ids: with them another payment would count as recorded before. */
export function withoutSharedIds(entries: StatementEntry[]): StatementEntry[] {
  const first = new Map<string, string>()
  const shared = new Set<string>()
  const keyOf = ({ account, bankId }: StatementEntry) => `${account} ${bankId}`
  for (const entry of entries) {
    if (entry.bankId === null) continue
    const content = JSON.stringify([entry.amount, entry.currency, entry.direction, entry.name, entry.text])
    const known = first.get(keyOf(entry))
    if (known === undefined) first.set(keyOf(entry), content)
    else if (known !== content) shared.add(keyOf(entry))
  }
  return shared.size === 0 ? entries : entries.map((entry) => (shared.has(keyOf(entry)) ? { ...entry, bankId: null } : entry))
}
