import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { ActionIcon, Button, Checkbox, Textarea, TextInput } from '@mantine/core'
import { IconMinus, IconPlus } from '@tabler/icons-react'
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react'
import { tone as tones } from '#contract/sequence-choice.ts'
import type { SequenceStep } from '#contract/sequences.ts'
import { groupVariables, templateVariables } from '#contract/templates.ts'
import { dayOf, sequenceTexts } from '#web/platform/sequences/texts.ts'
import templateStyles from '#web/templates/email-templates.module.css'
import type { TemplateKind } from '#web/templates/templates.ts'
import { editorTexts as texts, signed as withSign } from '#web/templates/texts.ts'
import { insertInto, VariableList } from '#web/templates/wording.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { type DraftStep, leastDay, mostDay } from './draft.ts'
import styles from './sequences.module.css'

const t = texts.step
const fields = {
  one: { subject: 'subject', content: 'content', names: templateVariables },
  group: { subject: 'groupSubject', content: 'groupContent', names: groupVariables },
} as const

interface StepFormProps {
  step: DraftStep
  number: number
  of: number
  faults: Partial<Record<keyof SequenceStep, string>>
  kind: TemplateKind
  onKind: (kind: TemplateKind) => void
  onChange: (change: Partial<SequenceStep>) => void
  onRemove: () => void
}

/** The selected step: its day, tone, texts and copies. */
export function StepForm({ step, number, of, faults, kind, onKind, onChange, onRemove }: StepFormProps): ReactNode {
  const subject = useRef<HTMLInputElement>(null)
  const content = useRef<HTMLTextAreaElement>(null)
  const last = useRef<'subject' | 'content'>('content')
  const { subject: subjectField, content: contentField, names } = fields[kind]
  const insert = (name: string) => {
    const field = last.current === 'subject' ? subject.current : content.current
    if (field) insertInto(field, `{{${name}}}`, (text) => onChange({ [last.current === 'subject' ? subjectField : contentField]: text }))
  }
  const other = kind === 'one' ? 'group' : 'one'
  const elsewhere = faults[fields[other].subject] ?? faults[fields[other].content]
  return (
    <Panel
      title={t.title(number, of)}
      aside={
        <Button variant="subtle" mr={-18} disabled={of === 1} onClick={onRemove}>
          {t.remove}
        </Button>
      }
    >
      <div className={styles.fields}>
        <div className={styles.settings}>
          <Day step={step} fault={faults.offset} onChange={(offset) => onChange({ offset })} />
          <Choice
            label={t.tone}
            options={tones.options.map((tone) => ({ value: tone, text: sequenceTexts.tones[tone], tone }))}
            value={step.tone}
            onChange={(tone) => onChange({ tone })}
          />
          <Choice
            label={t.about}
            options={[
              { value: 'one', text: t.one },
              { value: 'group', text: t.group },
            ]}
            value={kind}
            onChange={onKind}
          />
        </div>
        <TextInput
          ref={subject}
          label={t.subject}
          autoComplete="off"
          maxLength={400}
          value={step[subjectField]}
          error={faults[subjectField]}
          onFocus={() => {
            last.current = 'subject'
          }}
          onChange={(event) => onChange({ [subjectField]: event.currentTarget.value })}
        />
        <Textarea
          ref={content}
          label={t.content}
          rows={14}
          value={step[contentField]}
          error={faults[contentField]}
          onFocus={() => {
            last.current = 'content'
          }}
          onChange={(event) => onChange({ [contentField]: event.currentTarget.value })}
        />
        {elsewhere !== undefined && (
          <p className={styles.fault} role="alert">
            {t.otherFault(elsewhere, t.faultOf[other])}
          </p>
        )}
        <VariableList names={names.filter((name) => name !== 'daysOverdue' || step.offset > 0)} onInsert={insert} />
        <div className={styles.copies}>
          <Checkbox
            label={t.copyToMe}
            checked={step.copyToMe}
            classNames={{ body: templateStyles.switchBody ?? '', label: styles.copy ?? '' }}
            onChange={(event) => onChange({ copyToMe: event.currentTarget.checked })}
          />
          <Checkbox
            label={t.copyToSecond}
            checked={step.copyToSecondContact}
            classNames={{ body: templateStyles.switchBody ?? '', label: styles.copy ?? '' }}
            onChange={(event) => onChange({ copyToSecondContact: event.currentTarget.checked })}
          />
        </div>
        {step.copyToSecondContact && <p className={styles.hint}>{t.secondHint}</p>}
      </div>
    </Panel>
  )
}

function Day({
  step: { offset, was },
  fault,
  onChange,
}: {
  step: DraftStep
  fault: string | undefined
  onChange: (offset: number) => void
}) {
  return (
    <div>
      <span className={styles.label}>{t.day}</span>
      <div className={styles.stepper} data-invalid={fault !== undefined || undefined}>
        <ActionIcon aria-label={t.earlier} disabled={offset <= leastDay} onClick={() => onChange(offset - 1)}>
          <IconMinus size={18} />
        </ActionIcon>
        <DayInput label={t.day} value={offset} signed data={{ invalid: fault !== undefined }} describedBy="step-day" onChange={onChange} />
        <ActionIcon aria-label={t.later} disabled={offset >= mostDay} onClick={() => onChange(offset + 1)}>
          <IconPlus size={18} />
        </ActionIcon>
      </div>
      <p id="step-day" className={styles.under} data-fault={fault !== undefined || undefined}>
        {fault ?? (was === null || was === offset ? dayOf(offset) : `${dayOf(offset)}, ${t.was(was)}`)}
      </p>
    </div>
  )
}

interface ChoiceProps<V extends string> {
  label: string
  options: { value: V; text: string; tone?: string }[]
  value: V
  onChange: (value: V) => void
}

function Choice<V extends string>({ label, options, value, onChange }: ChoiceProps<V>): ReactNode {
  return (
    <fieldset className={styles.choice}>
      <legend className={styles.label}>{label}</legend>
      <div>
        {options.map((option) => (
          <button
            key={option.value}
            type="button"
            aria-pressed={option.value === value}
            data-tone={option.tone}
            onClick={() => onChange(option.value)}
          >
            {option.tone !== undefined && <i aria-hidden />}
            {option.text}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

interface DayInputProps {
  label: string
  /** Null: none. */
  value: number | null
  /** With a plus or minus. */
  signed?: boolean
  placeholder?: string
  className?: string | undefined
  style?: CSSProperties
  data?: { tone?: string; selected?: boolean; invalid: boolean }
  describedBy?: string
  onFocus?: () => void
  onChange: (value: number) => void
  /** Where it may be empty. */
  onClear?: () => void
}

/** A whole number that is typed. What is no number yet stays in the field and changes nothing. */
export function DayInput(props: DayInputProps): ReactNode {
  const { label, value, signed = false, placeholder, className, style, data, describedBy, onFocus, onChange, onClear } = props
  const [typed, setTyped] = useState(show(value, signed))
  useEffect(() => setTyped((before) => (read(before) === value ? before : show(value, signed))), [value, signed])
  return (
    <input
      type="text"
      inputMode={signed ? 'text' : 'numeric'}
      autoComplete="off"
      maxLength={4}
      aria-label={label}
      aria-invalid={data?.invalid ?? false}
      aria-describedby={describedBy}
      data-tone={data?.tone}
      data-selected={data?.selected || undefined}
      placeholder={placeholder}
      className={className}
      style={style}
      value={typed}
      onFocus={onFocus}
      onBlur={() => setTyped(show(value, signed))}
      onChange={(event) => {
        const text = event.currentTarget.value
        setTyped(text)
        const number = read(text)
        if (number !== null) onChange(number)
        else if (text.trim() === '') onClear?.()
      }}
    />
  )
}

function show(number: number | null, signed: boolean): string {
  return number === null ? '' : signed ? withSign(number) : String(number)
}

function read(text: string): number | null {
  const plain = text.trim().replace(/^[−–]/, '-').replace(/^\+/, '')
  return /^-?\d{1,3}$/.test(plain) ? Number(plain) : null
}
