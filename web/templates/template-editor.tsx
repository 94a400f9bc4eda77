import { type ReactNode, useEffect, useRef } from 'react'
import type { Template } from '#contract/templates.ts'
import { useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { CustomSwitch } from './custom-switch.tsx'
import styles from './email-templates.module.css'
import { type LetterKind, letters } from './letters.ts'
import { Preview } from './preview.tsx'
import { ReferenceBox } from './reference-box.tsx'
import { texts } from './texts.ts'
import { WordingForm, type WordingValues } from './wording-form.tsx'

interface TemplateEditorProps {
  kind: LetterKind
  template: Template
  /** Told whether something typed here is not saved yet; only one question is asked for the whole screen. */
  onUnsaved: (unsaved: boolean) => void
}

/** The switch, the own wording where it is on, the preview, and the default for reference. */
export function TemplateEditor({ kind, template, onUnsaved }: TemplateEditorProps): ReactNode {
  const { useCustomTemplate: custom, customSubject, customContent, defaultSubject, defaultContent } = template
  const saved: WordingValues = { customSubject, customContent }
  const { read, save } = letters[kind]
  const state = useContractForm({
    call: save,
    initialValues: saved,
    toInput: (body) => ({ body }),
    check: (values) => ({
      ...(values.customSubject.trim() === '' ? { customSubject: texts.subjectMissing } : {}),
      ...(values.customContent.trim() === '' ? { customContent: texts.contentMissing } : {}),
    }),
    invalidates: [read],
    onSuccess: () => {
      toast('good', texts.saved)
    },
    onError: (error) => toast('bad', <span className={styles.brief}>{texts.saveFailed(errorMessage(error))}</span>),
  })
  const { form } = state
  const values = form.getValues()
  const unsaved = !same(values, saved)
  useFollowSaved(saved, values, (text) => {
    form.setValues(text)
    form.clearErrors()
  })
  useEffect(() => {
    onUnsaved(custom && unsaved)
    return () => onUnsaved(false)
  }, [custom, unsaved, onUnsaved])
  const reference = <ReferenceBox subject={defaultSubject} content={defaultContent} custom={custom} />
  return (
    <>
      <CustomSwitch kind={kind} on={custom} />
      <div className={styles.columns}>
        {custom ? (
          <Panel title={texts.wording} aside={unsaved && <span className={styles.unsaved}>{texts.unsaved}</span>}>
            <WordingForm state={state} variables={letters[kind].variables} saved={saved} unsaved={unsaved} />
          </Panel>
        ) : (
          reference
        )}
        <Preview
          kind={kind}
          wording={
            custom ? { subject: values.customSubject, content: values.customContent } : { subject: defaultSubject, content: defaultContent }
          }
        />
      </div>
      {custom && reference}
    </>
  )
}

function same(one: WordingValues, other: WordingValues): boolean {
  return one.customSubject === other.customSubject && one.customContent === other.customContent
}

/** Takes over what was saved elsewhere, by the first switch-on or in another tab, unless something else was typed here meanwhile. */
function useFollowSaved(saved: WordingValues, values: WordingValues, onChange: (saved: WordingValues) => void): void {
  const before = useRef(saved)
  useEffect(() => {
    const last = before.current
    before.current = saved
    if (!same(last, saved) && same(values, last)) onChange(saved)
  })
}
