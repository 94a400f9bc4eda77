import PostalMime, { type Email } from 'postal-mime'

/** An email as a mail program shows it, with LF as line break. */
export async function readEmail(raw: Buffer | string | undefined): Promise<Email> {
  const email = await PostalMime.parse(raw ?? '')
  const lines = (text = '') => text.replaceAll('\r\n', '\n')
  return { ...email, text: lines(email.text), html: lines(email.html) }
}
