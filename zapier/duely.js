/**
 * Where Duely is, without a slash at its end. Set with `zapier env:set`, like the CLIENT_ID and CLIENT_SECRET that this Duely knows Zapier by.
 * @returns {string}
 */
export function address() {
  return process.env.DUELY_URL ?? ''
}

/** @returns {{ client_id: string, client_secret: string }} */
export function client() {
  return { client_id: process.env.CLIENT_ID ?? '', client_secret: process.env.CLIENT_SECRET ?? '' }
}
