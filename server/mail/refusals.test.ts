import fc from 'fast-check'
import { expect, test } from 'vitest'
import { adviceOf, defersMailbox, type Fault, faultOf, isLimitForNow, limitSeconds, type Stage, wordsOf } from './refusals.ts'

/** Refusals as providers document them: where, in which words, and whose fault each is. */
const refusals: [who: string, at: Stage, reply: string, fault: Fault][] = [
  ['Gmail, of a day', 'mail', '550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to', 'limit'],
  ['Exchange Online, of a day', 'message', "554 5.1.90 Your message can't be sent because you've reached your daily limit", 'limit'],
  [
    'cPanel, of an hour',
    'rcpt',
    '550 Domain shop.example has exceeded the max emails per hour (150/150 (100%)) allowed. Message discarded.',
    'limit',
  ],
  [
    'GoDaddy, of a day',
    'rcpt',
    '550 5.7.1 User asha@shop.example has exceeded its 24-hour sending limit. Relay quota will reset in 3 hours',
    'limit',
  ],
  ['Zoho, of its own', 'message', '550 5.4.6 Unusual sending activity detected. Please try after sometime', 'limit'],
  ['OVH', 'rcpt', '550 5.7.1 Quota exceeded', 'limit'],
  [
    'Exchange Online, another sender',
    'message',
    '554 5.2.252 SendAsDenied; asha@shop.example not allowed to send as billing@shop.example',
    'sender',
  ],
  ['Exchange, another sender', 'message', '550 5.7.60 SMTP; Client does not have permissions to send as this sender', 'sender'],
  [
    'Amazon SES',
    'message',
    '554 Message rejected: Email address is not verified. The following identities failed the check in region',
    'sender',
  ],
  [
    'SendGrid',
    'message',
    '550 The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.',
    'sender',
  ],
  [
    'Postfix, with the recipient',
    'rcpt',
    '553 5.7.1 <billing@shop.example>: Sender address rejected: not owned by user asha@shop.example',
    'sender',
  ],
  ['Postfix, without a login', 'rcpt', '554 5.7.1 <a@client.example>: Relay access denied', 'sender'],
  ['GMX', 'message', '550 Requested action not taken: mailbox unavailable. Sender address is not allowed.', 'sender'],
  ['Fastmail', 'message', '551 5.7.1 Not authorised to send from this header address', 'sender'],
  ['Exim, of a sender', 'rcpt', '550 Sender verify failed', 'sender'],
  ['a code that means both', 'rcpt', '550 5.1.0 Sender rejected', 'sender'],
  ['anything at MAIL', 'mail', '550 5.1.1 No such user', 'sender'],
  ['Gmail, of an address', 'rcpt', '550 5.1.1 The email account that you tried to reach does not exist. Please try', 'address'],
  [
    'Postfix, of an address',
    'rcpt',
    '550 5.1.1 <a@client.example>: Recipient address rejected: User unknown in virtual mailbox table',
    'address',
  ],
  ['Exchange Online, of an address', 'rcpt', '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)', 'address'],
  ['Exchange, of an address', 'rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup', 'address'],
  ['Yahoo', 'rcpt', '552 5.2.1 This mailbox is disabled (554.30)', 'address'],
  ['Exim, of an address', 'rcpt', '550 Unrouteable address', 'address'],
  ['without an enhanced code', 'rcpt', '550 No such user here', 'address'],
  ['a code alone', 'rcpt', '550 5.1.0 Address rejected', 'mail'],
  ['words alone', 'rcpt', '554 5.7.1 <a@client.example>: Recipient address rejected: blocked using a list', 'mail'],
  ['a full mailbox', 'rcpt', '552 5.2.2 Mailbox over quota', 'mail'],
  ['the rule of a group', 'rcpt', '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required', 'mail'],
  ['the rule of a recipient', 'rcpt', '550 5.7.1 You are not permitted to send to this recipient', 'mail'],
  ['spam', 'message', '554 5.7.1 Message rejected as spam', 'mail'],
  ['an address that is refused with the message', 'message', '550 5.1.1 No such user', 'mail'],
  ['a login', 'rcpt', '530 5.7.0 Authentication required', 'login'],
]

test.each(refusals)('%s at %s: %s', (_who, at, reply, fault) => {
  expect(faultOf(at, reply).fault).toBe(fault)
})

test('what to do about a refused sender follows from the words', () => {
  expect(refusals.filter(([, , , fault]) => fault === 'sender').map(([, , reply]) => adviceOf(reply))).toEqual([
    'send_as',
    'send_as',
    'verify',
    'verify',
    ...Array.from({ length: 7 }, () => 'match_login'),
  ])
})

test('a limit says how long it lasts where it is of an hour, and may ask to try later', () => {
  expect(refusals.slice(0, 3).map(([, , reply]) => limitSeconds(reply))).toEqual([null, null, 3_600])
  expect(isLimitForNow('452 4.5.3 Too many recipients in this hour')).toBe(true)
  expect(
    ['452 4.3.1 Insufficient system storage', '451 4.7.1 Greylisted, try again later', '452 4.2.2 Mailbox over quota'].some(isLimitForNow),
  ).toBe(false)
})

test('a reply that asks to try again is about the mailbox unless it is about a recipient or the connection', () => {
  const about = (at: Stage, replies: string[]) => replies.map((reply) => defersMailbox(at, reply))
  expect(about('mail', ['450 4.7.1 Error: too much mail from 192.0.2.1', '451 4.3.0 Try again later'])).toEqual([true, true])
  expect(about('rcpt', ['450 4.7.1 Error: too many recipients from 192.0.2.1', '451 4.7.1 Sending rate limit exceeded'])).toEqual([
    true,
    true,
  ])
  expect(about('rcpt', ['450 4.7.1 Greylisted', '450 4.2.0 Recipient address rejected', '452 4.2.2 Mailbox over quota'])).toEqual([
    false,
    false,
    false,
  ])
  expect(about('mail', ['421 4.7.0 Too many messages, closing'])).toEqual([false])
})

test('words are the same with other addresses, ids and numbers', () => {
  expect(wordsOf('550 5.7.1 <a@one.example>: blocked, see https://x.example/1 [id 4f2a9]')).toBe(
    wordsOf('550 5.7.1 <b@two.example>: Blocked, see https://x.example/2 [id 77b01]'),
  )
  expect(wordsOf('550 Blocked')).not.toBe(wordsOf('550 Unknown'))
})

/** But for what only its stage says. */
const bySender = refusals.filter(([who, , , fault]) => who !== 'anything at MAIL' && (fault === 'sender' || fault === 'limit'))
const digits = fc.constantFrom('550', '551', '553', '554')
const code = fc.constantFrom('', '5.1.0 ', '5.1.1 ', '5.1.2 ', '5.1.7 ', '5.7.1 ', '5.4.1 ', '5.2.1 ')

test('no reply that speaks of the mailbox is about a client’s address, with whatever code and at whatever stage', () => {
  const words = fc.constantFrom(...bySender.map(([, , reply]) => reply.replace(/^\d{3} (?:\d\.\d+\.\d+ )?/, '')))
  fc.assert(
    fc.property(digits, code, words, fc.constantFrom<Stage>('mail', 'rcpt', 'message'), (three, enhanced, said, at) => {
      expect(faultOf(at, `${three} ${enhanced}${said}`).fault).not.toBe('address')
    }),
    { numRuns: 2_000 },
  )
})

test('words that are not known never say that an address does not exist', () => {
  fc.assert(
    fc.property(
      digits,
      code,
      fc.lorem({ maxCount: 12 }),
      fc.constantFrom<Stage>('mail', 'rcpt', 'message'),
      (three, enhanced, said, at) => {
        expect(faultOf(at, `${three} ${enhanced}${said}`).fault).not.toBe('address')
      },
    ),
    { numRuns: 2_000 },
  )
})
