import { type ProblemCode, problem, type Problem as Said } from '#contract/problem.ts'
import { texts } from './texts.ts'

interface FieldError {
  path: string
  message: string
}

type Meanwhile = Said['meanwhile']

/** A call that failed. `message` is for the person, `code` for programs; `offline` means that no answer came. */
export class Problem extends Error {
  readonly code: ProblemCode | 'offline'
  readonly errors: FieldError[]
  /** Seconds (Retry-After), or null. */
  readonly retryAfter: number | null
  /** With `changed_meanwhile`: the change that came first. */
  readonly meanwhile: Meanwhile

  constructor(
    code: ProblemCode | 'offline',
    message: string,
    errors: FieldError[] = [],
    retryAfter: number | null = null,
    meanwhile: Meanwhile = undefined,
  ) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.errors = errors
    this.retryAfter = retryAfter
    this.meanwhile = meanwhile
  }
}

/** Parses an error response; a body that is no problem document (a proxy's page) gets a message of our own. */
export async function readProblem(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null)
  const said = problem.safeParse(body)
  if (said.success)
    return new Problem(
      said.data.code,
      said.data.message,
      said.data.errors ?? [],
      secondsIn(response.headers.get('retry-after')),
      said.data.meanwhile,
    )
  return new Problem('fault', texts.unexpectedStatus(response.status))
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null
}

/** The message to show for anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Problem ? error.message : texts.broken
}
