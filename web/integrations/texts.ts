/** Every word of the screens about other programs. */
export const texts = {
  title: 'Authorization Request',
  later: 'Here you will decide whether Zapier may access your account. Connections to other programs are not open on this server yet.',
  back: 'Go to the dashboard',
}
