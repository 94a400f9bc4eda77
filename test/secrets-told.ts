/** What tests use as secrets: passwords, those of mailboxes, Google's, the secret key. */
const known = [
  'correct horse',
  'wrong horse',
  'battery staple',
  'lotus staple monsoon',
  'app-password',
  'a-client-secret',
  'a secret key for tests',
]

/** What secrets look like that are made while tests run. */
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

/** These are kept, and two of them are handed over once, to whoever they are for. */
const kept: Shape[] = ['the hash of a password', 'a sealed secret']

/** Which secrets a line of the log tells. */
export function toldByLog(line: string): string[] {
  return found(line, Object.keys(shapes) as Shape[])
}

/** Which secrets an answer tells that no answer ever may. */
export function toldByAnswer(body: string): string[] {
  return found(body, kept)
}

/** A pattern of PostgreSQL's for what no row may hold as it is. */
export const untoldByDatabase = [
  ...known,
  ...Object.entries(shapes)
    .filter(([name]) => !kept.some((one) => one === name))
    .map(([, { source }]) => source.replaceAll('\\b', '\\y')),
].join('|')

function found(text: string, which: Shape[]): string[] {
  return [...known.filter((one) => text.includes(one)), ...which.filter((name) => shapes[name].test(text))]
}
