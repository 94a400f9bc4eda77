import type { App } from './answer.ts'

/** `GET /health`: whether this process can serve at this moment, for whoever watches or balances. */
export function answerHealth(app: App, answers: () => Promise<boolean>): void {
  app.get('/health', { logLevel: 'warn', schema: { summary: 'Whether this process can serve.' } }, async (_request, reply) => {
    const well = await answers()
    return reply
      .status(well ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: well ? 'ok' : 'the database does not answer' })
  })
}
