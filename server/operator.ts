import { makeResetLink, removeLostTwoFactor } from '#server/accounts/recovery.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Said } from '#server/platform/operator-socket.ts'
import { Refusal } from '#server/platform/refusal.ts'

type Operating = Pick<Deps, 'db' | 'clock' | 'config'>

interface Command {
  /** What follows the name, for the list of commands. */
  parameters: string[]
  summary: string
  /** Answers lines for the terminal; refuses with a Refusal. */
  run(deps: Operating, given: string[]): Promise<string[]>
}

/** What an operator can do from a terminal, by name. */
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
}

/** Carries out one command; what is wrong is said in lines and by the code 1. */
export async function operate(deps: Operating, args: string[]): Promise<Said> {
  const [name = '', ...given] = args
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command || given.length !== command.parameters.length) return { lines: usage(), code: name === 'help' ? 0 : 1 }
  try {
    return { lines: await command.run(deps, given), code: 0 }
  } catch (error) {
    if (error instanceof Refusal) return { lines: [error.message], code: 1 }
    throw error
  }
}

function usage(): string[] {
  return [
    'npm run duely -- COMMAND, where COMMAND is one of:',
    ...Object.entries(commands).map(([name, { parameters, summary }]) => `  ${[name, ...parameters].join(' ')}: ${summary}`),
  ]
}
