import { type Problem, type ProblemCode, problemStatus } from '#contract/problem.ts'

/** Something asked for that is not done, in a sentence that a person can act on. Its status follows from its code. */
export class ProblemError extends Error {
  readonly code: ProblemCode
  readonly errors: Problem['errors']
  /** Seconds until it is worth asking again; sent as Retry-After. */
  readonly retryAfter: number | undefined
  private readonly simulation: unknown
  private readonly meanwhile: Problem['meanwhile']

  constructor(
    code: ProblemCode,
    message: string,
    extra: { errors?: Problem['errors']; retryAfter?: number; simulation?: unknown; meanwhile?: Problem['meanwhile'] } = {},
  ) {
    super(message)
    this.code = code
    this.errors = extra.errors
    this.retryAfter = extra.retryAfter
    this.simulation = extra.simulation
    this.meanwhile = extra.meanwhile
  }

  get status(): number {
    return problemStatus[this.code]
  }

  get problem(): Problem {
    return {
      message: this.message,
      code: this.code,
      ...(this.errors ? { errors: this.errors } : {}),
      ...(this.simulation ? { simulation: this.simulation } : {}),
      ...(this.meanwhile ? { meanwhile: this.meanwhile } : {}),
    }
  }
}

/** One field is wrong. */
export function invalid(path: string, message: string): ProblemError {
  return new ProblemError('invalid', message, { errors: [{ path, message }] })
}
