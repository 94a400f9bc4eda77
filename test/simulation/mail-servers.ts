import type { PGlite } from '@electric-sql/pglite'
import type { Mail, Mailer, Outcome } from '#server/mail/mailer.ts'
import type { Chance } from './chance.ts'
import type { Machine } from './machine.ts'
import type { SimulatedProcess } from './process.ts'

/** What a mail server does at the moment. */
export type Mood = 'well' | 'slow' | 'down' | 'busy' | 'refuses login' | 'full' | 'answers get lost'

/** An email that a mail server has accepted. */
export interface AcceptedEmail {
  host: string
  to: string
  messageId: string
  raw: Buffer
  /** By the machine's clock, by the time that has passed, and in the order of all that happened. */
  at: number
  elapsed: number
  nth: number
  /** When it was asked whether it is still wanted. */
  askedNth: number
  /** The sender learned of it. */
  answered: boolean
  /** As it was found when it was accepted. */
  about: { deliveryId: string; ownerId: string; kind: string; runDate: string; invoiceIds: string[] } | null
}

export interface MailServers {
  /** All that were accepted since `forget`. */
  accepted: AcceptedEmail[]
  moods: Map<string, Mood>
  /** Hosts that were not well at some time since `forget`. */
  unwell: Set<string>
  /** Emails that are between a process and a server. */
  mailer(of: SimulatedProcess): Mailer
}

interface About {
  machine: Machine
  engine: PGlite
  chance: Chance
  trace(line: string): void
  /** Counts all that happens, so that one thing is before another one. */
  count(): number
  /** A mailbox of this account is being connected: the moment between reading what is due and claiming it. */
  onConnect(ownerId: string): void
}

/** Addresses that begin so do not exist. */
export const unknownRecipient = 'nobody'

/** The mail servers of all accounts. What they have accepted stays, also if the process that sent it is killed. */
export function openMailServers({ machine, engine, chance, trace, count, onConnect }: About): MailServers {
  const servers: MailServers = { accepted: [], moods: new Map(), unwell: new Set(), mailer }

  /** Looks among claimed emails first, because they have an index. */
  async function find(messageId: string, among = 'd.claimed_by IS NOT NULL'): Promise<AcceptedEmail['about']> {
    const found = await engine.query<{ id: string; owner: string; kind: string; date: string; invoices: string }>(
      `SELECT d.id, d.owner_id AS owner, CASE WHEN d.pulled_by_run_id IS NULL THEN r.kind ELSE 'send_now' END AS kind, r.local_date::text AS date,
         (SELECT string_agg(x.invoice_id::text, ' ' ORDER BY x.invoice_id) FROM delivery_invoices x WHERE x.delivery_id = d.id) AS invoices
       FROM deliveries d JOIN runs r ON r.id = d.run_id WHERE d.message_id = $1 AND ${among}`,
      [messageId],
    )
    const [row] = found.rows
    if (!row && among !== 'true') return find(messageId, 'true')
    return row
      ? { deliveryId: row.id, ownerId: row.owner, kind: row.kind, runDate: row.date, invoiceIds: (row.invoices ?? '').split(' ') }
      : null
  }

  async function accept(process: SimulatedProcess, host: string, mail: Mail, askedNth: number): Promise<Outcome> {
    const messageId = /^Message-ID: *(\S+)/im.exec(mail.raw.subarray(0, 4_000).toString('latin1'))?.[1] ?? ''
    const about = await find(messageId)
    const { raw, to } = mail
    const email: AcceptedEmail = {
      host,
      to,
      messageId,
      raw,
      at: machine.now(),
      elapsed: machine.elapsed,
      nth: count(),
      askedNth,
      answered: false,
      about,
    }
    servers.accepted.push(email)
    trace(`${host} accepts ${about?.kind ?? 'unknown'} to ${to} from process ${process.nth}`)
    await process.point()
    if (servers.moods.get(host) === 'answers get lost' && chance.is(0.5)) {
      await process.clock.pause(120_000)
      return { kind: 'temporary', reply: 'The mail server did not answer in time.', unknown: true }
    }
    await process.clock.pause(chance.int(0, 30))
    await process.point()
    email.answered = true
    return { kind: 'accepted', reply: `250 2.0.0 Ok: queued as ${servers.accepted.length}` }
  }

  async function converse(process: SimulatedProcess, host: string, take: () => Promise<Mail | null>): Promise<Outcome | null> {
    const mood = servers.moods.get(host) ?? 'well'
    await process.clock.pause(mood === 'slow' ? chance.int(1_000, 15_000) : chance.int(5, 80))
    await process.point()
    if (mood === 'down') return { kind: 'temporary', reply: 'The mail server did not answer.', unknown: false, unreached: true }
    if (mood === 'refuses login') return { kind: 'login_refused', reply: '535 5.7.8 Error: authentication failed' }
    const askedNth = count()
    const mail = await take()
    await process.point()
    if (!mail) return null
    await process.clock.pause(mood === 'slow' ? chance.int(500, 8_000) : chance.int(1, 60))
    await process.point()
    if (mood === 'busy' && chance.is(0.7)) return { kind: 'temporary', reply: '451 4.7.1 Try again later', unknown: false, ofMailbox: true }
    if (mood === 'full') return { kind: 'quota', reply: '550 5.4.5 Daily user sending limit exceeded' }
    if (mail.to.startsWith(unknownRecipient)) return { kind: 'permanent', reply: '550 5.1.1 No such user here' }
    return accept(process, host, mail, askedNth)
  }

  function mailer(of: SimulatedProcess): Mailer {
    let closing = false
    const open = new Set<Promise<unknown>>()
    return {
      send(sender, take) {
        if (closing) return Promise.resolve(null)
        onConnect(sender.ownerId)
        const sending = converse(of, sender.host ?? '', take).finally(() => {
          open.delete(sending)
        })
        open.add(sending)
        return sending
      },
      closeIdle: () => undefined,
      async close() {
        closing = true
        while (open.size > 0) await Promise.allSettled(open)
      },
    }
  }

  return servers
}
