/** The address of every screen: the client's routes, links in emails, redirects and notices are made from these. */
export const screens = {
  landing: '/',
  features: '/features',
  pricing: '/pricing',
  contact: '/contact',
  privacy: '/privacy',
  signIn: '/signin',
  signUp: '/signup',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  confirmEmail: '/confirm-email',
  join: '/join',
  endSummaries: '/summary/unsubscribe',
  evening: '/evening',
  dashboard: '/dashboard',
  sources: '/dashboard?import',
  newInvoice: '/dashboard/new-invoice',
  invoice: (id: string) => `/dashboard/edit-invoice/${id}`,
  clients: '/dashboard/clients',
  client: (id: string) => `/dashboard/clients/${id}`,
  mailSettings: '/dashboard/mail-settings',
  reminderControl: '/dashboard/reminder-control',
  sequences: '/dashboard/sequences',
  sequence: (id: string) => `/dashboard/sequences/${id}`,
  emailTemplates: '/dashboard/email-templates',
  gettingPaid: '/dashboard/getting-paid',
  bankFile: '/dashboard/getting-paid/bank-file',
  insights: '/dashboard/insights',
  connections: '/dashboard/connections',
  webhook: (id: string) => `/dashboard/connections/webhooks/${id}`,
  profile: '/dashboard/profile',
  access: '/dashboard/access',
  business: '/dashboard/business',
  team: '/dashboard/business?tab=team',
  oauthConsent: '/dashboard/oauth-consent',
} as const

/** An address with a query, its values encoded. Parameters that are undefined are left out. */
export function withQuery(address: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const pairs = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? address : `${address}?${pairs.join('&')}`
}
