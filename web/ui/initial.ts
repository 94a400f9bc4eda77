/** The first letter of a name, as a capital; by code points, so that a name may begin with anything. '?' where there is none. */
export function initialOf(name: string): string {
  return ([...name.trim()][0] ?? '?').toLocaleUpperCase('en')
}
