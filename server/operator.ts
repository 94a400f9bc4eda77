import { sealedFactors } from '#server/accounts/accounts.ts'
import { makeResetLink, removeLostTwoFactor } from '#server/accounts/recovery.ts'
import { listOauthClients, registerOauthClient, removeOauthClient, sealedWebhooks } from '#server/integrations/integrations.ts'
import { sealedSenders } from '#server/mail/mail.ts'
import { sealedPayKeys, sealedPayLinks } from '#server/pay/pay.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { CommandResult } from '#server/platform/operator-socket.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { reseal } from '#server/platform/reseal.ts'
import { beginRotation, endRotation } from '#server/platform/secret-key.ts'
import { sealedSystemMails } from '#server/platform/system-mail.ts'
import { holdAccount, holdRestored, releaseAccount } from '#server/reminders/holds.ts'
import { busiestAccounts } from '#server/reminders/processes.ts'

type Operating = Pick<Deps, 'db' | 'clock' | 'config'>

interface Command {
  /** What follows the name, for the list of commands; in brackets what may be left out. */
  parameters: string[]
  summary: string
  /** Answers lines for the terminal; refuses with a ProblemError. */
  run(deps: Operating, given: string[]): Promise<string[]>
}

/** What an operator can do from a terminal, by name: one word, or two. */
const commands: Record<string, Command> = {
  'reset-password': {
    parameters: ['EMAIL'],
    summary: 'prints a password reset link, valid once for 60 minutes',
    run: async (deps, [email = '']) => [await makeResetLink(deps, email, deps.clock.now())],
  },
  'remove-two-factor': {
    parameters: ['EMAIL'],
    summary: 'turns off two-factor authentication for someone who lost authenticator and recovery codes',
    run: async (deps, [email = '']) => {
      await removeLostTwoFactor(deps, email, deps.clock.now())
      return [`Two-factor authentication is now off for ${email}.`]
    },
  },
  'rotate-keys': {
    parameters: [],
    summary: 'rotates the secret key in two steps, while Duely runs',
    run: rotateKeys,
  },
  'hold-restored': {
    parameters: [],
    summary: 'holds every waiting reminder for its owner’s approval; use it after restoring a copy of the embedded database',
    run: async ({ db, clock }) => {
      const held = await holdRestored(db, clock.now())
      return [held === 1 ? '1 reminder needs its owner’s approval.' : `${held} reminders need their owners’ approval.`]
    },
  },
  'hold-account': {
    parameters: ['EMAIL'],
    summary: 'stops sending for one account: its emails wait and fail at their deadline unless you release it before',
    run: async ({ db, clock }, [email = '']) => [
      `Sending is on hold for ${email}: ${emails(await holdAccount(db, email, clock.now()))} waiting. Emails in flight are still sent.`,
    ],
  },
  'release-account': {
    parameters: ['EMAIL'],
    summary: 'resumes sending for an account on hold',
    run: async ({ db, clock }, [email = '']) => [
      `Sending is resumed for ${email}: ${emails(await releaseAccount(db, email, clock.now()))} sent within seconds.`,
    ],
  },
  busiest: {
    parameters: [],
    summary: 'lists the accounts that used the most sending time in the last hour, with their emails, failures and bytes',
    run: async ({ db, clock }) => {
      const found = await busiestAccounts(db, clock.now())
      if (found.length === 0) return ['No email was tried in the last hour.']
      return [
        'seconds  emails  failures        bytes  account',
        ...found.map(({ email, seconds, sent, failed, bytes }) =>
          [seconds.toFixed(1).padStart(7), String(sent).padStart(6), String(failed).padStart(8), String(bytes).padStart(11), email].join(
            '  ',
          ),
        ),
      ]
    },
  },
  'oauth-client add': {
    parameters: ['NAME', 'REDIRECT_URI[,…]', '[public]'],
    summary: 'registers an OAuth client and prints its ID and secret; public: a client that cannot keep a secret',
    run: addApplication,
  },
  'oauth-client list': {
    parameters: [],
    summary: 'lists the registered OAuth clients; Zapier is configured in the environment',
    run: async ({ db }) => {
      const found = await listOauthClients(db)
      if (found.length === 0) return ['No OAuth client is registered.']
      return found.map(({ id, name, secretHash, redirectUris }) =>
        [id, name, secretHash === null ? 'public' : 'confidential', redirectUris.join(',')].join('  '),
      )
    },
  },
  'oauth-client remove': {
    parameters: ['ID'],
    summary: 'removes an OAuth client and revokes its grants',
    run: async ({ db }, [id = '']) => [`${await removeOauthClient(db, id)} was removed and its grants were revoked.`],
  },
}

/** Shown this once: only a hash of the secret is kept. */
async function addApplication({ db, clock }: Operating, [name = '', uris = '', kind]: string[]): Promise<string[]> {
  if (kind !== undefined && kind !== 'public') throw new ProblemError('invalid', `Write public or nothing instead of ${kind}.`)
  const redirectUris = uris.split(',').map((uri) => uri.trim())
  const { id, secret } = await registerOauthClient(db, { name, redirectUris, kind: kind ?? 'confidential' }, clock.now())
  return [`client_id: ${id}`, secret === null ? 'It has no secret and must use PKCE.' : `client_secret: ${secret}`]
}

/**
 * The first time it brings a new key, or says how to; the second time, when every process has both, it seals all secrets with the new one
 * and drops the old.
 */
async function rotateKeys({ db, config }: Operating): Promise<string[]> {
  const kept = config.secretKeyGiven ? null : config.dataDir
  const { secretKey } = config
  if (!secretKey.includes('\n')) {
    if (kept === null)
      return ['Start every process with a new SECRET_KEY and the current one as SECRET_KEY_BEFORE. Then run rotate-keys again.']
    beginRotation(secretKey, kept)
    return [`Added a new key to ${kept}/secret-key. Restart Duely, then run rotate-keys again.`]
  }
  const counts = []
  for (const column of [...sealedSenders, sealedFactors, sealedWebhooks, sealedSystemMails, sealedPayLinks, ...sealedPayKeys])
    counts.push(await reseal(db, secretKey, column))
  const done = counts.reduce((sum, one) => sum + one.done, 0)
  const closed = counts.reduce((sum, one) => sum + one.closed, 0)
  await endRotation(db, { secretKey, dataDir: kept })
  return [
    `${done} ${done === 1 ? 'secret was' : 'secrets were'} re-encrypted with the new key.`,
    ...(closed > 0 ? [`${closed} could not be decrypted with either key and were left unchanged.`] : []),
    kept === null ? 'SECRET_KEY_BEFORE is no longer needed. Remove it.' : 'The previous key is no longer needed and was deleted.',
  ]
}

function emails(count: number): string {
  return count === 1 ? '1 email is' : `${count} emails are`
}

/** Carries out one command; what is wrong is said in lines and by the code 1. */
export async function operate(deps: Operating, args: string[]): Promise<CommandResult> {
  const found = Object.entries(commands).find(([name]) => name.split(' ').every((word, at) => args[at] === word))
  if (!found) return { lines: usage(), code: args[0] === 'help' || args[0] === '--help' ? 0 : 1 }
  const [name, command] = found
  const given = args.slice(name.split(' ').length)
  if (given.includes('--help')) return { lines: [lineOf(name, command)], code: 0 }
  const needed = command.parameters.filter((parameter) => !parameter.startsWith('[')).length
  if (given.length < needed || given.length > command.parameters.length) return { lines: usage(), code: 1 }
  try {
    return { lines: await command.run(deps, given), code: 0 }
  } catch (error) {
    if (error instanceof ProblemError) return { lines: [error.message], code: 1 }
    throw error
  }
}

function usage(): string[] {
  return [
    'npm run duely -- COMMAND, where COMMAND is one of:',
    ...Object.entries(commands).map(([name, command]) => `  ${lineOf(name, command)}`),
  ]
}

function lineOf(name: string, { parameters, summary }: Command): string {
  return `${[name, ...parameters].join(' ')}: ${summary}`
}
