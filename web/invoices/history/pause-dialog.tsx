import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Checkbox, Group, Radio, Textarea } from '@mantine/core'
import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { pauseInvalidates, writeInvoice } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useToday } from '#web/platform/account.tsx'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { DateField } from '#web/ui/fields.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './history.module.css'

const texts = invoiceTexts.pause
const week = 7 * 86_400_000
const calendarDate = /^\d{4}-\d{2}-\d{2}$/

/** Pauses the reminders of an invoice or its client, or changes that pause. */
export function PauseDialog({ invoice, onClose }: { invoice: Invoice | null; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const shown = useKept(invoice)
  return (
    <Dialog
      opened={invoice !== null}
      onClose={busy ? () => undefined : onClose}
      title={shown?.pause ? texts.change : texts.title}
      size={520}
    >
      {shown && (
        <>
          <p className={styles.pauseAbout}>{texts.about(shown.reference, shown.clientName)}</p>
          <PauseForm invoice={shown} onBusy={setBusy} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}

type Length = 'until' | 'for-good'
type PauseValues = { scope: 'invoice' | 'client'; length: Length; until: string; promised: boolean; note: string }

interface PauseFormProps {
  invoice: Invoice
  onBusy: (busy: boolean) => void
  onClose: () => void
}

/** The scope of an existing pause cannot be changed. */
function PauseForm({ invoice, onBusy, onClose }: PauseFormProps): ReactNode {
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
    check: ({ length, until }) => {
      // Other text is judged by the call's own schema.
      const problem = length === 'until' && (until === '' || calendarDate.test(until)) ? dayProblem(until, today) : null
      return problem === null ? {} : { until: problem }
    },
    invalidates: pauseInvalidates,
    update: writeInvoice,
    onSuccess: (_reply, { scope, length, until }) => {
      const day = length === 'until' ? showDate(until) : null
      toast('good', scope === 'client' ? texts.doneClient(clientEmail, day) : texts.done(reference, day))
      onClose()
    },
  })
  const { form, busy } = state

  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])

  return (
    <ContractForm
      state={state}
      submit={pause ? texts.save : texts.submit}
      busy={texts.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {texts.cancel}
        </Button>
      }
    >
      <div className={styles.pauseFields}>
        {pause ? (
          <p className={styles.pauseKept}>{pause.scope === 'client' ? texts.scopeKept.client(clientEmail) : texts.scopeKept.invoice}</p>
        ) : (
          <Radio.Group label={texts.scope} classNames={{ label: styles.pauseLabel ?? '' }} {...form.getInputProps('scope')}>
            <Radio className={styles.pauseChoice ?? ''} value="invoice" label={texts.scopes.invoice} data-autofocus />
            <Radio className={styles.pauseChoice ?? ''} value="client" label={texts.scopes.client(clientEmail)} />
          </Radio.Group>
        )}
        <LengthFields length={form.getInputProps('length')} until={form.getInputProps('until')} autofocus={pause !== null}>
          <Checkbox
            className={styles.pauseChoice ?? ''}
            label={texts.promised}
            description={texts.promisedHint}
            {...form.getInputProps('promised', { type: 'checkbox' })}
          />
        </LengthFields>
        <Textarea label={texts.note} description={texts.noteHint} rows={3} maxLength={500} {...form.getInputProps('note')} />
      </div>
    </ContractForm>
  )
}

interface BulkPauseDialogProps {
  opened: boolean
  count: number
  /** How many selected invoices are left out because they are paid. */
  paid: number
  busy: boolean
  /** `until` is the last day of the pause, YYYY-MM-DD; null: until resumed. */
  onPause: (until: string | null) => void
  onClose: () => void
}

/** Pauses the reminders of several invoices. */
export function BulkPauseDialog({ opened, count, paid, busy, onPause, onClose }: BulkPauseDialogProps): ReactNode {
  const last = useRef({ count, paid })
  if (opened) last.current = { count, paid }
  return (
    <Dialog opened={opened} onClose={busy ? () => undefined : onClose} title={texts.bulkTitle(last.current.count)} size={520}>
      {last.current.paid > 0 && <p className={styles.pauseAbout}>{texts.paidLeftOut(last.current.paid)}</p>}
      <BulkPauseForm busy={busy} onPause={onPause} onClose={onClose} />
    </Dialog>
  )
}

function BulkPauseForm({ busy, onPause, onClose }: Pick<BulkPauseDialogProps, 'busy' | 'onPause' | 'onClose'>): ReactNode {
  const { zone, now, today } = useToday()
  const [length, setLength] = useState<Length>('until')
  const [until, setUntil] = useState(() => dateIn(zone, new Date(now.getTime() + week)))
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    const found = length === 'until' ? dayProblem(until, today) : null
    setProblem(found)
    if (found === null) onPause(length === 'until' ? until : null)
  }
  const changeUntil = (date: string) => {
    setUntil(date)
    setProblem(null)
  }
  return (
    <form noValidate onSubmit={submit}>
      <LengthFields
        length={{ value: length, onChange: setLength }}
        until={{ value: until, onChange: changeUntil, error: problem }}
        autofocus={false}
      />
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onClose} disabled={busy}>
          {texts.cancel}
        </Button>
        <BusyButton type="submit" busy={busy} busyText={texts.busy}>
          {texts.submit}
        </BusyButton>
      </Group>
    </form>
  )
}

interface LengthFieldsProps {
  length: { value?: Length; onChange: (length: Length) => void }
  until: Pick<ComponentProps<typeof DateField>, 'value' | 'onChange' | 'error'>
  autofocus: boolean
  /** Further fields of a pause with an end. */
  children?: ReactNode
}

function LengthFields({ length, until, autofocus, children }: LengthFieldsProps): ReactNode {
  return (
    <Radio.Group<Length> label={texts.length} classNames={{ label: styles.pauseLabel ?? '' }} {...length}>
      <Radio className={styles.pauseChoice ?? ''} value="until" label={texts.until} data-autofocus={autofocus || undefined} />
      {length.value === 'until' && (
        <div className={styles.pauseDated}>
          <DateField label={texts.lastDay} description={texts.lastDayHint} required {...until} />
          {children}
        </div>
      )}
      <Radio className={styles.pauseChoice ?? ''} value="for-good" label={texts.forGood} />
    </Radio.Group>
  )
}

function dayProblem(until: string, today: string): string | null {
  if (!calendarDate.test(until)) return texts.chooseDay
  return until < today ? texts.pastDay : null
}
