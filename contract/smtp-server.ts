/** What people paste as the SMTP server, such as `smtps://smtp.example.com:465/`: its name, with port and security where the text has them. */
export function readSmtpServer(text: string): { host: string; port: number | null; secure: boolean | null } {
  const shown = text.replace(/\p{Cf}/gu, '').trim()
  const [, scheme = '', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/is.exec(shown) ?? []
  const authority = scheme === '' && !/[/@]/.test(rest) ? rest : rest.replace(/[/?#].*$/s, '').replace(/^.*@/s, '')
  const [, name = authority, figures] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? []
  const isEncrypted = /^(?:smtps|ssl)$/i.test(scheme)
  const port = figures === undefined ? (isEncrypted ? 465 : null) : Number(figures)
  const usual = port === 465 ? true : port === 587 || port === 25 || port === 2525 ? false : null
  return { host: name.replace(/\.$/, ''), port, secure: isEncrypted && port !== 587 ? true : usual }
}

/** Hosts whose app passwords have no spaces and are shown in groups of four. */
const groupsPasswords = /(?:^|\.)(?:gmail\.com|mail\.yahoo\.com|aol\.com|mail\.me\.com|fastmail\.com)$/i

/** An app password as its provider reads it: without line breaks around it, and without the spaces that only help reading. */
export function readAppPassword(text: string, host: string): string {
  const pasted = text.replace(/^[\r\n\t\u200b\ufeff]+|[\r\n\t\u200b\ufeff]+$/g, '')
  return groupsPasswords.test(host) ? pasted.replace(/\s/g, '') : pasted
}
