import { type ProblemCode, problem } from '#contract/problem.ts'
import { texts } from './texts.ts'

interface FieldError {
  path: string
  message: string
}

/** A call that did not succeed. `message` is a sentence for the person, `code` is for programs; `offline` means that no answer came. */
export class Problem extends Error {
  readonly code: ProblemCode | 'offline'
  readonly errors: FieldError[]
  /** After so many seconds another try may go better; null where nobody said so. */
  readonly retryAfter: number | null

  constructor(code: ProblemCode | 'offline', message: string, errors: FieldError[] = [], retryAfter: number | null = null) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.errors = errors
    this.retryAfter = retryAfter
  }
}

/** Reads the body of an answer that is not a success; anything that is not a problem (a proxy's page) is put in words. */
export async function readProblem(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null)
  const said = problem.safeParse(body)
  if (said.success)
    return new Problem(said.data.code, said.data.message, said.data.errors ?? [], secondsIn(response.headers.get('retry-after')))
  return new Problem('fault', texts.unexpectedStatus(response.status))
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null
}

/** What to tell the person about anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Problem ? error.message : texts.broken
}
