import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { addressesIn } from '#contract/addresses.ts'
import { type ClientCopy, mostCopies } from '#contract/clients.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { FormError } from '#web/ui/notice.tsx'
import styles from './clients.module.css'
import { clientPageTexts } from './texts.ts'

const t = clientPageTexts.reminders.copies

/** A recipient as its row has it; `gets` with the step: `from_step:3`. */
export interface ShownCopy {
  email: string
  gets: string
}

export function toShown({ email, gets, step }: ClientCopy): ShownCopy {
  return { email, gets: gets === 'from_step' ? `${gets}:${step}` : gets }
}

export function toCopy({ email, gets }: ShownCopy): ClientCopy {
  const [name, step] = gets.split(':')
  return { email, gets: name as ClientCopy['gets'], step: step === undefined ? null : Number(step) }
}

interface CopiesFieldProps {
  copies: ShownCopy[]
  /** By the path of the field. */
  errors: Record<string, ReactNode>
  /** Of the client; null: that of the account. */
  sequence: string | null
  onChange: (copies: ShownCopy[]) => void
}

/** The further recipients of a client: whom, and from when on. */
export function CopiesField({ copies, errors, sequence, onChange }: CopiesFieldProps): ReactNode {
  const list = useApiQuery(sequenceCalls.list, {}, { staleTime: 60_000 }).data
  const steps = list?.find(({ _id, isDefault }) => (sequence === null ? isDefault : _id === sequence))?.steps ?? []
  const change = (nth: number, changed: Partial<ShownCopy>) =>
    onChange(copies.map((one, at) => (at === nth ? { ...one, ...changed } : one)))
  /** A pasted list becomes a row each. */
  const spread = (nth: number, typed: string) => {
    const [first, ...others] = addressesIn(typed)
    if (first === undefined) return
    const rows = others.map((email) => ({ email, gets: 'every' }))
    onChange([...copies.slice(0, nth), { gets: copies[nth]?.gets ?? 'every', email: first }, ...rows, ...copies.slice(nth + 1)])
  }
  return (
    <fieldset className={styles.copies}>
      <legend className={styles.setting}>{t.title}</legend>
      <p className={styles.copiesHint}>{t.hint}</p>
      {copies.map(({ email, gets }, nth) => (
        // Rows have no other name: one may be empty, or twice there until it is refused.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={nth} className={styles.copy}>
          <TextInput
            type="email"
            aria-label={t.email(nth + 1)}
            autoComplete="off"
            value={email}
            error={errors[`copies.${nth}.email`]}
            onChange={(event) => change(nth, { email: event.currentTarget.value })}
            onPaste={(event) => {
              const pasted = event.clipboardData.getData('text')
              if (email !== '' || addressesIn(pasted).length < 2) return
              event.preventDefault()
              spread(nth, pasted)
            }}
          />
          <NativeSelect
            aria-label={t.gets(nth + 1)}
            data={choicesOf(gets, steps)}
            value={gets}
            error={errors[`copies.${nth}.gets`] ?? errors[`copies.${nth}.step`]}
            onChange={(event) => change(nth, { gets: event.currentTarget.value })}
          />
          <CloseButton
            size={44}
            iconSize={18}
            aria-label={t.remove(email)}
            onClick={() => onChange(copies.filter((_, at) => at !== nth))}
          />
        </div>
      ))}
      {copies.length < mostCopies ? (
        <div>
          <Button variant="default" onClick={() => onChange([...copies, { email: '', gets: 'every' }])}>
            {t.add}
          </Button>
        </div>
      ) : (
        <p className={styles.copiesHint}>{t.most(mostCopies)}</p>
      )}
      <FormError message={typeof errors.copies === 'string' ? errors.copies : null} />
    </fieldset>
  )
}

/** What a recipient may get: from the second step on as often as there are steps, and what is chosen now. */
function choicesOf(chosen: string, steps: { copyToSecondContact: boolean }[]): { value: string; label: string }[] {
  const last = Math.max(steps.length, toCopy({ email: '', gets: chosen }).step ?? 0)
  const ticked = steps.flatMap(({ copyToSecondContact }, nth) => (copyToSecondContact ? nth + 1 : []))
  return [
    { value: 'every', label: t.every },
    ...Array.from({ length: Math.max(0, last - 1) }, (_, nth) => ({ value: `from_step:${nth + 2}`, label: t.from(nth + 2) })),
    ...(chosen === 'from_step:1' ? [{ value: chosen, label: t.from(1) }] : []),
    ...(chosen === 'ticked_steps' ? [{ value: chosen, label: t.ticked(ticked) }] : []),
    { value: 'never', label: t.never },
  ]
}
