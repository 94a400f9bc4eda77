/** The secrets of tests: passwords, mailbox passwords, Google's, the secret key. */
const known = [
  'correct horse',
  'wrong horse',
  'battery staple',
  'lotus staple monsoon',
  'app-password',
  'a-client-secret',
  'a secret key for tests',
]

/** Patterns of secrets that are generated while tests run. */
const shapes = {
  'the hash of a password': /\$argon2id\$/,
  'a sealed secret': /\bv1\.[0-9a-f]{8}\.[\w-]{16}\./,
  'an access token': /\beyJ[\w-]+\.eyJ[\w-]+\./,
  'a refresh token': /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[\w-]{43}\b/,
  'the token of a program': /\bduely_(at|rt|key)_[\w-]{20,}/,
  'the secret of a link': /\btoken=[\w-]{43}\b/,
  'a recovery code': /\b[A-Z2-7]{4}(-[A-Z2-7]{4}){3}\b/,
  'the secret of an authenticator': /\b[A-Z2-7]{32}\b/,
  'a permission of Google’s': /\b(access|refresh)-[\w-]{32}\b/,
}
type Shape = keyof typeof shapes

/** Stored secrets; two of them are returned once, to their owner. */
const kept: Shape[] = ['the hash of a password', 'a sealed secret']

/** The secrets in a log line. */
export function toldByLog(line: string): string[] {
  return found(line, Object.keys(shapes) as Shape[])
}

/** The secrets in a response that no response may contain. */
export function toldByAnswer(body: string): string[] {
  return found(body, kept)
}

/** A PostgreSQL pattern for what no row may contain in plain text. */
export const untoldByDatabase = [
  ...known,
  ...Object.entries(shapes)
    .filter(([name]) => !kept.some((one) => one === name))
    .map(([, { source }]) => source.replaceAll('\\b', '\\y')),
].join('|')

function found(text: string, which: Shape[]): string[] {
  return [...known.filter((one) => text.includes(one)), ...which.filter((name) => shapes[name].test(text))]
}
