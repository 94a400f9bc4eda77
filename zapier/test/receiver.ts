import { once } from 'node:events'
import { createServer } from 'node:http'
import type net from 'node:net'
import { type WebhookPayload, webhookPayload } from '../../contract/integrations.ts'

/** A stand-in for Zapier's webhook URLs. */
export interface Receiver extends AsyncDisposable {
  /** The URL of a Zap. */
  addressOf(zap: string): string
  /** The first event of a Zap, once it has arrived. */
  first(zap: string): Promise<WebhookPayload>
  /** The number of events received for a Zap. */
  count(zap: string): number
}

export async function openReceiver(): Promise<Receiver> {
  const arrived = new Map<string, WebhookPayload[]>()
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const zap = request.url ?? ''
    // Zapier's own addresses get no challenge; this one stands for them without being one.
    const challenge = /"type":"challenge".*"challenge":"([^"]+)"/.exec(body)?.[1]
    if (challenge !== undefined) return response.writeHead(200).end(challenge)
    arrived.set(zap, [...(arrived.get(zap) ?? []), webhookPayload.parse(JSON.parse(body))])
    response.writeHead(200).end()
    for (const look of waiting) look()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  return {
    addressOf: (zap) => `http://127.0.0.1:${port}/${zap}`,
    first: (zap) =>
      new Promise((resolve) => {
        const look = () => {
          const [hook] = arrived.get(`/${zap}`) ?? []
          if (hook) resolve(hook)
        }
        waiting.add(look)
        look()
      }),
    count: (zap) => arrived.get(`/${zap}`)?.length ?? 0,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
