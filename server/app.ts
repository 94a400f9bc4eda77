import { mostMailboxes } from '#contract/mail.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { madeReplyTo } from '#server/accounts/brand.ts'
import { businessRoutes } from '#server/accounts/businesses.ts'
import { openCallLimits } from '#server/accounts/call-limits.ts'
import { type MadeThings, offerToOwner, offerToOwners } from '#server/accounts/made.ts'
import { noticeRoutes, withdrawNotices } from '#server/accounts/notices.ts'
import { refuseBelow } from '#server/accounts/roles.ts'
import { accountRoutes } from '#server/accounts/routes.ts'
import { authenticate } from '#server/accounts/sessions.ts'
import { teamRoutes } from '#server/accounts/team.ts'
import { billingOnAccountDeleted, boughtBy, entitlementsOf, refuseFullTeam, refuseSecondUnpaid, seatsOf } from '#server/billing/billing.ts'
import { recallAddress, rememberAddress } from '#server/billing/former-accounts.ts'
import { billingRoutes } from '#server/billing/routes.ts'
import { operatorRoutes } from '#server/commands/operator-page.ts'
import { insightRoutes } from '#server/insight/routes.ts'
import {
  authenticateApiClient,
  endGrantsOf,
  endKeysOf,
  endProgramsOf,
  endProgramsOfDeleted,
  integrationsMade,
  integrationsOnAccountTakeover,
  resumeOnceRead,
  zapOnAccountDeleted,
} from '#server/integrations/integrations.ts'
import { integrationRoutes } from '#server/integrations/routes.ts'
import { layoutsOnAccountTakeover } from '#server/invoices/file-layouts.ts'
import { hasInvoices, invoiceTotals } from '#server/invoices/invoices.ts'
import { invoiceRoutes } from '#server/invoices/routes.ts'
import { hasMailConfig } from '#server/mail/mail.ts'
import { mailboxesMade, mailOnAccountDeleted, mailOnAccountTakeover, mailRoutes } from '#server/mail/routes.ts'
import {
  answersOfClient,
  madeRazorpay,
  payOnAccountDeleted,
  payOnAccountTakeover,
  readLogo,
  refuseWithoutWhiteLabel,
} from '#server/pay/pay.ts'
import { payRoutes } from '#server/pay/routes.ts'
import { type App, openApp, type Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { referenceRoutes } from '#server/platform/reference.ts'
import { securityTextRoute } from '#server/platform/security-text.ts'
import { afterInvoiceChange } from '#server/reminders/deliver.ts'
import { emailsOfClient } from '#server/reminders/history.ts'
import { chooseMailbox, resumeHeld, splitLanguages } from '#server/reminders/holds.ts'
import { endOwnerLinks } from '#server/reminders/owner-links.ts'
import { placeClient } from '#server/reminders/quiet-days.ts'
import { remindersOnAccountTakeover } from '#server/reminders/reminders.ts'
import { deleteHistory } from '#server/reminders/retention.ts'
import { ownerLinkRoutes, reminderRoutes, sequenceRoutes } from '#server/reminders/routes.ts'
import { reschedule } from '#server/reminders/runs.ts'
import { assignToClient, refuseChangedClient, refuseChangedSchedule } from '#server/reminders/sequences.ts'
import { templateRoutes } from '#server/templates/routes.ts'
import { readLanguages, refuseLanguages, templatesOnAccountTakeover } from '#server/templates/templates.ts'

/** Without a plan that has a team, admins and members may only look until there is one again; the owner loses nothing. */
async function withoutTeam({ db, clock, config }: Deps, principal: Principal): Promise<Principal> {
  const { role, account } = principal
  if (!config.razorpay || role === 'owner' || role === 'viewer') return principal
  const { abilities } = await entitlementsOf(db, account.id, clock.now(), config)
  if (abilities.includes('teamCollaboration')) return principal
  // Not by copying: a program refuses to be asked for its session.
  return Object.create(principal, { role: { value: 'viewer' }, kept: { value: role } }) as Principal
}

/** Every call of the program, one line a slice. What a lower slice needs of a higher one is handed down here. */
export async function openCalls(deps: Deps): Promise<App> {
  const { log, config } = deps
  const https = new URL(config.publicUrl).protocol === 'https:'
  const app = await openApp({
    log,
    trustProxy: config.trustProxy,
    https,
    callLimits: openCallLimits(deps),
    // A program is known by how its token begins; everybody else has a session or is a stranger.
    async authenticate(request, call, reply) {
      const program = await authenticateApiClient(deps, { request, call, reply }, deps.clock.now())
      const principal = program ?? (await authenticate(deps, request))
      const effective = await withoutTeam(deps, principal)
      await refuseBelow(deps.db, effective, call.by)
      return effective
    },
  })
  const onSenderChange = async (tx: Database, ownerId: string, now: Instant) => {
    await withdrawNotices(tx, ownerId, ['login_refused', 'sender_refused'])
    await resumeHeld(tx, deps.queue, ownerId, now)
  }
  const made: MadeThings[] = [...integrationsMade(deps), mailboxesMade(deps, onSenderChange), madeReplyTo, madeRazorpay]
  const onDeletion = {
    async onAddressLeft(db: Database, account: AccountRow, now: Instant) {
      await rememberAddress(db, config, account, now)
      await endOwnerLinks(db, account.id)
    },
    onAccountDeleted: [
      mailOnAccountDeleted(deps),
      billingOnAccountDeleted(deps),
      payOnAccountDeleted(deps),
      zapOnAccountDeleted(deps.config),
    ],
    deleteHistory,
  }
  accountRoutes(app, deps, {
    ...onDeletion,
    async onPersonDeleted(tx, person, now) {
      await endProgramsOfDeleted(tx, person, now)
      await offerToOwners(tx, deps, made, person, now)
    },
    stats: async (db, account, now) => ({ ...(await invoiceTotals(db, account, now)), hasMailConfig: await hasMailConfig(db, account.id) }),
    onScheduleChange: reschedule,
    refuseChangedSchedule: (tx, account, chosen, now) => refuseChangedSchedule({ db: tx, config, account, now }, chosen),
    onAccountCreated: (tx, account, now) => recallAddress(tx, config, account, now),
    onEmailConfirmed: (tx, ownerId, now) => resumeHeld(tx, deps.queue, ownerId, now),
    onAccountTakeover: [
      mailOnAccountTakeover(deps),
      templatesOnAccountTakeover,
      remindersOnAccountTakeover,
      layoutsOnAccountTakeover,
      payOnAccountTakeover(deps),
      integrationsOnAccountTakeover(config),
    ],
    revokeAccess: endProgramsOf,
    onLeft: (tx, ownerId, person, now) => offerToOwner(tx, deps, made, { ownerId, person }, now),
    endKeysOf,
    onOwnerChange: endOwnerLinks,
    holdsRecords: async (tx, ownerId) => (await hasInvoices(tx, ownerId)) || (await boughtBy(tx, ownerId)).length > 0,
  })
  businessRoutes(app, deps, {
    ...onDeletion,
    refuseUnpaid: (db, ownedIds, now) => refuseSecondUnpaid(db, ownedIds, now, config),
    refuseLanguages,
    readLanguages,
    readLook: async (db, ownerId) => ({
      ...(await readLogo(db, ownerId)),
      whiteLabel: (await entitlementsOf(db, ownerId, deps.clock.now(), config)).abilities.includes('whiteLabel'),
    }),
    refuseWithoutWhiteLabel: (db, ownerId, now) => refuseWithoutWhiteLabel(db, ownerId, now, config),
    onLanguageChange: splitLanguages,
  })
  teamRoutes(app, deps, {
    seatsOf: (db, ownerId, now) => seatsOf(db, ownerId, now, config),
    refuseFull: refuseFullTeam,
    made,
    endGrantsOf,
    onOwnerChange: endOwnerLinks,
  })
  noticeRoutes(app, deps)
  billingRoutes(app, deps, (tx, ownerId, now) => resumeOnceRead(tx, deps.queue, ownerId, now))
  const onChange = afterInvoiceChange(deps.queue)
  invoiceRoutes(app, deps, {
    onChange,
    readEmails: emailsOfClient,
    readAnswers: answersOfClient,
    placeClient,
    refuseLanguages,
    chooseMailbox: (tx, ownerId, about, now) => chooseMailbox(tx, deps.queue, ownerId, about, now),
    refuseChangedClient: (tx, change, id, chosen) => refuseChangedClient({ ...deps, ...change, db: tx }, id, chosen),
    assignToClient: (tx, change, id, sequence) => assignToClient({ ...deps, ...change, db: tx }, id, sequence),
  })
  const sendTest = mailRoutes(app, deps, {
    onSenderChange,
    mostMailboxes: async (db, account, now) =>
      (await entitlementsOf(db, account.id, now, config)).abilities.includes('whiteLabel') ? mostMailboxes : 1,
  })
  templateRoutes(app, deps)
  payRoutes(app, deps, onChange)
  reminderRoutes(app, deps)
  ownerLinkRoutes(app, deps)
  sequenceRoutes(app, deps, sendTest)
  insightRoutes(app, deps)
  await integrationRoutes(app, deps, onChange)
  operatorRoutes(app, deps)
  referenceRoutes(app, config)
  securityTextRoute(app, deps)
  return app
}
