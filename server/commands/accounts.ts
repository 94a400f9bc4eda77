import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { makeResetLink, removeLostTwoFactor } from '#server/accounts/recovery.ts'
import { giveBusiness } from '#server/accounts/team.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { holdAccount, releaseAccount } from '#server/reminders/holds.ts'
import { endOwnerLinks } from '#server/reminders/owner-links.ts'
import { busiestAccounts } from '#server/reminders/processes.ts'
import type { Command } from './command.ts'

export const resetPassword: Command = {
  parameters: ['EMAIL'],
  summary: 'prints a password reset link, valid once for 60 minutes',
  help: ['Verify the person’s identity before you run it, and hand the link over safely.'],
  run: async (deps, [email = '']) => [await makeResetLink(deps, email, deps.clock.now())],
}

export const removeTwoFactor: Command = {
  parameters: ['EMAIL'],
  summary: 'turns off two-factor authentication for someone who lost authenticator and recovery codes',
  help: ['Verify the person’s identity before you run it.'],
  async run(deps, [email = '']) {
    await removeLostTwoFactor(deps, email, deps.clock.now())
    return [`Two-factor authentication is now off for ${email}.`]
  },
}

export const businessOwner: Command = {
  parameters: ['BUSINESS', 'EMAIL'],
  summary: 'makes someone the owner of a business that lost its owner; the previous owner becomes an admin',
  help: ['BUSINESS is its id. Verify with the business that this is wanted before you run it.'],
  async run(deps, [business = '', email = '']) {
    return [`${email} now owns ${await giveBusiness(deps, business, email, deps.clock.now(), endOwnerLinks)}.`]
  },
}

export const holdAccountCommand: Command = {
  parameters: ['EMAIL'],
  summary: 'stops sending for all businesses of a person: their emails wait and fail at their deadline unless you release them before',
  run: async ({ db, clock }, [email = '']) => [
    `Sending is on hold for ${email}: ${emails(await holdAccount(db, email, clock.now()))} waiting. Emails in flight are still sent.`,
  ],
}

export const releaseAccountCommand: Command = {
  parameters: ['EMAIL'],
  summary: 'resumes sending for an account on hold',
  run: async ({ db, clock }, [email = '']) => [
    `Sending has resumed for ${email}: ${emails(await releaseAccount(db, email, clock.now()))} sent within seconds.`,
  ],
}

export const busiest: Command = {
  parameters: [],
  summary: 'lists the accounts that used the most sending time in the last hour, with their emails, failures and bytes',
  async run({ db, clock }) {
    const found = await busiestAccounts(db, clock.now())
    if (found.length === 0) return ['No email was tried in the last hour.']
    return table(
      ['seconds', 'emails', 'failures', 'bytes', 'account'],
      found.map(({ email, seconds, sent, failed, bytes }) => [seconds.toFixed(1), String(sent), String(failed), String(bytes), email]),
    )
  },
}

const mostListed = 1_000

export const accountsCommand: Command = {
  parameters: ['[PART_OF_EMAIL]'],
  summary:
    'lists accounts, the newest first: since when, open invoices, emails sent and waiting, whether they may send, and the id of each business',
  help: [`At most ${mostListed.toLocaleString('en')} are listed. Shows no client and no amount.`],
  async run({ db }, [part = '']) {
    const found = await listAccounts(db, part)
    if (found.length === 0) return [part === '' ? 'There is no account.' : `No account has ${part} in its email.`]
    return table(
      ['since', 'invoices', 'sent', 'waiting', 'state', 'business', 'account'],
      found.map(({ id, since, open, sent, waiting, state, email }) => [
        since,
        String(open),
        String(sent),
        String(waiting),
        state,
        id,
        email,
      ]),
    )
  },
}

/** One line per business; counts come from indexes of that account. */
function listAccounts(db: Database, part: string) {
  return rows(
    db,
    z.object({
      id: z.string(),
      email: z.string(),
      since: z.string(),
      open: z.number(),
      sent: z.number(),
      waiting: z.number(),
      state: z.string(),
    }),
    sql`SELECT a.id, a.email, to_char(a.created_at, 'YYYY-MM-DD') AS since,
          CASE WHEN a.held_at IS NOT NULL THEN 'on hold' WHEN a.email_verified_at IS NULL THEN 'unconfirmed' ELSE 'ok' END AS state,
          (SELECT count(*)::int FROM invoices i WHERE i.owner_id = a.id AND i.status <> 'paid' AND i.deleted_at IS NULL) AS open,
          (SELECT count(*)::int FROM deliveries d WHERE d.owner_id = a.id AND d.state = 'sent') AS sent,
          (SELECT count(*)::int FROM deliveries d WHERE d.owner_id = a.id AND d.state IN ('queued', 'retrying', 'sending', 'held')) AS waiting
        FROM (SELECT b.id, b.created_at, b.held_at, p.email, p.email_verified_at FROM accounts b JOIN memberships m ON m.owner_id = b.id AND m.role = 'owner' JOIN people p ON p.id = m.person_id
          WHERE strpos(lower(p.email), lower(${part})) > 0 ORDER BY b.created_at DESC, b.id LIMIT ${mostListed}) a
        ORDER BY a.created_at DESC, a.id`,
  )
}

/** Columns as wide as their longest cell: numbers to the right, the last column, an email, to the left. */
function table(head: string[], lines: string[][]): string[] {
  const all = [head, ...lines]
  const widths = head.map((_, at) => Math.max(...all.map((cells) => cells[at]?.length ?? 0)))
  return all.map((cells) => cells.map((cell, at) => (at === head.length - 1 ? cell : cell.padStart(widths[at] ?? 0))).join('  '))
}

function emails(count: number): string {
  return count === 1 ? '1 email is' : `${count} emails are`
}
