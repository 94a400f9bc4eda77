import { z } from 'zod'

/* Apart from the templates, whose renderer most pages do not need. */

export const wordingSubject = z
  .string()
  .max(200, 'Please enter a subject of at most 200 characters.')
  .refine((subject) => !/[\p{Cc}\u2028\u2029]/u.test(subject), 'Please enter a subject on one line.')
export const wordingContent = z
  .string()
  .max(20_000, 'Please enter a text of at most 20,000 characters.')
  // The database stores every character but this one.
  .refine((text) => !text.includes('\0'), 'Please enter a text without invisible NUL characters.')
