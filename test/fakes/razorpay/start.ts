import { createInterface } from 'node:readline'
import { openFakeRazorpay } from './server.ts'

/**
 * A fake Razorpay for development: `node test/fakes/razorpay/start.ts [port] [address of Duely] [key ID]`. It prints the command to start Duely with it,
 * sends webhooks there, and reads commands from the terminal.
 */
const [port = '4010', duely = 'http://localhost:3000', keyId = 'rzp_test_FakeFakeFake01'] = process.argv.slice(2)
const fake = await openFakeRazorpay({ port: Number(port), keyId, webhookUrl: `${duely.replace(/\/$/, '')}/subscription/webhook` })
const { settings, provider } = fake
const say = (text: string) => process.stdout.write(`${text}\n`)

say(`Fake Razorpay server (no real charges) at ${settings.apiUrl}. Start Duely with:

  RAZORPAY_KEY_ID=${settings.keyId} RAZORPAY_KEY_SECRET=${settings.keySecret} RAZORPAY_WEBHOOK_SECRET=${settings.webhookSecret} \\
  RAZORPAY_API_URL=${settings.apiUrl} RAZORPAY_CHECKOUT_URL=${settings.checkoutUrl} npm start

Commands:   list              list orders, subscriptions and payments
            renew sub_…       charge the next period now, successfully
            fail sub_…        fail the next charge now (the fourth failure ends the subscription)
            card sub_…        add another card and collect outstanding charges
            cancel sub_…      cancel as the customer at the bank
            refund pay_…      refund a payment
            hook URL SECRET   send events there, as the webhook of an account that connected these keys
            quit              stop`)

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const [word, id = '', secret = ''] = line.trim().split(/\s+/)
  try {
    if (word === 'hook') fake.sendEventsTo(id, secret)
    else obey(word ?? '', id)
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
      say(`${id} is refunded.`)
      return
    case 'quit':
      lines.close()
      void fake[Symbol.asyncDispose]()
      return
    case '':
      return
    default:
      say('Unknown command.')
  }
}
