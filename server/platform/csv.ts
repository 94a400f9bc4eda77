/** What a formula begins with; `within`: after spaces, quotes and what may end a cell. */
const formula = /^\s*[=+\-@\t\r\n＝＋－＠]/
const within = /(?<![;\s"])[;\s"]+(?=[=+\-@＝＋－＠])/g

/**
 * A text as a cell of a CSV file (RFC 4180). A spreadsheet runs what begins like a formula, also in quotes and with full-width signs (OWASP,
 * CSV Injection): an apostrophe in front makes it a text. One whose list separator is a semicolon or a tab begins cells there too, and at line breaks.
 */
export function csvCell(text: string): string {
  const defused = formula.test(text) ? `'${text}` : text
  const whole = defused.replace(within, (before) => (/[;\t\r\n]/.test(before) ? `${before}'` : before))
  return `"${whole.replaceAll('"', '""')}"`
}
