/** Every word of an email as it was sent. */
export const mailTexts = {
  loading: 'Loading the email...',
  failed: (message: string) => `The email could not be loaded: ${message}`,
  title: 'Email as sent',
  from: 'From',
  to: 'To',
  date: 'Date',
  messageId: 'Message-ID',
  html: 'As sent',
  text: 'Plain text',
  frame: (subject: string) => `The email "${subject}"`,
  noHtml: 'This email has no formatted part.',
  noText: 'This email has no plain text part.',
}
