import { expect, test } from 'vitest'
import { smtpDraft } from '#contract/mail.ts'
import { presets, providerOf, providerOfAddress, providers } from './smtp-dialog.tsx'

test('every provider preset passes validation and uses the port of its security', () => {
  for (const provider of providers.filter((name) => name !== 'custom')) {
    const preset = presets[provider]
    expect(smtpDraft.safeParse({ ...preset, user: 'asha@example.com', pass: 'x' }).success).toBe(true)
    expect(preset.port).toBe(preset.secure ? 465 : 587)
    expect(providerOf(preset.host)).toBe(provider)
  }
})

test('the empty form has port 587 and SSL', () => {
  expect(presets.custom).toEqual({ host: '', port: 587, secure: true })
})

test.each([
  [' SMTP.Gmail.com ', 'gmail'],
  ['smtppro.zoho.eu', 'zoho'],
  ['smtp-mail.outlook.com', 'microsoft'],
  ['smtp.gmail.com.evil.example', 'custom'],
  ['', 'custom'],
])('%j belongs to %s', (host, provider) => {
  expect(providerOf(host)).toBe(provider)
})

test.each([
  ['Asha@GMail.com', 'gmail'],
  ['asha@hotmail.co.uk', 'microsoft'],
  ['asha@yahoo.co.in', 'yahoo'],
  ['asha@gmail.com.evil.example', 'custom'],
  ['asha@banyan.example', 'custom'],
  ['gmail.com', 'custom'],
])('the mailbox %s is at %s', (address, provider) => {
  expect(providerOfAddress(address)).toBe(provider)
})
