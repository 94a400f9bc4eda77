/** Every word of the email templates screen. */
export const texts = {
  title: 'Email Template Settings',
  subtitle: 'The wording of your reminders',
  loading: 'Loading your template...',
  failed: (message: string) => `The template could not be loaded. ${message}`,
  current: 'Current Template',
  subject: 'Subject',
  content: 'Content',
  later: 'Here you will write the subject and the text yourself. Until then, every reminder uses these words.',
}
