const key = 'duely-said'

/** Keeps a sentence for the next screen of the dashboard: a page that is loaded anew forgets its messages. */
export function sayOnArrival(sentence: string): void {
  sessionStorage.setItem(key, sentence)
}

/** The sentence that was kept, once. */
export function takeSaid(): string | null {
  const said = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return said
}
