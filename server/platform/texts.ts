/** Messages of calls that fail before a slice sees them. */
export const texts = {
  malformedUrl: 'This URL is malformed.',
  nothingHere: 'There is nothing at this address.',
  signIn: 'Please sign in.',
  fillIn: 'Please fill in this field.',
  checkField: 'Please check this field.',
  checkInput: 'Please check what you entered.',
  databaseDown: 'Duely cannot reach its database. Please try again in a moment.',
  tooLarge: 'This is more than 1 MB. Please send less at a time.',
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
