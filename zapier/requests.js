/** @import { Bundle, HttpRequestOptionsWithUrl, HttpResponse, ZObject } from 'zapier-platform-core' */

/** The most characters of a message that Zapier shows. */
const longestMessage = 250

/**
 * Adds the access token, except to token requests.
 * @param {HttpRequestOptionsWithUrl} request
 * @param {ZObject} _z
 * @param {Bundle} bundle
 */
export function sendToken(request, _z, bundle) {
  const { access_token } = bundle.authData
  if (access_token && !request.middlewareData?.withoutToken)
    request.headers = { ...request.headers, authorization: `Bearer ${access_token}` }
  return request
}

/**
 * Reports Duely's own error message. The platform handles two errors before: it refreshes the token after 401 and waits after 429.
 * @param {HttpResponse} response
 * @param {ZObject} z
 */
export function explainRefusal(response, z) {
  if (response.status < 400 || response.skipThrowForStatus) return response
  const { message, code } = problemIn(response)
  throw new z.errors.Error(message, code, response.status)
}

/**
 * @param {HttpResponse} response
 * @returns {{ message: string, code: string }}
 */
function problemIn(response) {
  const { message, code, error, error_description } = response.data ?? {}
  const said = message ?? error_description ?? `Duely couldn't be reached (HTTP ${response.status}). Please try again later.`
  return { message: shorten(String(said)), code: String(code ?? error ?? response.status) }
}

/** @param {string} message */
function shorten(message) {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`
}
