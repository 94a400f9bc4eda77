import type { Config } from '#server/config.ts'
import type { CommandResult } from '#server/platform/operator-socket.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { StartError } from '#server/platform/start-error.ts'
import {
  accountsCommand,
  busiest,
  businessOwner,
  holdAccountCommand,
  releaseAccountCommand,
  removeTwoFactor,
  resetPassword,
} from './accounts.ts'
import { backup, holdRestoredCommand, restore, snapshot } from './backup.ts'
import type { Command, Operating } from './command.ts'
import { doctor } from './doctor.ts'
import { rotateKeys } from './keys.ts'
import { migrate } from './migrate.ts'
import { moveToEmbedded, moveToServer } from './move.ts'
import { addOauthClient, listOauthClientsCommand, removeOauthClientCommand } from './oauth-clients.ts'
import { operatorLink } from './operator-page.ts'

/** What an operator can do from a terminal, by name: one word, or two. */
const commands: Record<string, Command> = {
  doctor,
  accounts: accountsCommand,
  'reset-password': resetPassword,
  'remove-two-factor': removeTwoFactor,
  'business-owner': businessOwner,
  'hold-account': holdAccountCommand,
  'release-account': releaseAccountCommand,
  busiest,
  'operator-link': operatorLink,
  backup,
  restore,
  snapshot,
  'hold-restored': holdRestoredCommand,
  'move-to-server': moveToServer,
  'move-to-embedded': moveToEmbedded,
  migrate,
  'rotate-keys': rotateKeys,
  'oauth-client add': addOauthClient,
  'oauth-client list': listOauthClientsCommand,
  'oauth-client remove': removeOauthClientCommand,
}

/** A command with what follows its name, or what to print instead. */
type Found = { command: Command; given: string[] } | CommandResult

function find(args: string[]): Found {
  const found = Object.entries(commands).find(([name]) => name.split(' ').every((word, at) => args[at] === word))
  if (!found) return { lines: usage(), code: args[0] === 'help' || args[0] === '--help' ? 0 : 1 }
  const [name, command] = found
  const given = args.slice(name.split(' ').length)
  if (given.includes('--help')) return { lines: [lineOf(name, command), ...(command.help ?? [])], code: 0 }
  const needed = command.parameters.filter((parameter) => !parameter.startsWith('[')).length
  if (given.length < needed || given.length > command.parameters.length) return { lines: [`Usage: ${lineOf(name, command)}`], code: 1 }
  return { command, given }
}

/** Carries out a command in this process, which has opened no database; null for one that needs an open one. */
export async function runAlone(readConfig: () => Config, args: string[]): Promise<CommandResult | null> {
  const found = find(args)
  if ('lines' in found) return found
  const { command, given } = found
  const { alone } = command
  return alone ? refusable(() => alone(readConfig, given)) : null
}

/** Carries out one command; what is wrong is said in lines and by the code 1. */
export async function operate(deps: Operating, args: string[]): Promise<CommandResult> {
  const found = find(args)
  if ('lines' in found) return found
  const { run } = found.command
  if (!run) return { lines: [`${args[0]} runs in a process of its own, not in this one.`], code: 1 }
  return refusable(() => run(deps, found.given))
}

async function refusable(run: () => Promise<string[] | CommandResult>): Promise<CommandResult> {
  try {
    const done = await run()
    return Array.isArray(done) ? { lines: done, code: 0 } : done
  } catch (error) {
    if (error instanceof ProblemError || error instanceof StartError) return { lines: [error.message], code: 1 }
    throw error
  }
}

function usage(): string[] {
  return [
    'npm run duely -- COMMAND, where COMMAND is one of:',
    ...Object.entries(commands).map(([name, command]) => `  ${lineOf(name, command)}`),
    'npm run duely -- COMMAND --help explains one.',
  ]
}

function lineOf(name: string, { parameters, summary }: Command): string {
  return `${[name, ...parameters].join(' ')}: ${summary}`
}
