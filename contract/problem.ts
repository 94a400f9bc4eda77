import { z } from 'zod'

/** The closed list of refusals, each with its HTTP status. */
export const problemStatus = {
  invalid: 400,
  mail_not_configured: 400,
  mail_host_refused: 400,
  mail_test_failed: 400,
  wrong_password: 400,
  payment_not_verified: 400,
  link_expired: 400,
  invitation_gone: 400,
  google_failed: 400,
  microsoft_failed: 400,
  not_signed_in: 401,
  wrong_credentials: 401,
  second_factor_needed: 401,
  wrong_second_factor: 401,
  recent_sign_in_needed: 401,
  plan_limit: 402,
  not_allowed: 403,
  administrator_needed: 403,
  email_not_confirmed: 403,
  not_found: 404,
  conflict: 409,
  email_taken: 409,
  owns_business: 409,
  changed_meanwhile: 409,
  payment_pending: 409,
  plan_changed: 409,
  too_large: 413,
  too_many: 429,
  fault: 500,
  mail_refused: 502,
  payment_refused: 502,
  not_ready: 503,
  payments_not_set_up: 503,
} as const

export type ProblemCode = keyof typeof problemStatus
const codes = Object.keys(problemStatus) as [ProblemCode, ...ProblemCode[]]

export const problem = z
  .object({
    message: z
      .string()
      .meta({ description: 'One sentence that a person can act on. Its wording may change at any time: decide by `code`.' }),
    code: z.enum(codes).meta({ description: 'For programs. Each code always has the same status.' }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .meta({ description: 'The invalid fields, by dotted path.' })
      .optional(),
    meanwhile: z
      .object({
        version: z.union([z.number().int(), z.string()]).meta({ description: 'The present version.' }),
        by: z.string().meta({ description: 'Who changed it last.' }),
        at: z.string().meta({ format: 'date-time', description: 'When.' }),
        self: z.boolean().meta({ description: 'Whether that was the person who asks.' }),
      })
      .meta({ description: 'With `changed_meanwhile`: the change that came first.' })
      .optional(),
    simulation: z
      .unknown()
      .meta({ description: 'With `plan_changed`: what `POST /reminder/simulate` answers for the change now.' })
      .optional(),
  })
  .meta({ id: 'Problem', description: 'Why a call was refused.' })
export type Problem = z.infer<typeof problem>
