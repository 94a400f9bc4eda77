import { expect, test } from 'vitest'
import { readAppPassword, readSmtpServer } from './smtp-server.ts'

test.each([
  ['smtp.example.com', 'smtp.example.com', null, null],
  [' smtp.example.com. ', 'smtp.example.com', null, null],
  ['smtp.example.com:587', 'smtp.example.com', 587, false],
  ['smtp.example.com:465', 'smtp.example.com', 465, true],
  ['smtp.example.com:1025', 'smtp.example.com', 1025, null],
  ['smtps://smtp.example.com', 'smtp.example.com', 465, true],
  ['ssl://smtp.example.com:465/', 'smtp.example.com', 465, true],
  ['smtp://asha:secret@smtp.example.com:587', 'smtp.example.com', 587, false],
  ['https://smtp.example.com/settings?x=1', 'smtp.example.com', null, null],
  ['smtp.example.com/', 'smtp.example.com', null, null],
  ['\u200bsmtp.example.com\ufeff', 'smtp.example.com', null, null],
  ['[2001:db8::1]:2525', '[2001:db8::1]', 2525, false],
  ['2001:db8::1', '2001:db8::1', null, null],
  ['', '', null, null],
])('%j is the server %s', (text, host, port, secure) => {
  expect(readSmtpServer(text)).toEqual({ host, port, secure })
})

test('an app password loses the spaces that its provider shows it with, and others keep theirs', () => {
  expect(readAppPassword('abcd efgh\u00a0ijkl mnop\n', 'smtp.gmail.com')).toBe('abcdefghijklmnop')
  expect(readAppPassword('abcd-efgh-ijkl-mnop', 'smtp.mail.me.com')).toBe('abcd-efgh-ijkl-mnop')
  expect(readAppPassword('correct horse \r\n', 'smtp.example.com')).toBe('correct horse ')
  expect(readAppPassword('correct horse', 'gmail.com.evil.example')).toBe('correct horse')
})
