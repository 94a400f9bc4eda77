import { Button, Textarea, TextInput, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { ContractForm, type ContractFormState } from '#web/platform/contract-form.tsx'
import { undoToast } from '#web/ui/toast.tsx'
import styles from './email-templates.module.css'
import { insertAt } from './templates.ts'
import { texts } from './texts.ts'

export type WordingValues = { customSubject: string; customContent: string }
export type VariableName = keyof typeof texts.meanings

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
