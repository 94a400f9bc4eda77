import type { ApiClientKind } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'

/** Which calls are open to a kind of API client, as a refusal names it. */
const clientNames: Record<ApiClientKind, string> = { application: 'An OAuth access token', key: 'An API key' }

/** The sentences that customers and developers read of this slice: refusals, notices and emails. */
export const texts = {
  signIn: 'Please sign in.',

  access: {
    otherBusiness: 'This key or token belongs to another business.',
    browserOnly: 'This call needs a browser session.',
    tooMany: (calls: number, seconds: number) =>
      `Limit of ${calls} calls a minute reached. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    closed: (kind: ApiClientKind, paths: string, call: string) => `${clientNames[kind]} may call ${paths}, but not ${call}.`,
    scope: (call: string, needed: string, kind: ApiClientKind, scopes: string) =>
      `${call} needs the scope ${needed}. This ${kind === 'key' ? 'key' : 'token'} has only ${scopes}.`,
    invalidKey: 'This API key was revoked or has expired. Create a new one under Connections.',
    refreshToken: 'This is a refresh token. Exchange it for an access token at /oauth/token.',
    invalidToken: 'This access token has expired, or access was revoked. Refresh it, or ask for access again.',
  },

  consent: {
    expired: 'This request has expired after 10 minutes. Please start again from the app.',
    incomplete: 'This link is incomplete or has expired. Please start again from the app.',
    heading: 'This link doesn’t work',
    unknownApp: 'This app is not registered here.',
    nothingShared: 'Nothing has been shared.',
  },

  notConnected: 'This app is not connected.',
  keyLimit: (most: number) => `You have reached the limit of ${most} API keys. Revoke one you don’t use, then create another.`,
  noKey: 'There is no such API key.',

  /** For the operator, on the command line. */
  oauthClient: {
    name: (longest: number) => `Enter a name of 1 to ${longest} characters on one line.`,
    redirect: (uri: string, wrong: string) => `The redirect address ${uri} ${wrong}. An example: https://example.com/oauth/return`,
    unknown: (id: string) => `There is no application with the id ${id}.`,
  },

  webhook: {
    unknown: 'There is no such webhook. It may have been removed, or its receiver answered 410 Gone.',
    limit: (most: number) => `You have reached the limit of ${most} webhooks. Remove one you don’t use, then add another.`,
    zapLimit: (most: number) =>
      `This account has reached the limit of ${most} Zapier webhooks. Remove one that is not used, then add another.`,
    same: 'There is already a webhook for this URL and event.',
    applicationsOnly: 'Webhooks of apps are managed with an OAuth access token. Add your own under Connections.',
    unverified: 'This URL is not verified yet. Send the challenge first; events are delivered once the URL has answered it.',
    unansweredTitle: (host: string) => `The webhook to ${host} is not verified`,
    unanswered: 'Its URL did not answer the challenge, so it gets no events. Open the webhook to see the answers and to try again.',
    skippedTitle: (host: string) => `Events for ${host} were skipped`,
    skipped: (most: string) =>
      `${most} events are waiting for this webhook, so new ones are not queued. Fix the receiver or resume the webhook.`,
    busyHost: (host: string) => `${host} is called too often at the moment. Try again in a few seconds.`,
    needsRead: 'A webhook sends invoices and reminders, so it needs the scope read as well as write.',
    ofZap: 'This webhook belongs to a Zap. Change its URL and events in Zapier; pause or remove it here.',
    noDelivery: 'There is no such delivery. Deliveries are kept for 30 days.',
    goneTitle: (host: string) => `Webhook removed: ${host} answered 410 Gone`,
    gone: 'The receiver is permanently gone, so its webhook was removed. If that is a mistake, add it again.',
    pausedTitle: (host: string) => `The webhook to ${host} is paused`,
    paused: (failures: number, last: string) =>
      `${failures} deliveries in a row have failed. ${last} Events are kept for up to 30 days: fix the receiver, then resume the webhook.`,
    lastAnswer: (status: number, words: string) => `The last answer was ${status}${words === '' ? '.' : `: “${words}”`}`,
  },

  source: {
    notFound: 'This address is not watched any more.',
    mostSources: (most: number) => `An account can watch ${most} addresses. Remove one first.`,
    notHttps: 'Please enter an address that begins with https://.',
    redirect: (host: string) => `${host} redirects to an address that can’t be read.`,
    redirects: 'This address redirects more than three times. Enter the final address.',
    status: (host: string, status: number) => `${host} answered ${status}. Check that everyone who has the link can read the file.`,
    tooLarge: 'The file is larger than 5 MB.',
    tooLong: 'The file has more than 20,000 lines.',
    longRow: (line: number) =>
      `Line ${line} of the file has more than 1,000 columns or 50,000 characters. Check its quotation marks. Nothing was changed.`,
    notApplied: 'The file was read, but its changes could not all be stored. It is read again.',
    notCsv: 'There is no CSV file at this address. Check that everyone who has the link can read it.',
    empty: 'The file has no invoices. Nothing was changed.',
    noColumns: 'The file needs columns for number, client, email, amount and due date. Nothing was changed.',
    tooSlow: 'Reading the file took too long. Nothing was changed.',
    busy: 'Many files are being read at the moment. Please try again in a minute.',
    // Fixed by the specification.
    waits: (invoices: number) => `This update changes ${invoices.toLocaleString('en-IN')} invoices. Look through it before it counts.`,
    /** What the file leaves open; rows that depend on it were not recorded. */
    asks: (questions: string[]) =>
      `${questions[0] ?? ''}${questions.length > 1 ? ` And ${questions.length - 1} more.` : ''} The rows concerned were not recorded: import the file once yourself, and your answers are kept for it.`,
    changed: 'The file has changed since you looked at it. Please look through it again.',
    waitsTitle: (name: string) => `An update from ${name} needs your review`,
    failingTitle: (name: string) => `${name} could not be read three times`,
  },

  /** Why a receiver is not called, or what went wrong when it was. */
  receiver: {
    credentials: 'Remove the user name and password from the URL. Requests are signed instead.',
    notHttps: 'Enter a URL that begins with https://, so that events are encrypted on their way.',
    port: 'Enter a URL on port 443, the default for https. Other ports are not called.',
    unknown: (name: string) => `There is no public server called ${name}. Check the spelling.`,
    notPublic: (host: string) => `${host} is not on the public internet. Only public addresses are called.`,
    noChallenge: 'The URL must answer with the value of data.challenge, as text or as {"challenge": "…"}.',
    noChallengeBut: (words: string) => `The URL must answer with the value of data.challenge, but answered: ${words}`,
    redirects: 'This URL redirects, and Duely does not follow redirects. Enter the URL that it leads to.',
    timeout: (host: string, seconds: number) => `${host} did not answer within ${seconds} seconds.`,
    late: (host: string) => `${host} did not answer in time.`,
    certificateName: (host: string) => `The certificate of ${host} is for another name, so it may be someone else’s server.`,
    certificateExpired: (host: string) => `The certificate of ${host} has expired, or is not valid yet.`,
    certificateUntrusted: (host: string) => `The certificate of ${host} is not signed by a trusted authority.`,
    refused: (host: string) => `${host} refuses connections.`,
    unreachable: (host: string) => `${host} cannot be reached from here.`,
    notHttp: (host: string) => `${host} answered, but not in HTTP.`,
    noTls: (host: string) => `No TLS connection to ${host} could be made.`,
    closed: (host: string) => `${host} closed the connection.`,
  },
}

const granted = { app: 'An app was given access to your Duely account.', key: 'An API key for your Duely account was created.' }

/** To the owner, about new access to their account. The names of apps and keys are only shown on the screen. */
export function accessGrantedEmail(what: keyof typeof granted, byGoogle: boolean) {
  const secure = byGoogle ? 'secure your Google account' : 'set a new password'
  return {
    subject: 'New access to your Duely account',
    before: [granted[what]],
    button: { label: 'See what happened', path: screens.connections },
    after: [`If this was not you, revoke the access now, ${secure}, and sign out all other sessions on your profile.`],
  }
}

/** As the audit log tells keys apart. */
export const labelOf = ({ name, ending }: { name: string; ending: string }) => `${name} (…${ending})`
