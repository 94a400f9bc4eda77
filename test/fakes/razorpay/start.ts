import { createInterface } from 'node:readline'
import { openFakeRazorpay } from './server.ts'

/**
 * A Razorpay for a developer's own machine: `node test/fakes/razorpay/start.ts [port] [address of Duely]`. It prints what Duely is to be
 * started with, sends webhooks there, and takes orders on the keyboard.
 */
const [port = '4010', duely = 'http://localhost:3000'] = process.argv.slice(2)
const fake = await openFakeRazorpay({ port: Number(port), webhookUrl: `${duely.replace(/\/$/, '')}/subscription/webhook` })
const { settings, provider } = fake
const say = (text: string) => process.stdout.write(`${text}\n`)

say(`A Razorpay that takes no money answers at ${settings.apiUrl}. Start Duely with:

  RAZORPAY_KEY_ID=${settings.keyId} RAZORPAY_KEY_SECRET=${settings.keySecret} RAZORPAY_WEBHOOK_SECRET=${settings.webhookSecret} \\
  RAZORPAY_API_URL=${settings.apiUrl} RAZORPAY_CHECKOUT_URL=${settings.checkoutUrl} npm start

Then type:  list              what was ordered and subscribed to
            renew sub_…       the next charge comes now, and succeeds
            fail sub_…        the next charge comes now, and fails (four times: halted)
            card sub_…        the customer gives another card, and what is owed is charged
            cancel sub_…      the customer cancels at the bank
            refund pay_…      a payment is given back
            quit`)

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const [word, id = ''] = line.trim().split(/\s+/)
  try {
    obey(word ?? '', id)
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
  }
})

function obey(word: string, id: string): void {
  switch (word) {
    case 'list':
      for (const { id, amount, status } of provider.orders.values()) say(`${id}  ${amount / 100} INR  ${status}`)
      for (const { id, status, paid_count: paid } of provider.subscriptions.values()) say(`${id}  ${status}  ${paid} paid`)
      for (const { id, amount, status } of provider.payments.values()) say(`${id}  ${amount / 100} INR  ${status}`)
      return
    case 'renew':
    case 'fail':
      provider.setCard(id, word === 'renew' ? 'good' : 'bad')
      provider.hasten(id)
      say(`${id} is ${provider.find(provider.subscriptions, id).status}.`)
      return
    case 'card':
      provider.changeCard(id)
      say(`${id} is ${provider.find(provider.subscriptions, id).status}.`)
      return
    case 'cancel':
      provider.cancelSubscription(id, {})
      say(`${id} is cancelled.`)
      return
    case 'refund':
      provider.refund(id)
      say(`${id} is given back.`)
      return
    case 'quit':
      lines.close()
      void fake[Symbol.asyncDispose]()
      return
    case '':
      return
    default:
      say('There is no such order.')
  }
}
