/**
 * Duely's address without a trailing slash. Set with `zapier env:set`, like CLIENT_ID and CLIENT_SECRET, which Duely knows as ZAPIER_CLIENT_ID and
 * ZAPIER_CLIENT_SECRET.
 * @returns {string}
 */
export function address() {
  return process.env.DUELY_URL ?? ''
}

/** @returns {{ client_id: string, client_secret: string }} */
export function client() {
  return { client_id: process.env.CLIENT_ID ?? '', client_secret: process.env.CLIENT_SECRET ?? '' }
}
