import { sealedFactors } from '#server/accounts/accounts.ts'
import { makeResetLink, removeLostTwoFactor } from '#server/accounts/recovery.ts'
import { listOauthClients, registerOauthClient, removeOauthClient, sealedWebhooks } from '#server/integrations/integrations.ts'
import { sealedSenders } from '#server/mail/mail.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { CommandResult } from '#server/platform/operator-socket.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { reseal } from '#server/platform/reseal.ts'
import { beginRotation, endRotation } from '#server/platform/secret-key.ts'
import { sealedSystemMails } from '#server/platform/system-mail.ts'
import { holdRestored } from '#server/reminders/holds.ts'

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
    summary: 'prints a link by which this person sets a new password; good for 10 minutes and once',
    run: async (deps, [email = '']) => [await makeResetLink(deps, email, deps.clock.now())],
  },
  'remove-two-factor': {
    parameters: ['EMAIL'],
    summary: 'lets this person sign in by password alone, where authenticator and recovery codes are lost',
    run: async (deps, [email = '']) => {
      await removeLostTwoFactor(deps, email, deps.clock.now())
      return [`Two-factor sign-in of ${email} is off.`]
    },
  },
  'rotate-keys': {
    parameters: [],
    summary: 'goes over to another secret key, in two steps; works while mails are being sent',
    run: rotateKeys,
  },
  'hold-restored': {
    parameters: [],
    summary: 'holds every waiting reminder until its owner sends it: after a copy of the embedded database was put back',
    run: async ({ db, clock }) => {
      const held = await holdRestored(db, clock.now())
      return [held === 1 ? '1 reminder waits for its owner’s word.' : `${held} reminders wait for their owners’ word.`]
    },
  },
  'oauth-client add': {
    parameters: ['NAME', 'REDIRECT_URI[,…]', '[public]'],
    summary:
      'registers an application that may ask people for permission, and prints its id and secret; public: one that can keep no secret',
    run: addApplication,
  },
  'oauth-client list': {
    parameters: [],
    summary: 'lists these applications; Zapier is named in the environment instead',
    run: async ({ db }) => {
      const found = await listOauthClients(db)
      if (found.length === 0) return ['No application is registered.']
      return found.map(({ id, name, secretHash, redirectUris }) =>
        [id, name, secretHash === null ? 'public' : 'with a secret', redirectUris.join(',')].join('  '),
      )
    },
  },
  'oauth-client remove': {
    parameters: ['ID'],
    summary: 'forgets an application; every permission that people gave it ends at once',
    run: async ({ db }, [id = '']) => [`${await removeOauthClient(db, id)} is forgotten, and every permission that people gave it.`],
  },
}

/** Shown this once: only a hash of the secret is kept. */
async function addApplication({ db, clock }: Operating, [name = '', uris = '', kind]: string[]): Promise<string[]> {
  if (kind !== undefined && kind !== 'public') throw new ProblemError('invalid', `Please say public or nothing in place of ${kind}.`)
  const redirectUris = uris.split(',').map((uri) => uri.trim())
  const { id, secret } = await registerOauthClient(db, { name, redirectUris, kind: kind ?? 'confidential' }, clock.now())
  return [`client_id: ${id}`, secret === null ? 'It has no secret: it has to use PKCE.' : `client_secret: ${secret}`]
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
      return ['Start every process with a new SECRET_KEY and the present one as SECRET_KEY_BEFORE. Then run rotate-keys once more.']
    beginRotation(secretKey, kept)
    return [`A new key was put in front of the present one in ${kept}/secret-key. Restart Duely, then run rotate-keys once more.`]
  }
  const counts = []
  for (const column of [...sealedSenders, sealedFactors, sealedWebhooks, sealedSystemMails])
    counts.push(await reseal(db, secretKey, column))
  const done = counts.reduce((sum, one) => sum + one.done, 0)
  const closed = counts.reduce((sum, one) => sum + one.closed, 0)
  await endRotation(db, { secretKey, dataDir: kept })
  return [
    `${done} ${done === 1 ? 'secret was' : 'secrets were'} sealed with the new key.`,
    ...(closed > 0 ? [`${closed} could be opened with neither key and stayed as they were.`] : []),
    kept === null ? 'SECRET_KEY_BEFORE is not needed any more: take it away.' : 'The key before is not needed any more and was forgotten.',
  ]
}

/** Carries out one command; what is wrong is said in lines and by the code 1. */
export async function operate(deps: Operating, args: string[]): Promise<CommandResult> {
  const found = Object.entries(commands).find(([name]) => name.split(' ').every((word, at) => args[at] === word))
  if (!found) return { lines: usage(), code: args[0] === 'help' ? 0 : 1 }
  const [name, command] = found
  const given = args.slice(name.split(' ').length)
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
    ...Object.entries(commands).map(([name, { parameters, summary }]) => `  ${[name, ...parameters].join(' ')}: ${summary}`),
  ]
}
