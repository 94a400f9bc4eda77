/** @import { Bundle, HttpRequestOptionsWithUrl, HttpResponse, ZObject } from 'zapier-platform-core' */

/** What Zapier shows of a message at most. */
const longestMessage = 250

/**
 * Where tokens are asked for, the old one has no business.
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
 * Says why Duely refused, in its own sentence. Two never come here, because the platform deals with them before: 401, after which it renews the
 * token, and 429, after which it waits.
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
  const said = message ?? error_description ?? `Duely could not be asked (HTTP ${response.status}). Please try again later.`
  return { message: shorten(String(said)), code: String(code ?? error ?? response.status) }
}

/** @param {string} message */
function shorten(message) {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`
}
