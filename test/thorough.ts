/** How often something random is tried: `quick` times in `npm test`, `full` times in `npm run test:full`. */
export function times(quick: number, full: number): number {
  return process.env.TEST_THOROUGH === 'true' ? full : quick
}
