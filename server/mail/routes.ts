import type { FastifyRequest } from 'fastify'
import type { Proof } from '#contract/accounts.ts'
import { type MailboxDraft, mailCalls, type SmtpDraft } from '#contract/mail.ts'
import { screens } from '#contract/screens.ts'
import { readAppPassword } from '#contract/smtp-server.ts'
import {
  hasHappened,
  lockAsSeen,
  type OnAccountDeleted,
  type OnAccountTakeover,
  originOf,
  refuseUnproven,
  writeAudit,
} from '#server/accounts/accounts.ts'
import { reportMade } from '#server/accounts/made.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import type { Connecting } from './connect.ts'
import { checkDomain } from './domain.ts'
import { gmailRoutes, revokeGrant } from './gmail-routes.ts'
import {
  countDomainCheck,
  countMailTry,
  countTestMail,
  dropMailbox,
  findMailbox,
  findSender,
  findSenders,
  hasMailConfig,
  limitMailbox,
  makeDefault,
  placeFor,
  refuseKnownPassword,
  removeMailConfig,
  resumeAfterLogin,
  type SaveSender,
  type Sender,
  type SendTest,
  storeSmtp,
  toMailbox,
  toMailConfig,
  trySmtp,
  type Which,
} from './mail.ts'
import { microsoftRoutes } from './microsoft-routes.ts'
import { replyToRoutes } from './reply-to.ts'
import { defaultNetwork, ehloOf, type NetworkDeps } from './session.ts'
import { sendTestMail, sendToOwner } from './test-mail.ts'
import { refusals } from './texts.ts'
import { openMailer } from './transports.ts'

// Handed to the team: what they connected is removed, or taken over, where they leave.
export { mailboxesMade } from './made.ts'

export interface MailHandDowns {
  /** Runs in the transaction that saves or removes a mailbox. */
  onSenderChange(tx: Database, ownerId: string, now: Instant): Promise<void>
  /** How many mailboxes the plan of an account allows. */
  mostMailboxes(db: Database, account: Account, now: Instant): Promise<number>
}

/** Revokes the Google grant after the account is deleted. */
export function mailOnAccountDeleted({ db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>): OnAccountDeleted {
  const provider = config.google && openProvider(config.google)
  return async (within, ownerId) => {
    const senders = await findSenders(within, ownerId)
    return async () => {
      for (const sender of senders) await revokeGrant({ db, config, log }, provider, sender)
    }
  }
}

/** Removes the mailbox, and revokes its Google grant. */
export function mailOnAccountTakeover(deps: Pick<Deps, 'db' | 'config' | 'log'>): OnAccountTakeover {
  const endGrant = mailOnAccountDeleted(deps)
  return async (tx, ownerId) => {
    if (!(await hasMailConfig(tx, ownerId))) return { removed: [] }
    const afterwards = await endGrant(tx, ownerId)
    await removeMailConfig(tx, ownerId)
    return { removed: ['mailbox'], afterwards }
  }
}

/** `world` is for tests. */
export function mailRoutes(
  app: App,
  deps: Deps,
  { onSenderChange, mostMailboxes }: MailHandDowns,
  world: { network?: Partial<NetworkDeps>; patience?: { wholeMs: number; probeMs: number }; testPatienceMs?: number } = {},
): SendTest {
  const { db, clock, config, log } = deps
  const network: NetworkDeps = {
    ...defaultNetwork,
    allowPrivateHosts: config.allowPrivateSmtpHosts,
    ehlo: ehloOf(config.publicUrl),
    ...world.network,
  }

  answer(app, mailCalls.config, async (_parts, { account }) => toMailConfig(await findSender(db, account.id)))

  const provider = config.google && openProvider(config.google)
  const save: SaveSender = async (account, request, which, about, store) => {
    const now = clock.now()
    const most = which === 'new' ? await mostMailboxes(db, account, now) : null
    const { stored, before } = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const senders = await findSenders(tx, account.id)
      const place = await placeFor(tx, account.id, which, about)
      const before = senders.find((sender) => sender.place === place)
      if (!before && most !== null && senders.length >= most)
        throw most > 1 ? new ProblemError('conflict', refusals.mostMailboxes(most)) : new ProblemError('plan_limit', refusals.oneMailbox)
      const stored = await store(tx, place, now)
      await writeAudit(tx, { ownerId: account.id, kind: 'sender_connected', about: stored.address }, originOf(request), now)
      const made = { kind: 'mailbox', id: stored.place, name: stored.address, link: screens.mailSettings } as const
      await reportMade(tx, deps, account, made, now)
      await onSenderChange(tx, account.id, now)
      return { stored, before }
    })
    if (before) await revokeGrant({ db, config, log }, provider, before)
    return stored
  }
  const gmail = gmailRoutes(app, { db, clock, config, log }, provider, save)
  const microsoft = microsoftRoutes(app, { db, clock, config, log }, save)
  /** Right after signing in, the first mailbox ever needs no further proof: one that was removed does not make room for that. */
  const refuseUnprovenMailbox = async (account: Account, sessionId: string, given: Proof) => {
    const isFirst = !(await hasHappened(db, account.id, 'sender_connected')) && !(await hasMailConfig(db, account.id))
    await refuseUnproven(deps, { account, sessionId }, given, clock.now(), 'access', isFirst ? 'unless_recent' : 'always')
  }
  const connectSmtp = async (who: Omit<Connecting, 'reply'>, { currentPassword, code, ...given }: SmtpDraft & Proof, which: Which) => {
    const { account, request, sessionId } = who
    await refuseUnprovenMailbox(account, sessionId, { currentPassword, code })
    const draft = { ...given, pass: readAppPassword(given.pass, given.host) }
    if (config.rateLimit) await countMailTry(db, account.id, clock.now())
    await refuseKnownPassword(db, config.secretKey, { ownerId: account.id, which, draft })
    // Outside any transaction: a mail server takes its time.
    await trySmtp(draft, network, world.patience)
    return save(account, request, which, { provider: 'smtp', address: draft.user }, (tx, place, now) =>
      storeSmtp(tx, config.secretKey, account.id, draft, now, place),
    )
  }
  const connect = (who: Connecting, { provider, ...draft }: MailboxDraft, which: Which): Promise<Sender> => {
    if ('host' in draft) return connectSmtp(who, draft, which)
    return (provider === 'gmail' ? gmail : microsoft).connect(who, draft, which)
  }

  answer(app, mailCalls.mailboxes, async (_parts, { account }) => {
    const senders = await findSenders(db, account.id)
    return { mailboxes: senders.map(toMailbox), most: await mostMailboxes(db, account, clock.now()) }
  })
  answer(app, mailCalls.checkDomain, async ({ params, query }, { account }) => {
    const sender = await findMailbox(db, account.id, params.id)
    if (config.rateLimit) await countDomainCheck(db, account.id, clock.now())
    return checkDomain(sender, { servers: config.dnsServers, selector: query.selector })
  })
  answer(app, mailCalls.addMailbox, async ({ body }, { account, sessionId }, { request, reply }) =>
    toMailbox(await connect({ account, sessionId, request, reply }, body, 'new')),
  )
  // Who comes back from the provider began here, in this session: a cookie says so, and what begins without proof is the first mailbox.
  for (const [call, by] of [
    [mailCalls.startGmail, gmail],
    [mailCalls.startMicrosoft, microsoft],
  ] as const)
    answer(app, call, async ({ body }, { account, sessionId }, { reply }) => {
      await refuseUnprovenMailbox(account, sessionId, body ?? {})
      return by.start({ account, sessionId, reply }, 'default')
    })
  answer(app, mailCalls.startMailbox, async ({ body }, { account, sessionId }, { reply }) => {
    await refuseUnprovenMailbox(account, sessionId, body)
    return (body.provider === 'gmail' ? gmail : microsoft).start({ account, sessionId, reply }, 'further')
  })
  answer(app, mailCalls.changeMailbox, async ({ params, body }, { account, sessionId }, { request, reply }) => {
    await findMailbox(db, account.id, params.id)
    if (body.connect) await connect({ account, sessionId, request, reply }, body.connect, params)
    const { isDefault, perHour, perDay } = body
    if (isDefault || perHour !== undefined || perDay !== undefined)
      await db.transaction(async (tx) => {
        await lockAsSeen(tx, account)
        const sender = await findMailbox(tx, account.id, params.id)
        if (isDefault) await makeDefault(tx, sender)
        if (perHour !== undefined || perDay !== undefined) await limitMailbox(tx, sender, { perHour, perDay })
        await onSenderChange(tx, account.id, clock.now())
      })
    return toMailbox(await findMailbox(db, account.id, params.id))
  })
  const removeOne = async (account: Account, request: FastifyRequest, find: (tx: Database) => Promise<Sender | null>) => {
    const now = clock.now()
    const before = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const sender = await find(tx)
      if (sender) await dropMailbox(tx, sender, originOf(request), now)
      await onSenderChange(tx, account.id, now)
      return sender
    })
    if (before) await revokeGrant({ db, config, log }, provider, before)
    return undefined
  }
  answer(app, mailCalls.removeMailbox, ({ params }, { account }, { request }) =>
    removeOne(account, request, (tx) => findMailbox(tx, account.id, params.id)),
  )

  answer(app, mailCalls.configureSmtp, async ({ body }, { account, sessionId }, { request }) =>
    toMailConfig(await connectSmtp({ account, sessionId, request }, body, 'default')),
  )

  // A process that only serves has no other mailer.
  const post = openMailer({ db, config, log, clock })
  app.addHook('onClose', () => post.close())

  const tested = async (account: Account, send: (sender: Sender) => Promise<string>): Promise<string> => {
    const sender = await findSender(db, account.id)
    if (!sender) throw new ProblemError('mail_not_configured', refusals.notConfigured)
    if (config.rateLimit) await countTestMail(db, account.id, clock.now())
    const reply = await send(sender)
    if (sender.pauseReason === 'login_refused' || sender.pauseReason === 'sender_refused')
      await db.transaction(async (tx) => {
        if (await resumeAfterLogin(tx, sender)) await onSenderChange(tx, account.id, clock.now())
      })
    return reply
  }

  answer(app, mailCalls.test, async (_parts, { account }) => {
    const { person, displayName: name } = account
    const mail = { id: newId(), name, to: { name: person.displayName, address: person.email }, at: clock.now() }
    const reply = await tested(account, (sender) => sendTestMail(post, sender, mail, world.testPatienceMs))
    return { to: person.email, reply }
  })

  answer(app, mailCalls.remove, (_parts, { account }, { request }) => removeOne(account, request, (tx) => findSender(tx, account.id)))

  const sendTest: SendTest = (account, compose, to = account.person.email) =>
    tested(account, async (sender) => sendToOwner(post, sender, { raw: await compose(sender.address), to }, world.testPatienceMs))
  replyToRoutes(app, deps, sendTest)
  return sendTest
}
