/**
 * A text as a cell of a CSV file (RFC 4180). A spreadsheet runs what begins like a formula, also in quotes and with full-width signs (OWASP,
 * CSV Injection): an apostrophe in front makes it a text.
 */
export function csvCell(text: string): string {
  const defused = /^\s*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
  return `"${defused.replaceAll('"', '""')}"`
}
