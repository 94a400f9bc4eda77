import { z } from 'zod'
import type { App } from './answer.ts'
import { version } from './version.ts'

const asked = z.object({ strict: z.string().optional() })

/**
 * `GET /health`: whether this process can serve, for monitors and load balancers. A problem in the background makes
 * it `degraded`, with the reason: still 200, because this process is alive, but 503 for who asks strictly.
 */
export function answerHealth(app: App, about: { answers: () => Promise<boolean>; trouble: () => Promise<string | null> }): void {
  app.get('/health', { logLevel: 'warn', schema: { summary: 'Whether this process can serve.' } }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const trouble = about.trouble()
    // Not awaited if the database does not answer, so its rejection must be handled here.
    trouble.catch(() => undefined)
    if (!(await about.answers())) return reply.status(503).send({ status: 'the database does not answer', version })
    const reason = await trouble
    if (reason === null) return reply.send({ status: 'ok', version })
    const { strict } = asked.parse(request.query)
    return reply.status(strict === '1' ? 503 : 200).send({ status: 'degraded', reason, version })
  })
}
