/** `npm run test:full`. */
export const thorough = process.env.TEST_THOROUGH === 'true'

/** How often something random is tried: `quick` times in `npm test`, `full` times in `npm run test:full`. */
export function times(quick: number, full: number): number {
  return thorough ? full : quick
}
