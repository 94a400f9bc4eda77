import type { Config } from '#server/config.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { CommandResult } from '#server/platform/operator-socket.ts'

/** What commands on an open database work with. */
export interface Operating extends Pick<Deps, 'db' | 'clock' | 'config'> {
  /** Copies the embedded database that is running. */
  snapshot?: ((folder: string) => Promise<void>) | null
}

/** What an operator can do from a terminal. Answers lines for the terminal; refuses with a ProblemError or StartError. */
export interface Command {
  /** What follows the name, for the list of commands; in brackets what may be left out. */
  parameters: string[]
  summary: string
  /** What `--help` adds. */
  help?: string[]
  /** On the open database: in the process that runs, else in this one. */
  run?(deps: Operating, given: string[]): Promise<string[] | CommandResult>
  /** In this process; it opens the databases that it needs. */
  alone?(readConfig: () => Config, given: string[]): Promise<string[] | CommandResult>
}
