/** Every word of the screens about other programs. */
export const texts = {
  title: 'Authorization Request',
  question: 'Authorization Request - Do you allow Zapier to access your account?',
  missing: 'Missing redirect URI information.',
  missingHint: 'The page that sent you here left out where to go back to. Please start again from there.',
  notOpen:
    'Connections to other programs are not open on this server yet, so nothing can be allowed at the moment. Nothing has been shared.',
  yes: 'Continue',
  no: 'No',
  back: 'Go to the dashboard',
}
