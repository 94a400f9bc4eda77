export interface Preset {
  host: string
  port: number
  /** true: TLS from the first byte; false: STARTTLS. */
  secure: boolean
}

export const providers = ['gmail', 'microsoft', 'zoho', 'yahoo', 'fastmail', 'custom'] as const
export type ProviderName = (typeof providers)[number]

/** Published by each provider, as of November 2026; `custom` is the empty form, whose values the specification fixes. */
export const presets: Record<ProviderName, Preset> = {
  gmail: { host: 'smtp.gmail.com', port: 465, secure: true },
  microsoft: { host: 'smtp.office365.com', port: 587, secure: false },
  zoho: { host: 'smtp.zoho.in', port: 465, secure: true },
  yahoo: { host: 'smtp.mail.yahoo.com', port: 465, secure: true },
  fastmail: { host: 'smtp.fastmail.com', port: 465, secure: true },
  custom: { host: '', port: 587, secure: true },
}

/** Zoho has a host for each region, and another for paid accounts. */
const aliases: [pattern: RegExp, provider: ProviderName][] = [
  [/^smtp(?:pro)?\.zoho\.(?:com|in|eu|jp|sa|uk|com\.au|com\.cn)$/, 'zoho'],
  [/^smtp\.zohocloud\.ca$/, 'zoho'],
  [/^smtp-mail\.outlook\.com$|^outlook\.office365\.com$/, 'microsoft'],
]

export function providerOf(host: string): ProviderName {
  const name = host.trim().toLowerCase()
  const known = providers.find((provider) => provider !== 'custom' && presets[provider].host === name)
  return known ?? aliases.find(([pattern]) => pattern.test(name))?.[1] ?? 'custom'
}

/** Domains at which a provider gives addresses to everyone. */
const domains: [pattern: RegExp, provider: ProviderName][] = [
  [/^(?:gmail|googlemail)\.com$/, 'gmail'],
  [/^(?:outlook|hotmail|live|msn)\.[a-z.]+$/, 'microsoft'],
  [/^zoho(?:mail)?\.(?:com|in)$/, 'zoho'],
  [/^(?:yahoo|ymail|rocketmail)\.[a-z.]+$/, 'yahoo'],
  [/^fastmail\.(?:com|fm)$/, 'fastmail'],
]

/** The provider of a mailbox by the domain of its address; `custom` where the address does not tell. */
export function providerOfAddress(address: string): ProviderName {
  const domain = address.trim().toLowerCase().split('@')[1] ?? ''
  return domains.find(([pattern]) => pattern.test(domain))?.[1] ?? 'custom'
}
