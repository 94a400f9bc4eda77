import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Skeleton } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { businessCalls } from '#contract/business.ts'
import { tagOfVersion } from '#contract/call.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { firstLanguage } from '#contract/speech.ts'
import type { Template } from '#contract/templates.ts'
import { Allowed } from '#web/platform/account.tsx'
import { useSaveOnTop } from '#web/platform/conflict.tsx'
import { changedFields, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { send, sendMatching } from '#web/platform/send.ts'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import styles from './email-templates.module.css'
import { kinds, type TemplateKind } from './templates.ts'
import { texts } from './texts.ts'
import { LanguageChoice, Preview, useWriting, WordingForm, type WordingValues } from './wording.tsx'

export default function EmailTemplatesScreen(): ReactNode {
  const mailbox = useApiQuery(mailCalls.config)
  const [oneUnsaved, setOneUnsaved] = useState(false)
  const [groupUnsaved, setGroupUnsaved] = useState(false)
  const { language, known, write } = useWriting()
  const unsaved = oneUnsaved || groupUnsaved
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      {mailbox.data?.configured === false && (
        <Notice
          tone="warn"
          title={texts.unconfigured.title}
          action={
            <Button component={Link} to={screens.mailSettings} variant="default">
              {texts.unconfigured.action}
            </Button>
          }
        >
          {texts.unconfigured.text}
        </Notice>
      )}
      <LanguageChoice language={language} known={known} locked={unsaved ? texts.language.unsaved : null} onChange={write} />
      <UrlTabs
        label={texts.tabs.label}
        tabs={[
          {
            value: 'one',
            label: texts.tabs.one,
            content: <TemplateTab key={language} kind="one" language={language} onUnsaved={setOneUnsaved} />,
          },
          {
            value: 'group',
            label: texts.tabs.group,
            content: <TemplateTab key={language} kind="group" language={language} onUnsaved={setGroupUnsaved} />,
          },
        ]}
      />
      <UnsavedGuard unsaved={unsaved} />
    </>
  )
}

interface TabProps {
  kind: TemplateKind
  language: string
  /** The screen asks once for both kinds before unsaved changes are lost. */
  onUnsaved: (unsaved: boolean) => void
}

function TemplateTab({ kind, language, onUnsaved }: TabProps): ReactNode {
  const template = useApiQuery(kinds[kind].read, inOther(language))
  return (
    <>
      {kind === 'group' && <UngroupedNotice />}
      <QueryView
        query={template}
        loading={texts.loading}
        skeleton={<Skeleton height={420} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(found) => <TemplateEditor kind={kind} language={language} template={found} onUnsaved={onUnsaved} />}
      </QueryView>
    </>
  )
}

function UngroupedNotice(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  if (settings.data?.groupByClient !== false) return null
  return (
    <Notice
      tone="info"
      action={
        <Button component={Link} to={screens.reminderControl} variant="default">
          {texts.ungrouped.action}
        </Button>
      }
    >
      {texts.ungrouped.text}
    </Notice>
  )
}

interface TemplateEditorProps extends TabProps {
  template: Template
}

/** The query of a language; none in English, so that what was read without one is known. */
function inOther(language: string): { query?: { language: string } } {
  return language === firstLanguage ? {} : { query: { language } }
}

function TemplateEditor({ kind, language, template, onUnsaved }: TemplateEditorProps): ReactNode {
  const { useCustomTemplate: custom, defaultSubject, defaultContent } = template
  // What the texts were typed over: what someone else saves meanwhile must not count as known.
  const [known, setKnown] = useState(template)
  const saved = wordingIn(known)
  const { read, save, variables } = kinds[kind]
  const about = inOther(language)
  const sent = useRef(saved)
  const { save: saveOnTop, dialog } = useSaveOnTop<Template, keyof WordingValues>({
    fields: texts.conflict,
    read: () => send(read, about),
    write: (body, { version }) => sendMatching(save, { ...about, body }, tagOfVersion({ version })),
    shown: (field, of) => of[field],
  })
  const state = useContractForm({
    call: save,
    initialValues: saved,
    toInput: (body) => ({ ...about, body }),
    check: (values) => ({
      ...(values.customSubject.trim() === '' ? { customSubject: texts.subjectMissing } : {}),
      ...(values.customContent.trim() === '' ? { customContent: texts.contentMissing } : {}),
    }),
    send: ({ body }) => {
      sent.current = form.getValues()
      return saveOnTop(known, changedFields(saved, { ...saved, ...(body as WordingValues) }))
    },
    invalidates: [read, businessCalls.read],
    onSuccess: (reply) => {
      setKnown(reply)
      // What is typed while it is saved stays.
      if (same(form.getValues(), sent.current)) form.setValues(wordingIn(reply))
      toast('good', texts.saved)
    },
    onError: (error) => toast('bad', brief(texts.saveFailed(errorMessage(error)))),
  })
  const { form } = state
  const values = form.getValues()
  const unsaved = !same(values, saved)
  // A text that was saved elsewhere (the first switch-on, another tab) is taken over, unless something was typed meanwhile.
  useEffect(() => {
    if (known.version === template.version || (unsaved && !same(values, wordingIn(template)))) return
    setKnown(template)
    form.setValues(wordingIn(template))
    form.clearErrors()
  })
  useEffect(() => {
    onUnsaved(custom && unsaved)
    return () => onUnsaved(false)
  }, [custom, unsaved, onUnsaved])
  const reference = (
    <Panel title={custom ? texts.reference.custom : texts.reference.current}>
      <dl className={styles.wording}>
        <dt>{texts.subject}</dt>
        <dd>{defaultSubject}</dd>
        <dt>{texts.content}</dt>
        <dd>{defaultContent}</dd>
      </dl>
    </Panel>
  )
  return (
    <>
      <Allowed by="admin" says={!custom}>
        <CustomSwitch kind={kind} language={language} on={custom} />
      </Allowed>
      <div className={styles.columns}>
        {custom ? (
          <Panel title={texts.wording} aside={unsaved && <span className={styles.unsaved}>{texts.unsaved}</span>}>
            <WordingForm state={state} variables={variables} saved={saved} unsaved={unsaved} />
          </Panel>
        ) : (
          reference
        )}
        <Preview
          kind={kind}
          spoken={template.sample ? { language, dir: template.dir ?? 'ltr', sample: template.sample } : null}
          wording={
            custom ? { subject: values.customSubject, content: values.customContent } : { subject: defaultSubject, content: defaultContent }
          }
        />
      </div>
      {custom && reference}
      {dialog}
    </>
  )
}

function wordingIn({ customSubject, customContent }: Template): WordingValues {
  return { customSubject, customContent }
}

function same(one: WordingValues, other: WordingValues): boolean {
  return one.customSubject === other.customSubject && one.customContent === other.customContent
}

/** Milliseconds after loading in which a change of the checkbox is not saved. */
const autoSaveDelay = 100

/** Saves on change; a failed save restores the stored value. */
function CustomSwitch({ kind, language, on }: { kind: TemplateKind; language: string; on: boolean }): ReactNode {
  const { read, save } = kinds[kind]
  const [wanted, setWanted] = useState<boolean | null>(null)
  const ready = useRef(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      ready.current = true
    }, autoSaveDelay)
    return () => clearTimeout(timer)
  }, [])
  const change = useApiMutation(save, {
    invalidates: [read, businessCalls.read],
    onSuccess: () => setWanted(null),
    onError: (error) => {
      setWanted(null)
      toast('bad', brief(texts.preferenceFailed(errorMessage(error))))
    },
  })
  return (
    <div className={styles.switch}>
      <Checkbox
        size="md"
        label={texts.custom}
        description={texts.customHint[kind]}
        checked={wanted ?? on}
        aria-busy={change.isPending}
        classNames={{ label: styles.switchLabel ?? '', description: styles.switchHint ?? '', body: styles.switchBody ?? '' }}
        onChange={(event) => {
          if (!ready.current || change.isPending) return
          setWanted(event.currentTarget.checked)
          change.mutate({ ...inOther(language), body: { useCustomTemplate: event.currentTarget.checked } })
        }}
      />
      <FormError message={change.isError ? texts.preferenceFailed(errorMessage(change.error)) : null} />
    </div>
  )
}
