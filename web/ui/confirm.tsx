import { type ReactNode, useEffect, useId, useState, useSyncExternalStore } from 'react'
import { useBlocker, useLocation } from 'react-router'
import { screens } from '#contract/screens.ts'
import styles from './controls.module.css'
import type { ConfirmDialogProps } from './dialog.tsx'
import { LazyMount, lazyDialog } from './lazy-dialog.tsx'
import { FormError } from './notice.tsx'
import { texts } from './texts.ts'

const Asked = lazyDialog(async () => {
  const { ConfirmDialog } = await import('./dialog.tsx')
  return ({ onClose, ...dialog }: Omit<ConfirmDialogProps, 'onCancel'> & { onClose: () => void }) => (
    <ConfirmDialog {...dialog} onCancel={onClose} />
  )
})

export interface Confirmation {
  title: string
  /** A string is set as a paragraph. */
  body: ReactNode
  /** Red where something is lost. */
  tone?: 'plain' | 'danger'
  /** The verb on the button that goes ahead. */
  action: string
  /** The text of that button while `onConfirm` runs. */
  busy: string
  /** The text of the button that stays. */
  cancel?: string
  /** The dialog stays open until it has resolved; what it throws is shown in the dialog. */
  onConfirm: () => unknown
  /** The sentence around the reason of a failure; the reason alone by default. */
  failed?: (reason: string) => string
}

interface Question extends Confirmation {
  /** The address of the screen that asks: leaving it answers no. */
  pathname: string
  settle: (confirmed: boolean) => void
}

let question: Question | null = null
const listeners = new Set<() => void>()

function ask(next: Question | null): void {
  question = next
  for (const listener of listeners) listener()
}

function answer(asked: Question, confirmed: boolean): void {
  asked.settle(confirmed)
  if (question === asked) ask(null)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Asks before something happens: `await confirm({ title, body, tone: 'danger', action: 'Delete', busy: 'Deleting...', onConfirm })`.
 * Resolves to true once `onConfirm` has succeeded, to false on Cancel, on Escape and when the screen is left before.
 */
export function confirm(confirmation: Confirmation): Promise<boolean> {
  question?.settle(false)
  return new Promise((settle) => ask({ ...confirmation, pathname: window.location.pathname, settle }))
}

/** The dialog of `confirm`, once per page. `errorMessage` makes a sentence of what `onConfirm` threw. */
export function ConfirmHost({ errorMessage }: { errorMessage: (error: unknown) => string }): ReactNode {
  const asked = useSyncExternalStore(
    subscribe,
    () => question,
    () => null,
  )
  const { pathname } = useLocation()
  // The texts must stay while the dialog fades.
  const [shown, setShown] = useState(asked)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  if (asked && asked !== shown) {
    setShown(asked)
    setBusy(false)
    setProblem(null)
  }
  useEffect(() => {
    if (question && question.pathname !== pathname) answer(question, false)
  }, [pathname])

  const goAhead = async (confirmed: Question) => {
    setBusy(true)
    setProblem(null)
    try {
      await confirmed.onConfirm()
      answer(confirmed, true)
    } catch (error) {
      if (question !== confirmed) return
      const reason = errorMessage(error)
      setProblem(confirmed.failed?.(reason) ?? reason)
      setBusy(false)
    }
  }

  return (
    <LazyMount wanted={asked !== null}>
      {shown && (
        <Asked
          opened={asked !== null}
          title={shown.title}
          confirm={shown.action}
          confirmBusy={shown.busy}
          {...(shown.cancel === undefined ? {} : { cancel: shown.cancel })}
          busy={busy}
          tone={shown.tone ?? 'plain'}
          onConfirm={() => void goAhead(shown)}
          onClose={() => answer(shown, false)}
        >
          {typeof shown.body === 'string' ? <p className={styles.question}>{shown.body}</p> : shown.body}
          <FormError message={problem} />
        </Asked>
      )}
    </LazyMount>
  )
}

/** Leaving for the sign-in page is never blocked: the session has ended, so nothing can be saved any more. */
const signIn = screens.signIn

/** The guards of forms with unsaved changes. */
let unsavedForms: string[] = []

function keepUnsaved(forms: string[]): void {
  unsavedForms = forms
  for (const listener of listeners) listener()
}

/** Asks before a screen with unsaved changes is left; closing the tab asks in the browser's own words. One per form. */
export function UnsavedGuard({ unsaved }: { unsaved: boolean }): ReactNode {
  const id = useId()
  // The router supports a single blocker: one form asks for all of them.
  const asks = useSyncExternalStore(
    subscribe,
    () => unsavedForms[0] === id,
    () => false,
  )
  useEffect(() => {
    if (!unsaved) return
    keepUnsaved([...unsavedForms, id])
    return () => keepUnsaved(unsavedForms.filter((form) => form !== id))
  }, [unsaved, id])
  return asks && <LeavingGuard />
}

function LeavingGuard(): ReactNode {
  const blocker = useBlocker(
    ({ currentLocation: { pathname: here }, nextLocation: { pathname: there } }) => there !== here && there !== signIn,
  )
  useEffect(() => {
    // Fetched in advance: the question must also appear while offline.
    void import('./dialog.tsx').catch(() => undefined)
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  useEffect(() => {
    if (blocker.state !== 'blocked') return
    let current = true
    void confirm({
      title: texts.unsaved.title,
      body: texts.unsaved.text,
      tone: 'danger',
      action: texts.unsaved.leave,
      busy: texts.unsaved.leaving,
      cancel: texts.unsaved.stay,
      onConfirm: () => blocker.proceed(),
    }).then((left) => {
      if (!left && current) blocker.reset()
    })
    return () => {
      current = false
    }
  }, [blocker])
  return null
}
