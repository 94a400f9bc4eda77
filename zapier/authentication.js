import { address, client } from './duely.js'

/** @import { Authentication, Bundle, ZObject } from 'zapier-platform-core' */

/**
 * Requests tokens. Zapier requires them at the top level of the result.
 * @param {ZObject} z
 * @param {Record<string, unknown>} asked
 */
async function askForTokens(z, asked) {
  const response = await z.request({
    method: 'POST',
    url: `${address()}/oauth/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: { ...client(), ...asked },
    middlewareData: { withoutToken: true },
  })
  const { access_token, refresh_token } = response.data
  return { access_token, refresh_token }
}

/**
 * @param {ZObject} z
 * @param {Bundle} bundle
 */
function getAccessToken(z, bundle) {
  const { code, redirect_uri, code_verifier } = bundle.inputData
  return askForTokens(z, { grant_type: 'authorization_code', code, redirect_uri, code_verifier })
}

/**
 * Duely issues no new refresh token: the existing one stays valid.
 * @param {ZObject} z
 * @param {Bundle} bundle
 */
async function refreshAccessToken(z, bundle) {
  const { refresh_token } = bundle.authData
  const { access_token } = await askForTokens(z, { grant_type: 'refresh_token', refresh_token })
  return { access_token, refresh_token }
}

/**
 * Verifies the token and returns the account that names the connection.
 * @param {ZObject} z
 */
async function test(z) {
  const response = await z.request(`${address()}/api/me`)
  return response.data
}

export const authentication = /** @satisfies {Authentication} */ ({
  type: 'oauth2',
  oauth2Config: {
    authorizeUrl: {
      method: 'GET',
      url: '{{process.env.DUELY_URL}}/oauth/authorize',
      params: {
        client_id: '{{process.env.CLIENT_ID}}',
        state: '{{bundle.inputData.state}}',
        redirect_uri: '{{bundle.inputData.redirect_uri}}',
        response_type: 'code',
      },
    },
    scope: 'read write',
    enablePkce: true,
    getAccessToken,
    refreshAccessToken,
    autoRefresh: true,
  },
  test,
  connectionLabel: '{{displayName}} ({{email}})',
})
