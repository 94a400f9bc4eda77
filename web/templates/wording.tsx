import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Button, Select, Textarea, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { mailBrandOf, withBrand } from '#contract/brand.ts'
import { type BusinessDetails, businessCalls } from '#contract/business.ts'
import { english } from '#contract/english.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { withPayBlock } from '#contract/pay.ts'
import { type PaymentSettings, paymentSettingsCalls } from '#contract/payment-settings.ts'
import { firstLanguage, languageTag, type Speech } from '#contract/speech.ts'
import { EmailTooLarge, leftOut, type RenderedReminder, reminderDocument, sampleValues, type Wording } from '#contract/templates.ts'
import { ContractForm, type ContractFormState } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn } from '#web/ui/dates.ts'
import { LanguageField } from '#web/ui/fields.tsx'
import { useWidth } from '#web/ui/hooks.ts'
import { Panel } from '#web/ui/panel.tsx'
import { undoToast } from '#web/ui/toast.tsx'
import styles from './email-templates.module.css'
import {
  type Example,
  insertAt,
  kinds,
  ownExamples,
  payFacts,
  type Sender,
  type Spoken,
  sampleExample,
  sampleId,
  speechOf,
  type TemplateKind,
} from './templates.ts'
import { texts } from './texts.ts'

const t = texts.preview
/** Pixels; scaled down where there is less room. */
const widths = { desktop: 608, phone: 360 }
const height = 560

interface PreviewProps {
  kind: TemplateKind
  wording: Wording
  /** Of a step: its day from the due date, and who gets a copy. */
  step?: { offset: number; copies: string }
  title?: string
  /** Null: English. */
  spoken?: Spoken | null
}

export function Preview({ kind, wording, step, title = t.title, spoken = null }: PreviewProps): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const mailbox = useApiQuery(mailCalls.config)
  const [chosen, setChosen] = useState<Example | null>(null)
  const [width, setWidth] = useState<keyof typeof widths>(() => (window.matchMedia('(max-width: 47.99em)').matches ? 'phone' : 'desktop'))
  const [shown] = useDebouncedValue(wording, 120)
  const userName = profile.data?.business.name ?? sampleValues.userName
  const example = (spoken ? null : chosen) ?? sampleExample(kind, userName, step?.offset, spoken ?? undefined)
  const pay = usePayment()
  const speech = spoken ? speechOf(spoken) : english
  const business = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data
  const email = rendered(example, shown, pay, { speech, business })
  const lost = leftOut(shown.content)
  const from = mailbox.data?.user ? `${userName} <${mailbox.data.user}>` : userName
  return (
    <Panel title={title} aside={<WidthSwitch width={width} onChange={setWidth} />}>
      {spoken ? (
        <p className={styles.sampleOnly}>{t.sampleOnly}</p>
      ) : (
        <ExampleChoice
          kind={kind}
          sender={{ userName, today: dateIn(profile.data?.timezone, new Date()), offset: step?.offset }}
          chosen={chosen}
          onChoose={setChosen}
        />
      )}
      <div className={styles.email}>
        <dl className={styles.envelope}>
          <dt>{t.from}</dt>
          <dd>{from}</dd>
          <dt>{t.to}</dt>
          <dd>{example.to}</dd>
          {step !== undefined && step.copies !== '' && (
            <>
              <dt>{t.copy}</dt>
              <dd>{step.copies}</dd>
            </>
          )}
          <dt>{t.subject}</dt>
          <dd className={styles.subject}>{email === null || email.subject === '' ? t.noSubject : email.subject}</dd>
        </dl>
        {email === null ? (
          <p className={styles.same}>{t.tooLarge}</p>
        ) : (
          <EmailFrame document={reminderDocument(email.html, speech)} width={widths[width]} />
        )}
      </div>
      {lost.length > 0 && (
        <p className={styles.same} role="status">
          {t.leftOut(lost)}
        </p>
      )}
      {email !== null && email.subject !== '' && <p className={styles.same}>{t.same}</p>}
    </Panel>
  )
}

/** The sample's values in a language, once the server has sent them; null in English. */
export function useSpoken(kind: TemplateKind, language: string): Spoken | null {
  const template = useApiQuery(kinds[kind].read, { query: { language } }, { enabled: language !== firstLanguage }).data
  return template?.sample && language !== firstLanguage ? { language, dir: template.dir ?? 'ltr', sample: template.sample } : null
}

/** The language that texts are written in: at first that of the business. */
export function useWriting(): { language: string; known: string[]; write: (language: string) => void } {
  const business = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data
  const [chosen, write] = useState<string | null>(null)
  return { language: chosen ?? business?.language ?? firstLanguage, known: business?.languages ?? [firstLanguage], write }
}

const anotherLanguage = '+'

/** Chooses the language of texts, also one that has none yet. */
export function LanguageChoice({
  language,
  known,
  locked,
  onChange,
}: {
  language: string
  known: string[]
  /** Why it cannot be another one now. */
  locked: string | null
  onChange: (language: string) => void
}): ReactNode {
  const [asks, setAsks] = useState(false)
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const l = texts.language
  const choose = () => {
    const tag = languageTag.safeParse(typed.trim())
    setWrong(tag.success ? null : (tag.error.issues[0]?.message ?? null))
    if (!tag.success) return
    setAsks(false)
    onChange(tag.data)
  }
  return (
    <div className={styles.language}>
      <LanguageField
        label={l.label}
        description={locked ?? l.hint}
        known={known}
        more={[{ value: anotherLanguage, label: l.another }]}
        value={asks ? anotherLanguage : language}
        disabled={locked !== null}
        onChange={(value) => {
          setAsks(value === anotherLanguage)
          if (value !== anotherLanguage) onChange(value)
        }}
      />
      {asks && locked === null && (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            choose()
          }}
        >
          <TextInput
            label={l.tag}
            description={l.tagHint}
            value={typed}
            error={wrong}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" mt={12}>
            {l.write}
          </Button>
        </form>
      )}
    </div>
  )
}

/** Null where the email would be too large to send. */
function rendered(
  example: Example,
  wording: Wording,
  { settings, payLink, qr }: Payment,
  { speech, business }: { speech: Speech; business: BusinessDetails | undefined },
): RenderedReminder | null {
  try {
    const email = example.render(wording, payLink)
    const paid = settings ? withPayBlock(email, { wording, ...payFacts(settings, payLink, example.payable), speech, picture: qr }) : email
    return business ? withBrand(paid, mailBrandOf(business), speech) : paid
  } catch (error) {
    if (error instanceof EmailTooLarge) return null
    throw error
  }
}

interface Payment {
  settings: PaymentSettings | undefined
  /** Stands for the link of the invoice, which is made when its email is sent. */
  payLink: string | null
  qr: ((code: string) => string) | null
}

/** The code that draws QR codes is loaded only where an email has one. */
function usePayment(): Payment {
  const { data: settings } = useApiQuery(paymentSettingsCalls.read)
  const server = useApiQuery(accountCalls.server)
  const [qr, setQr] = useState<Payment['qr']>(null)
  const wanted = settings !== undefined && settings.upi !== null && settings.inEmails
  useEffect(() => {
    if (!wanted) return
    import('uqr').then(
      ({ renderSVG }) =>
        setQr(() => (code: string) => `data:image/svg+xml,${encodeURIComponent(renderSVG(code, { ecc: 'M', border: 4 }))}`),
      () => undefined,
    )
  }, [wanted])
  return { settings, payLink: server.data?.payLinks ? `${window.location.origin}/pay/…` : null, qr }
}

/** The empty `sandbox` must stay: no script may run in the user's HTML. */
function EmailFrame({ document, width }: { document: string; width: number }): ReactNode {
  const [room, available] = useWidth<HTMLDivElement>(width)
  const scale = Math.min(1, (available ?? width) / width)
  return (
    <div ref={room} className={styles.room} style={{ height: height * scale }}>
      <iframe
        title={t.frame}
        sandbox=""
        srcDoc={document}
        className={styles.frame}
        style={{ width, height, transform: `scale(${scale})` }}
      />
    </div>
  )
}

function WidthSwitch({ width, onChange }: { width: keyof typeof widths; onChange: (width: keyof typeof widths) => void }): ReactNode {
  const choices = [
    { value: 'desktop', text: t.desktop, icon: IconDeviceDesktop },
    { value: 'phone', text: t.phone, icon: IconDeviceMobile },
  ] as const
  return (
    <fieldset aria-label={t.width} className={styles.widths}>
      {choices.map(({ value, text, icon: Icon }) => (
        <button key={value} type="button" className={styles.width} aria-pressed={value === width} onClick={() => onChange(value)}>
          <Icon size={18} stroke={1.7} aria-hidden />
          {text}
        </button>
      ))}
    </fieldset>
  )
}

interface ExampleChoiceProps {
  kind: TemplateKind
  sender: Sender
  /** null: the sample values. */
  chosen: Example | null
  onChoose: (example: Example | null) => void
}

/** Loads the invoices only when the field gets the focus, because the list may be long. */
function ExampleChoice({ kind, sender, chosen, onChoose }: ExampleChoiceProps): ReactNode {
  const [focused, setFocused] = useState(false)
  const invoices = useApiQuery(invoiceCalls.list, {}, { enabled: focused })
  const { userName, today, offset } = sender
  const own = useMemo(
    () => ownExamples(kind, invoices.data ?? [], { userName, today, offset }),
    [kind, invoices.data, userName, today, offset],
  )
  return (
    <Select
      label={t.about}
      description={offset === undefined ? t.aboutHint[kind] : t.aboutStep}
      data={[{ value: sampleId, label: t.sample }, ...own.map(({ id, label }) => ({ value: id, label }))]}
      value={chosen?.id ?? sampleId}
      searchable
      limit={60}
      allowDeselect={false}
      // Must stay inside the landmarks of the page for screen readers.
      comboboxProps={{ withinPortal: false }}
      nothingFoundMessage={invoices.isPending ? t.loading : t.none[kind]}
      error={invoices.isError ? t.failed(errorMessage(invoices.error)) : undefined}
      mb={16}
      onFocus={() => setFocused(true)}
      onChange={(id) => onChoose(own.find((example) => example.id === id) ?? null)}
    />
  )
}

export type WordingValues = { customSubject: string; customContent: string }
type VariableName = keyof typeof texts.meanings

interface WordingFormProps {
  state: ContractFormState<WordingValues>
  variables: readonly VariableName[]
  saved: WordingValues
  unsaved: boolean
}

/** Inserts a piece of text into a field at its cursor; `onText` is called only where the browser can't count that as typing. */
export function insertInto(field: HTMLInputElement | HTMLTextAreaElement, piece: string, onText: (text: string) => void): void {
  field.focus()
  // Must count as typing, because setting the value would clear the browser's undo history.
  if (document.execCommand('insertText', false, piece)) return
  const { text, cursor } = insertAt({ text: field.value, start: field.selectionStart ?? 0, end: field.selectionEnd ?? 0 }, piece)
  onText(text)
  requestAnimationFrame(() => field.setSelectionRange(cursor, cursor))
}

export function WordingForm({ state, variables, saved, unsaved }: WordingFormProps): ReactNode {
  const { form } = state
  const subject = useRef<HTMLInputElement>(null)
  const content = useRef<HTMLTextAreaElement>(null)
  const last = useRef<keyof WordingValues>('customContent')
  const insert = (name: string) => {
    const path = last.current
    const field = path === 'customSubject' ? subject.current : content.current
    if (!field) return
    insertInto(field, `{{${name}}}`, (text) => form.setFieldValue(path, text))
  }
  const reset = () => {
    const typed = form.getValues()
    form.setValues(saved)
    form.clearErrors()
    undoToast(texts.wasReset, () => form.setValues(typed))
  }
  const fieldOf = (path: keyof WordingValues) => {
    const { onFocus, onBlur, ...props } = form.getInputProps(path)
    return {
      ...props,
      onFocus: () => {
        last.current = path
        onFocus?.()
      },
      onBlur: () => {
        onBlur?.()
        form.validateField(path)
      },
    }
  }
  return (
    <ContractForm
      state={state}
      submit={texts.save}
      busy={texts.saving}
      actions={
        <Button variant="default" onClick={reset} disabled={!unsaved || state.busy}>
          {texts.reset}
        </Button>
      }
    >
      <div className={styles.fields}>
        <VariableList names={variables} onInsert={insert} />
        <TextInput ref={subject} label={texts.subject} required autoComplete="off" maxLength={400} {...fieldOf('customSubject')} />
        <Textarea ref={content} label={texts.content} description={texts.contentHint} required rows={12} {...fieldOf('customContent')} />
      </div>
    </ContractForm>
  )
}

export function VariableList({ names, onInsert }: { names: readonly VariableName[]; onInsert: (name: VariableName) => void }): ReactNode {
  return (
    <section aria-label={texts.variables}>
      <h3 className={styles.label}>{texts.variables}</h3>
      <p className={styles.hint}>{texts.variablesHint}</p>
      <ul className={styles.variables}>
        {names.map((name) => (
          <li key={name}>
            <button type="button" className={styles.variable} onClick={() => onInsert(name)}>
              <code>
                <VisuallyHidden>{texts.insert}</VisuallyHidden>
                {`{{${name}}}`}
              </code>
              <span>{texts.meanings[name]}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
