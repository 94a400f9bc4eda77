import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { type FileLayout, fileLayoutCalls, type LayoutKind, longestHeadings } from '#contract/file-layouts.ts'
import { answersToKeep, isSameAnswers, keptAnswers } from '#contract/import/kept.ts'
import type { Answers } from '#contract/import/meaning.ts'
import { showSpoken } from '#web/ui/dates.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './kept.module.css'
import { keptTexts as texts } from './kept-texts.ts'
import { errorMessage } from './problem.ts'
import { useApiMutation, useApiQuery } from './query.ts'
import { send } from './send.ts'

/** The layouts of a kind; undefined until they are read. Where they cannot be read, there are none. */
export function useLayouts(kind: LayoutKind): FileLayout[] | undefined {
  const { data, error } = useApiQuery(fileLayoutCalls.list)
  return error ? [] : data?.filter((one) => one.kind === kind)
}

/**
 * Hands over what was answered about an earlier file with the same headings, once. Answers whether that is done. `headings`: undefined until the file
 * is read.
 */
export function useRemembered(kind: LayoutKind, headings: string | undefined, onKnown: (answers: Answers) => void): boolean {
  const { isFetching } = useApiQuery(fileLayoutCalls.list)
  const layouts = useLayouts(kind)
  const [isDone, setDone] = useState(false)
  const tell = useEffectEvent(onKnown)
  useEffect(() => {
    // Those of before may lack what was answered a minute ago.
    if (isDone || headings === undefined || layouts === undefined || isFetching) return
    const known = headings === '' ? undefined : layouts.find((one) => one.headings === headings)
    if (known) tell(keptAnswers(known.answers))
    setDone(true)
  }, [isDone, headings, layouts, isFetching])
  return isDone
}

interface ToKeep {
  kind: LayoutKind
  /** What files of the layout have in common; empty where a file cannot be recognised by it. */
  headings: string
  name: string
  answers: Answers
}

/** Keeps the answers to a file that was imported, unless they are kept as they are. What fails is said, and changes nothing else. */
export function useKeep(layouts: FileLayout[] | undefined): (layout: ToKeep) => Promise<void> {
  const queries = useQueryClient()
  return async ({ kind, headings, name, answers: given }) => {
    const known = layouts?.find((one) => one.headings === headings)
    const answers = answersToKeep(given)
    const isNew = known ? !isSameAnswers(known.answers, answers) : answers.length > 0
    if (headings === '' || headings.length > longestHeadings || !isNew) return
    try {
      await send(fileLayoutCalls.keep, { body: { kind, headings, name: name.slice(0, 100), answers } })
      await queries.invalidateQueries()
    } catch (error) {
      toast('bad', texts.notKept(errorMessage(error)))
    }
  }
}

/** Opens the layouts that are kept, where there are some. */
export function KeptLayouts({ kind, layouts }: { kind: LayoutKind; layouts: FileLayout[] | undefined }): ReactNode {
  const [opened, setOpened] = useState(false)
  if (!layouts || (layouts.length === 0 && !opened)) return null
  return (
    <>
      <button type="button" className={styles.link} onClick={() => setOpened(true)}>
        {texts.open}
      </button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={texts.title} size={560}>
        <p className={styles.hint}>{layouts.length === 0 ? texts.none : texts.hint[kind]}</p>
        <ul className={styles.list}>
          {layouts.map((layout) => (
            <Layout key={layout._id} layout={layout} />
          ))}
        </ul>
      </Dialog>
    </>
  )
}

function Layout({ layout: { _id: id, name, answers, usedAt } }: { layout: FileLayout }): ReactNode {
  const [typed, setTyped] = useState(name)
  const rename = useApiMutation(fileLayoutCalls.rename, { invalidates: [fileLayoutCalls.list] })
  const remove = useApiMutation(fileLayoutCalls.remove, { invalidates: [fileLayoutCalls.list] })
  const error = rename.error ?? remove.error
  const save = () => {
    if (typed.trim() === '') setTyped(name)
    else if (typed !== name) rename.mutate({ params: { id }, body: { name: typed } })
  }
  return (
    <li className={styles.layout}>
      <TextInput
        label={texts.name}
        maxLength={100}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === 'Enter' && save()}
      />
      <p className={styles.about}>
        {texts.about(answers.length, showSpoken(usedAt.slice(0, 10)))}
        <button
          type="button"
          className={styles.link}
          aria-label={texts.removeName(name)}
          disabled={remove.isPending}
          onClick={() => remove.mutate({ params: { id } })}
        >
          {texts.remove}
        </button>
      </p>
      <FormError message={error ? errorMessage(error) : null} />
    </li>
  )
}
