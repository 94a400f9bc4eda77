/** Every word about Gmail in Email Settings. */
export const gmailTexts = {
  connect: 'Connect Gmail (Recommended)',
  again: 'Connect Gmail Again',
  busy: 'Going to Google...',
  startFailed: (message: string) => message || 'Error starting Gmail connection. Please try again.',
  finishing: 'Connecting Gmail...',
  done: 'Gmail configured successfully!',
  failed: (message: string) => `Error configuring Gmail: ${message}`,
  permission: 'Permission',
  denied: 'Google was not allowed to let Duely send. Nothing has changed.',
  notFinished: 'Google did not finish. Please click Connect Gmail again.',
  paused: {
    title: 'Sending is paused: Gmail does not let Duely send any more',
    todo: 'Connect Gmail again: what is still waiting then leaves.',
  },
}
