import PostalMime from 'postal-mime'
import { accountCalls } from '#contract/accounts.ts'
import { teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { aPerson, type Person, signedInAgain } from './factories.ts'
import { ask, openTestApp, type TestApp } from './harness.ts'

export const password = 'correct horse'
export const newPassword = 'battery staple'
const now = '2026-03-02T06:30:00Z'

/** A server that sends links, and a stranger's account there with the address of another person. */
export async function openSquatted() {
  const stack = new AsyncDisposableStack()
  const post = stack.use(await openFakeSmtp())
  const smtp = stack.use(await openFakeSmtp())
  const razorpay = stack.use(
    await openFakeRazorpay({ keyId: 'rzp_live_FakeFakeFake01', now: () => Temporal.Instant.from(now).epochMilliseconds / 1000 }),
  )
  const systemMail = { systemSmtpUrl: `smtp://127.0.0.1:${post.port}`, systemMailFrom: 'hello@duely.example', payLinks: true }
  const app = stack.use(await openTestApp({ now, config: { ...systemMail, razorpayApiUrl: razorpay.settings.apiUrl } }))
  const stranger = await aPerson(app, { email: 'owner@example.com', displayName: 'Our bank has changed', password })
  return { app, post, smtp, razorpay, stranger, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** The token of the newest link that was sent to an address. */
export async function linkSentTo({ app, post }: { app: TestApp; post: FakeSmtp }, to: string): Promise<string> {
  await app.runJobs()
  const sent = post.mails.filter(({ envelope }) => envelope.to.includes(to))
  const texts = await Promise.all(sent.map(async ({ raw }) => (await PostalMime.parse(raw)).text ?? ''))
  return texts.flatMap((text) => /#token=([\w-]{43})/.exec(text)?.[1] ?? []).at(-1) ?? ''
}

/** The owner of the address sets a password by the link that is sent there. */
export async function takeOver(squatted: { app: TestApp; post: FakeSmtp }, { email }: Pick<Person, 'email'>) {
  await ask(squatted.app, null, accountCalls.forgotPassword, { body: { email } })
  const token = await linkSentTo(squatted, email)
  return ask(squatted.app, null, accountCalls.resetPassword, { body: { token, newPassword } })
}

/** Does something as before the server could send email: then no email is confirmed, and none has to be. */
export async function withoutMail<T>({ deps }: TestApp, work: () => Promise<T>): Promise<T> {
  const { systemSmtpUrl } = deps.config
  Object.assign(deps.config, { systemSmtpUrl: null })
  try {
    return await work()
  } finally {
    Object.assign(deps.config, { systemSmtpUrl })
  }
}

/** Someone is invited to a business, and joins a minute later. */
export async function joinAs(app: TestApp, owner: Person, person: Person, role: 'admin' | 'member' | 'viewer'): Promise<void> {
  app.clock.advance({ minutes: 1 })
  const by = await signedInAgain(app, owner)
  const invited = await ask(
    app,
    by,
    teamCalls.invite,
    { body: { email: person.email, role, currentPassword: password } },
    { [businessHeader]: owner.id },
  )
  const token = invited.reply.link.split('#token=')[1] ?? ''
  const accepted = await ask(app, person, teamCalls.acceptInvitation, { body: { token } })
  if (accepted.problem) throw new Error(accepted.problem.message)
}
