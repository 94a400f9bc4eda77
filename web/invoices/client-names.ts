import type { Invoice } from '#contract/invoices.ts'

/** A client of earlier invoices, as the newest of them says. */
export interface Client {
  name: string
  email: string
}

/** Every client there was, once a name and email, newest first. */
export function clientsOf(invoices: Pick<Invoice, 'clientName' | 'clientEmail'>[]): Client[] {
  const seen = new Set<string>()
  const clients: Client[] = []
  for (const { clientName, clientEmail } of invoices) {
    const key = `${clientName.toLowerCase()}\n${clientEmail.toLowerCase()}`
    if (seen.has(key)) continue
    seen.add(key)
    clients.push({ name: clientName, email: clientEmail })
  }
  return clients
}

/** What can be offered for a field, each once; what is typed in full already is no help. */
export function suggestions(clients: Client[], field: keyof Client, typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const found = new Map<string, string>()
  for (const client of clients) {
    const key = client[field].toLowerCase()
    if (key !== wanted && key.includes(wanted) && !found.has(key)) found.set(key, client[field])
    if (found.size === 6) break
  }
  return [...found.values()]
}
