/** `16 KB`, `3 MB` */
function sizeOf(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`
}

/** Messages of calls that fail before a slice sees them. */
export const texts = {
  malformedUrl: 'This URL is malformed.',
  nothingHere: 'There is nothing at this address.',
  signIn: 'Please sign in.',
  fillIn: 'Please fill in this field.',
  checkField: 'Please check this field.',
  checkInput: 'Please check what you entered.',
  databaseDown: 'Duely cannot reach its database. Please try again in a moment.',
  tooLarge: (bytes: number) => `This is more than ${sizeOf(bytes)}. Please send less at a time.`,
  tooManyParts: (most: number) => `This has more than ${most.toLocaleString('en-IN')} values. Please send fewer at a time.`,
  tooManyNames: (most: number) => `This has more than ${most} different fields. Please send only those that are documented.`,
  tooDeep: (most: number) => `This has more than ${most} lists or objects in one another. Please send them less deep.`,
  tooManyParameters: (most: number) => `This has more than ${most} parameters. Please send only those that are documented.`,
  tooManyHeaders: (most: number) => `This has more than ${most} headers. Please send fewer.`,
  tooManyCookies: (most: number) => `This has more than ${most} cookies. Please clear those of this site.`,
  headersTooLarge: (bytes: number) => `The address and the headers are more than ${sizeOf(bytes)} together. Please send less.`,
  malformedRequest: 'This is not a request in HTTP/1.1.',
  sendJson: 'Please send JSON with the header Content-Type: application/json.',
  invalidJson: 'This is not valid JSON.',
  cutOff: 'The request was cut off. Please send it again.',
  unreadable: 'This request cannot be read.',
  internalError: 'Something went wrong on our side. Please try again in a moment.',
  wrongType: (noun: string) => `Please send ${noun} here.`,
  oneOf: (values: string[]) => `Please choose one of: ${values.join(', ')}.`,
  unknownField: (field: string) => `There is no field called ${field}.`,
}

/** JSON types, for `wrongType`. */
export const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

/** One email in place of those beyond the day's limit. */
export const digest = {
  subject: 'More from your Duely account',
  intro: 'Duely sends at most 20 emails of one kind a day. These were not sent one by one:',
  line: (subject: string, count: number) => `${subject}: ${count.toLocaleString('en-IN')} more`,
  button: 'See what happened',
}
