import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ConfigError, readConfig, variables } from './config.ts'

/** What the start says about an environment, one line a variable. */
function said(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
}

test('an empty environment is a complete configuration', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    portGiven: false,
    host: 'localhost',
    dataDir: './data',
    databaseUrl: null,
    role: 'all',
    publicUrl: 'http://localhost:3000',
    defaultTimezone: 'Asia/Kolkata',
    passwordMinLength: 6,
    historyBytesDays: 90,
    rateLimit: true,
    trustProxy: false,
    allowPrivateSmtpHosts: false,
    google: null,
    microsoft: null,
    razorpay: null,
    zapier: null,
  })
})

test('PDF_FONTS must be font files that are there', () => {
  const fonts = 'server/platform/fonts/NotoSans-Regular.ttf, server/platform/fonts/NotoSansThai-Bold.ttf'
  expect(readConfig({}).pdfFonts).toEqual([])
  expect(readConfig({ PDF_FONTS: fonts }).pdfFonts).toEqual(fonts.split(', '))
  for (const wrong of ['/nowhere/a.ttf', 'server/platform/fonts', 'package.json', `${fonts},`])
    expect(said({ PDF_FONTS: wrong }), wrong).toEqual([expect.stringMatching(/^PDF_FONTS must be font files of this machine/)])
})

test('an empty variable is treated as missing', () => {
  expect(readConfig({ PORT: '', DATABASE_URL: '', SUPPORT_URL: '' })).toMatchObject({ port: 3000, portGiven: false, databaseUrl: null })
})

test('help is at SUPPORT_URL, which may be a mailbox, or else at the address that Duely sends from', () => {
  const system = { SYSTEM_SMTP_URL: 'smtps://u:p@smtp.example.com', SYSTEM_MAIL_FROM: 'Duely <hello@example.com>' }
  expect(readConfig({}).supportUrl).toBeNull()
  expect(readConfig(system).supportUrl).toBe('mailto:hello@example.com')
  expect(readConfig({ ...system, SUPPORT_URL: 'https://example.com/help' }).supportUrl).toBe('https://example.com/help')
  expect(readConfig({ SUPPORT_URL: 'mailto:help@example.com' }).supportUrl).toBe('mailto:help@example.com')
})

test('DEFAULT_TIMEZONE must be a zone that dates can be reckoned in, as at a sign-up', () => {
  expect(said({ DEFAULT_TIMEZONE: 'IST' })).toEqual(['DEFAULT_TIMEZONE must be a time zone such as Asia/Kolkata'])
})

test('every invalid variable is reported, each with an example', () => {
  const lines = said({
    PORT: '70000',
    HOST: 'two words',
    DATABASE_URL: 'mysql://localhost/duely',
    ROLE: 'boss',
    PUBLIC_URL: 'duely.example.com',
    SECRET_KEY: 'short',
    LOG_LEVEL: 'loud',
    DEFAULT_TIMEZONE: 'Mars/Olympus',
    SUPPORT_URL: 'javascript:alert(1)',
    TERMS_URL: 'mailto:terms@example.com',
    SECURITY_CONTACT: 'http://example.com/security',
    RATE_LIMIT: 'maybe',
    TRUST_PROXY: 'my-proxy',
    SMTP_ALLOW_PRIVATE_HOSTS: 'perhaps',
    SYSTEM_SMTP_URL: 'http://smtp.example.com',
    PASSWORD_MIN_LENGTH: '0',
  })
  expect(lines.map((line) => line.split(' ')[0])).toEqual([
    'PORT',
    'HOST',
    'DATABASE_URL',
    'ROLE',
    'PUBLIC_URL',
    'SECRET_KEY',
    'LOG_LEVEL',
    'DEFAULT_TIMEZONE',
    'SUPPORT_URL',
    'TERMS_URL',
    'SECURITY_CONTACT',
    'RATE_LIMIT',
    'TRUST_PROXY',
    'SMTP_ALLOW_PRIVATE_HOSTS',
    'SYSTEM_SMTP_URL',
    'PASSWORD_MIN_LENGTH',
    'SYSTEM_MAIL_FROM',
  ])
  expect(lines[0]).toBe('PORT must be a whole number from 0 to 65535, for example 3000')
})

test.each(['3000abc', '-1', '1e3', '0x10', '3000.5', 'http'])('%s is no port', (port) => {
  expect(said({ PORT: port })).toEqual(['PORT must be a whole number from 0 to 65535, for example 3000'])
})

test('a database server needs the secret key that all processes share', () => {
  expect(said({ DATABASE_URL: 'postgres://localhost/duely' })).toEqual([expect.stringMatching(/^SECRET_KEY is required with DATABASE_URL/)])
})

test('the roles web and worker require a database server', () => {
  expect(said({ ROLE: 'worker' })).toEqual([expect.stringMatching(/^ROLE web or worker requires DATABASE_URL/)])
})

test.each([
  ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
  ['RAZORPAY_KEY_SECRET', 'RAZORPAY_KEY_ID'],
])('%s alone is half a setting', (given, lacking) => {
  expect(said({ [given]: 'x' })).toEqual([`${lacking} is required when ${given} is set`])
})

const zapier = {
  ZAPIER_CLIENT_ID: 'duely-for-zapier',
  ZAPIER_CLIENT_SECRET: 'pencil',
  ZAPIER_REDIRECT_URIS: 'https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/, http://127.0.0.1:4000/back',
}

test('Zapier requires client ID, secret and redirect URIs together', () => {
  expect(readConfig(zapier).zapier).toEqual({
    clientId: 'duely-for-zapier',
    clientSecret: 'pencil',
    redirectUris: ['https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/', 'http://127.0.0.1:4000/back'],
  })
  expect(said({ ZAPIER_CLIENT_SECRET: 'pencil' })).toEqual([
    'ZAPIER_CLIENT_ID is required when ZAPIER_CLIENT_SECRET is set',
    'ZAPIER_REDIRECT_URIS is required when ZAPIER_CLIENT_SECRET is set',
  ])
  expect(said({ ...zapier, ZAPIER_CLIENT_ID: 'duely', ZAPIER_CLIENT_SECRET: 'two words' })).toEqual([
    expect.stringMatching(/^ZAPIER_CLIENT_ID must not be duely/),
    expect.stringMatching(/^ZAPIER_CLIENT_SECRET must be characters without spaces/),
  ])
})

test.each([
  ['zapier.com/return/', 'is not an address'],
  ['http://zapier.com/return/', 'must begin with https:'],
  ['javascript:alert(1)', 'must begin with https:'],
  ['data:text/html;x', 'must begin with https:'],
  ['https://zapier.com/return/#x', 'must not contain a fragment (#)'],
  ['https://zapier.com/return/#', 'must not contain a fragment (#)'],
  ['https://me:secret@zapier.com/return/', 'must not contain a user name or password'],
  ['https://ZAPIER.com/return/', 'must be written as browsers do: https://zapier.com/return/'],
  ['https://zapier.com/a/../return/', 'must be written as browsers do: https://zapier.com/return/'],
])('the redirect URI %s is refused', (uri, wrong) => {
  const [line, ...more] = said({ ...zapier, ZAPIER_REDIRECT_URIS: `https://zapier.com/fine/,${uri}` })
  expect(line).toContain(`ZAPIER_REDIRECT_URIS has the address ${uri}, which ${wrong}; for example `)
  expect(more).toEqual([])
})

test('PUBLIC_URL defaults to a URL that a browser can open', () => {
  expect(readConfig({ HOST: '0.0.0.0', PORT: '8080' }).publicUrl).toBe('http://localhost:8080')
  expect(readConfig({ HOST: '::1' }).publicUrl).toBe('http://[::1]:3000')
  expect(readConfig({ PUBLIC_URL: 'https://duely.example.com/' }).publicUrl).toBe('https://duely.example.com')
})

test('proxies are trusted by address', () => {
  expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2)
  expect(said({ TRUST_PROXY: 'true' })).toEqual([
    'TRUST_PROXY must not be true, because then anyone could claim any address: set the number of proxies or their addresses, for example 1 or 127.0.0.1,10.0.0.0/8',
  ])
  expect(said({ TRUST_PROXY: '11' })).toHaveLength(1)
  expect(readConfig({ TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,loopback,fd00::/8' }).trustProxy).toEqual([
    '127.0.0.1',
    '10.0.0.0/8',
    'loopback',
    'fd00::/8',
  ])
  expect(said({ TRUST_PROXY: '10.0.0.0/99' })).toHaveLength(1)
})

test('.env.example lists every variable, commented out, and valid where it has a value', () => {
  const listed = [...readFileSync('.env.example', 'utf8').matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }))
  expect(listed.map(({ name }) => name).toSorted()).toEqual(variables.filter((name) => name !== 'FAILPOINT').toSorted())
  const filled = Object.fromEntries(listed.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]))
  expect(() => readConfig({ ...filled, SECRET_KEY: 'x'.repeat(32) })).not.toThrow()
})

test('clients get pay links where the address of this server is public, or PAY_LINKS decides', () => {
  const payLinks = (PUBLIC_URL: string, PAY_LINKS = 'auto') => readConfig({ PUBLIC_URL, PAY_LINKS }).payLinks
  for (const url of ['https://duely.example', 'https://203.0.113.9.example', 'https://8.8.8.8', 'https://[2606:4700::1111]'])
    expect(payLinks(url), url).toBe(true)
  for (const host of ['localhost', 'duely', 'duely.local', 'duely.lan', 'duely.internal', '127.0.0.1', '192.168.1.4', '[::1]', '[fd00::1]'])
    expect(payLinks(`http://${host}:3000`), host).toBe(false)
  expect(readConfig({}).payLinks).toBe(false)
  expect(payLinks('http://localhost:3000', 'on')).toBe(true)
  expect(payLinks('https://duely.example', 'off')).toBe(false)
  expect(said({ PAY_LINKS: 'yes' })).toEqual(['PAY_LINKS must be auto, on or off'])
})
