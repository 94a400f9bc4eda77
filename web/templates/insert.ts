/** A text and what is selected of it; `start` and `end` are the same where only the cursor stands. */
export interface Selection {
  text: string
  start: number
  end: number
}

/** The text with a piece in the place of what was selected, and where the cursor stands then. */
export function insertAt({ text, start, end }: Selection, piece: string): { text: string; cursor: number } {
  return { text: text.slice(0, start) + piece + text.slice(end), cursor: start + piece.length }
}
