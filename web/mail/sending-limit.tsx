import '@mantine/core/styles/NumberInput.layer.css'
import { Button, Modal, NumberInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type Mailbox, mailCalls } from '#contract/mail.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { brief, toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { mailboxInvalidates } from './smtp-dialog.tsx'
import { texts } from './texts.ts'

const t = texts.limits
const number = (most: number) => most.toLocaleString('en-IN')

/** What limits a mailbox, in words. */
export function saysLimit({ perHour, perDay, published }: Mailbox['limits']): string {
  const day = perDay ?? published
  const all = [perHour === null ? null : t.perHour(number(perHour)), day === null ? null : t.perDay(number(day))]
  return all.filter((one) => one !== null).join(', ') || t.none
}

export function ChangeLimit({ mailbox }: { mailbox: Mailbox }): ReactNode {
  const [opened, setOpened] = useState(false)
  const close = () => setOpened(false)
  return (
    <>
      <button type="button" className={styles.use} aria-label={t.changeOf(mailbox.user)} onClick={() => setOpened(true)}>
        {t.change}
      </button>
      <Modal opened={opened} onClose={close} title={t.title} size={480}>
        <div className={styles.form}>
          <LimitForm mailbox={mailbox} onClose={close} />
        </div>
      </Modal>
    </>
  )
}

interface Values extends Record<string, unknown> {
  perHour: number | string
  perDay: number | string
}

function LimitForm({ mailbox, onClose }: { mailbox: Mailbox; onClose: () => void }): ReactNode {
  const { perHour, perDay, provider, published } = mailbox.limits
  const given = (value: number | string) => (value === '' ? null : Number(value))
  const state = useContractForm<typeof mailCalls.changeMailbox, Values>({
    call: mailCalls.changeMailbox,
    initialValues: { perHour: perHour ?? '', perDay: perDay ?? published ?? '' } as Values,
    toInput: (values) => {
      const day = given(values.perDay)
      // What its provider publishes is followed, should that change.
      return { params: { id: mailbox._id }, body: { perHour: given(values.perHour), perDay: day === published ? null : day } }
    },
    invalidates: mailboxInvalidates,
    onSuccess: () => {
      toast('good', t.done)
      onClose()
    },
    onError: (error: unknown) => toast('bad', brief(t.failed(errorMessage(error)))),
  })
  const field = { hideControls: true, allowDecimal: false, allowNegative: false, clampBehavior: 'none', autoComplete: 'off' } as const
  return (
    <ContractForm
      state={state}
      submit={t.submit}
      busy={t.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={state.busy}>
          {t.cancel}
        </Button>
      }
    >
      <p className={styles.question}>{t.why(mailbox.user)}</p>
      <div className={styles.limits}>
        <NumberInput
          label={t.hour}
          description={t.hourHint}
          data-autofocus
          {...field}
          {...state.form.getInputProps('perHour')}
          name="perHour"
        />
        <NumberInput
          label={t.day}
          description={published === null ? t.dayUnknown : t.dayKnown(provider, number(published))}
          {...field}
          {...state.form.getInputProps('perDay')}
          name="perDay"
        />
      </div>
    </ContractForm>
  )
}
