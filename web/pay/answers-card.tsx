import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { formatDate } from '#contract/dates.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { formatMoney, readTypedAmount, showAmount, signOf } from '#contract/money.ts'
import { noticeCalls } from '#contract/notices.ts'
import { type DecidedAnswer, type PayAnswer, payAnswerCalls } from '#contract/pay-answers.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { Allowed } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showMoment } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { DateField } from '#web/ui/fields.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './pay.module.css'
import { texts } from './texts.ts'

const t = texts.answers
const invalidates = [
  payAnswerCalls.list,
  invoiceCalls.list,
  invoiceCalls.read,
  noticeCalls.list,
  accountCalls.stats,
  // A decision ends or keeps a pause, or pays: what is reminded next follows from it.
  reminderCalls.preview,
  reminderCalls.history,
  reminderCalls.status,
]

/** What clients said on pay pages: what waits for a decision first, then the last ones. */
export function AnswersCard(): ReactNode {
  const answers = useApiQuery(payAnswerCalls.list)
  const [accepting, setAccepting] = useState<PayAnswer | null>(null)
  const about = useKept(accepting)
  return (
    <Panel title={t.title}>
      <div id="answers">
        <QueryView query={answers} loading={t.loading} error={t.failed} empty={<p className={styles.quiet}>{t.none}</p>}>
          {(all) => (
            <ul className={styles.list}>
              {all
                .toSorted((one, other) => Number(other.state === 'open') - Number(one.state === 'open'))
                .slice(0, 50)
                .map((answer) => (
                  <AnswerItem key={answer._id} answer={answer} onAccept={() => setAccepting(answer)} />
                ))}
            </ul>
          )}
        </QueryView>
      </div>
      <Dialog
        opened={accepting !== null}
        onClose={() => setAccepting(null)}
        title={about?.kind === 'wrong_person' ? t.changeContact : t.recordPayment}
      >
        {about && <p className={styles.text}>{t.about(about.invoice.reference, about.invoice.clientName)}</p>}
        {about?.kind === 'paid' && <PaymentForm key={about._id} answer={about} onClose={() => setAccepting(null)} />}
        {about?.kind === 'wrong_person' && <ContactForm key={about._id} answer={about} onClose={() => setAccepting(null)} />}
      </Dialog>
    </Panel>
  )
}

function AnswerItem({ answer, onAccept }: { answer: PayAnswer; onAccept: () => void }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const { invoice, kind, state, invoiceId } = answer
  const { title, text } = wordsOf(answer)
  const params = { params: { id: answer._id } }
  const failed = (error: Error) => toast('bad', t.notDecided(errorMessage(error)))
  const accept = useApiMutation(payAnswerCalls.accept, {
    invalidates,
    onError: failed,
    onSuccess: (decided) => toast('good', doneText(decided)),
  })
  const decline = useApiMutation(payAnswerCalls.decline, {
    invalidates,
    onError: failed,
    onSuccess: (decided) => toast('good', doneText(decided)),
  })
  const names = t.buttons[kind]
  const withForm = kind === 'paid' || kind === 'wrong_person'
  return (
    <li className={styles.item}>
      <div className={styles.what}>
        <div className={styles.name}>
          <Link to={screens.invoice(invoiceId)}>{title}</Link> {state !== 'open' && <Pill tone="quiet">{t.states[state]}</Pill>}
        </div>
        {text !== '' && <p className={styles.says}>{text}</p>}
        <div className={styles.quiet}>{showMoment(profile.data?.timezone, new Date(answer.at), new Date())}</div>
      </div>
      {state === 'open' && (
        <div className={styles.acts}>
          {kind === 'question' && (
            <Button component="a" variant="default" href={mailto(answer)}>
              {t.reply}
            </Button>
          )}
          <Allowed by="member">
            <BusyButton
              variant="default"
              busy={!withForm && accept.isPending}
              busyText={texts.saving}
              aria-label={`${names.accept}: ${invoice.reference}`}
              onClick={() => (withForm ? onAccept() : accept.mutate({ ...params, body: {} }))}
            >
              {names.accept}
            </BusyButton>
            {kind === 'paid' && invoice.amountPaid > 0 && (
              <BusyButton
                variant="default"
                busy={accept.isPending}
                busyText={texts.saving}
                aria-label={`${t.recordedAlready}: ${invoice.reference}`}
                onClick={() => accept.mutate({ ...params, body: { recorded: true } })}
              >
                {t.recordedAlready}
              </BusyButton>
            )}
            {kind !== 'question' && (
              <BusyButton
                variant="default"
                busy={decline.isPending}
                busyText={texts.saving}
                aria-label={`${names.decline}: ${invoice.reference}`}
                onClick={() => decline.mutate(params)}
              >
                {names.decline}
              </BusyButton>
            )}
          </Allowed>
        </div>
      )}
    </li>
  )
}

function wordsOf({ kind, invoice, date, amount, reference, message, name, email, pausedUntil, state }: PayAnswer): {
  title: string
  text: string
} {
  const title = t.titles[kind](invoice.clientName, invoice.reference, date === null ? '' : formatDate(date))
  const waits = state === 'open' && pausedUntil !== null ? t.waits(formatDate(pausedUntil)) : ''
  const says = {
    paid: date === null ? '' : t.paid(amount === null ? null : formatMoney(amount, invoice.currency), formatDate(date), reference),
    promise: '',
    question: message,
    wrong_person: [name, email].filter((part) => part !== '').join(', '),
  }[kind]
  return { title, text: [says, waits].filter((part) => part !== '').join('\n') }
}

/** What a decision has done, and whether reminders have resumed: the owner, or a promise that they accepted, may keep them paused. */
function doneText({ kind, state, pause }: Pick<DecidedAnswer, 'kind' | 'state' | 'pause'>): string {
  const until = pause?.until
  const reminders = t.reminders(until && formatDate(until))
  return [t.done[kind][state === 'accepted' ? 'accept' : 'decline'], reminders].filter((part) => part !== '').join(' ')
}

function mailto({ invoice, message }: PayAnswer): string {
  const quoted = message.replace(/^/gm, '> ')
  return `mailto:${encodeURIComponent(invoice.clientEmail)}?subject=${encodeURIComponent(invoice.reference)}&body=${encodeURIComponent(`\n\n${quoted}`)}`
}

function PaymentForm({ answer, onClose }: { answer: PayAnswer; onClose: () => void }): ReactNode {
  const { currency: owed } = answer.invoice
  const sign = signOf(owed)
  const state = useContractForm({
    call: payAnswerCalls.accept,
    initialValues: {
      amount: answer.amount === null ? '' : showAmount(answer.amount, owed),
      paidOn: answer.date ?? '',
      method: 'bank' as const,
      reference: answer.reference,
    },
    toInput: ({ amount, ...values }) => ({
      params: { id: answer._id },
      body: { ...values, amount: readTypedAmount(amount, owed) ?? Number.NaN },
    }),
    invalidates,
    onSuccess: (reply) => {
      const { balance, currency, reference } = reply.invoice
      toast('good', balance === 0 ? t.paidInFull(reference) : t.recorded(formatMoney(balance, currency)))
      onClose()
    },
  })
  const { form } = state
  return (
    <ContractForm state={state} submit={t.record} busy={t.recording} actions={<Cancel onClose={onClose} />}>
      <div className={styles.fields}>
        <TextInput
          label={t.amount}
          leftSection={sign}
          leftSectionWidth={sign.length > 1 ? 56 : 36}
          inputMode="decimal"
          required
          data-autofocus
          {...form.getInputProps('amount')}
        />
        <DateField label={t.paidOn} required {...form.getInputProps('paidOn')} />
        <NativeSelect
          label={t.how}
          data={Object.entries(t.methods).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('method')}
        />
        <TextInput label={t.reference} {...form.getInputProps('reference')} />
      </div>
    </ContractForm>
  )
}

function ContactForm({ answer, onClose }: { answer: PayAnswer; onClose: () => void }): ReactNode {
  const state = useContractForm({
    call: payAnswerCalls.accept,
    initialValues: { clientName: answer.name || answer.invoice.clientName, clientEmail: answer.email },
    toInput: (body) => ({ params: { id: answer._id }, body }),
    invalidates,
    onSuccess: (decided) => {
      toast('good', doneText(decided))
      onClose()
    },
  })
  return (
    <ContractForm state={state} submit={texts.save} busy={texts.saving} actions={<Cancel onClose={onClose} />}>
      <div className={styles.fields}>
        <TextInput label={t.clientName} required data-autofocus {...state.form.getInputProps('clientName')} />
        <TextInput label={t.clientEmail} type="email" required {...state.form.getInputProps('clientEmail')} />
      </div>
    </ContractForm>
  )
}

function Cancel({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Button variant="default" onClick={onClose}>
      {texts.cancel}
    </Button>
  )
}
