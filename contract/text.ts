import { z } from 'zod'

/**
 * Marks that turn the direction of a text (UAX 9): with one of them a name reads as another one. Joiners stay: letters and emoji of many scripts are
 * written with them.
 */
const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export function withoutMarks(text: string): string {
  return text.replace(marks, '')
}

/** A name, reference or note that someone enters, or that comes from elsewhere. */
export function entered(message?: string): z.ZodString {
  return z.string(message).overwrite(withoutMarks).trim()
}
