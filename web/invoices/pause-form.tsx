import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Checkbox, Radio, Textarea } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { DateField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import { changedByPause } from './changed-by-pause.ts'
import { writeInvoice } from './invoice-cache.ts'
import styles from './pause-dialog.module.css'
import { texts } from './texts.ts'
import { useToday } from './use-today.ts'

const words = texts.pause
const week = 7 * 86_400_000

type PauseValues = { scope: 'invoice' | 'client'; length: 'until' | 'for-good'; until: string; promised: boolean; note: string }

interface PauseFormProps {
  invoice: Invoice
  /** Told while it is being saved: the dialog stays open then. */
  onBusy: (busy: boolean) => void
  onClose: () => void
}

/** Scope, last quiet day, promise and note; what is paused already keeps its scope. */
export function PauseForm({ invoice, onBusy, onClose }: PauseFormProps): ReactNode {
  const { zone, now, today } = useToday()
  const { pause, reference, clientEmail } = invoice
  const initialValues: PauseValues = {
    scope: pause?.scope ?? 'invoice',
    length: pause && pause.until === null ? 'for-good' : 'until',
    until: pause?.until ?? dateIn(zone, new Date(now.getTime() + week)),
    promised: pause?.promised ?? false,
    note: pause?.note ?? '',
  }
  const state = useContractForm({
    call: invoiceCalls.pause,
    initialValues,
    toInput: ({ scope, length, until, promised, note }) => ({
      params: { id: invoice._id },
      body: { paused: true, scope, note, ...(length === 'until' ? { until, promised } : { until: null, promised: false }) },
    }),
    check: ({ length, until }) => checkUntil(length, until, today),
    invalidates: changedByPause,
    update: writeInvoice,
    onSuccess: (_reply, { scope, length, until }) => {
      const day = length === 'until' ? showDate(until) : null
      toast('good', scope === 'client' ? words.doneClient(clientEmail, day) : words.done(reference, day))
      onClose()
    },
  })
  const { form, busy } = state
  const dated = form.values.length === 'until'

  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])

  return (
    <ContractForm
      state={state}
      submit={pause ? words.save : words.submit}
      busy={words.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {words.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        {pause ? (
          <p className={styles.kept}>{pause.scope === 'client' ? words.scopeKept.client(clientEmail) : words.scopeKept.invoice}</p>
        ) : (
          <Radio.Group label={words.scope} classNames={{ label: styles.label ?? '' }} {...form.getInputProps('scope')}>
            <Radio className={styles.choice ?? ''} value="invoice" label={words.scopes.invoice} data-autofocus />
            <Radio className={styles.choice ?? ''} value="client" label={words.scopes.client(clientEmail)} />
          </Radio.Group>
        )}
        <Radio.Group label={words.length} classNames={{ label: styles.label ?? '' }} {...form.getInputProps('length')}>
          <Radio className={styles.choice ?? ''} value="until" label={words.until} data-autofocus={pause ? true : undefined} />
          {dated && (
            <div className={styles.dated}>
              <DateField label={words.lastDay} description={words.lastDayHint} required {...form.getInputProps('until')} />
              <Checkbox
                className={styles.choice ?? ''}
                label={words.promised}
                description={words.promisedHint}
                {...form.getInputProps('promised', { type: 'checkbox' })}
              />
            </div>
          )}
          <Radio className={styles.choice ?? ''} value="for-good" label={words.forGood} />
        </Radio.Group>
        <Textarea label={words.note} description={words.noteHint} rows={3} maxLength={500} {...form.getInputProps('note')} />
      </div>
    </ContractForm>
  )
}

function checkUntil(length: PauseValues['length'], until: string, today: string): Record<string, string> {
  if (length === 'for-good') return {}
  if (until === '') return { until: words.chooseDay }
  return /^\d{4}-\d{2}-\d{2}$/.test(until) && until < today ? { until: words.pastDay } : {}
}
