/** Texts of failed calls, and of link previews. */
export const texts = {
  brand: 'Duely',
  picture: 'One invoice on the due line: sent, due, reminded twice, paid.',
  unreachable: 'The server cannot be reached. Please check your connection and try again.',
  tooSlow: 'The server did not answer in time. Please try again in a moment.',
  unexpected: 'The server did not answer as expected. Please reload the page and try again.',
  unexpectedStatus: (status: number) => `The server did not answer as expected (${status}). Please try again in a moment.`,
  fileCutOff: 'The file did not download completely. Check your connection and try again.',
  broken: 'Something went wrong on this page. Please reload it and try again.',
}
