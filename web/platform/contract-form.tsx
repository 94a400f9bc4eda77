import { Group } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import {
  type ComponentProps,
  type FormEvent,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { Call, CallReply } from '#contract/call.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import styles from '#web/ui/controls.module.css'
import { FormError } from '#web/ui/notice.tsx'
import { useRefusal } from './account.tsx'
import { errorMessage, Problem } from './problem.ts'
import { applyToCache, type CacheEffects } from './query.ts'
import { newKey, type SendInput, sendIdempotent, sendWithSignal } from './send.ts'

type Values = Record<string, unknown>

interface ContractFormOptions<C extends Call, V extends Values> extends CacheEffects<C> {
  call: C
  initialValues: V
  /** Fields that were not touched follow `initialValues`, because others change the record too. */
  follows?: boolean
  /** The call's input from the fields, and what they were filled with or saved as; an empty optional field must become undefined here. */
  toInput: (values: V, before: V) => SendInput<C>
  /** Checks that the call's schema cannot express, such as a repeated password: one message per field. */
  check?: (values: V) => Record<string, string>
  /** Runs after a success, while the button is still busy; a Problem that it throws is shown. */
  onSuccess: (reply: CallReply<C>, values: V) => void | Promise<void>
  /** Sends the input in another way; null where nothing was saved and the person knows why. */
  send?: (input: SendInput<C>) => Promise<CallReply<C> | null>
  /** The call supports an Idempotency-Key: the same values sent again, after an answer that never came, have no second effect. */
  idempotent?: boolean
  /** Wraps the error that belongs to no field. */
  failure?: (message: string) => string
  /** The form shows the error itself. Not called for values that the fields refused. */
  onError?: (error: unknown) => void
}

export interface ContractFormState<V extends Values> {
  form: UseFormReturnType<V>
  busy: boolean
  /** The error that belongs to no field. */
  problem: string | null
  /** Why the person may not send it. */
  refused: string | undefined
  reset: () => void
  submit: (event: FormEvent<HTMLFormElement>) => Promise<void>
}

/** The state of a form that is sent as a call: validated by the call's schema, with the server's errors on the same fields. */
export function useContractForm<C extends Call, V extends Values>(options: ContractFormOptions<C, V>): ContractFormState<V> {
  const { call, initialValues, follows = false, toInput, check, onSuccess, onError, idempotent = false } = options
  const { failure = (message: string) => message } = options
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  /** Seconds until the error no longer applies (Retry-After). */
  const [passing, setPassing] = useState<number | null>(null)
  const refused = useRefusal(call.by)
  const sending = useRef(false)
  const lastSent = useRef({ input: '', key: '' })
  useEffect(() => {
    if (passing === null) return
    const timer = setTimeout(() => {
      setProblem(null)
      setPassing(null)
    }, passing * 1000)
    return () => clearTimeout(timer)
  }, [passing])
  const form: UseFormReturnType<V> = useForm<V>({
    initialValues,
    validate: (values) => {
      const { body } = toInput(values, form.getInitialValues()) as { body?: unknown }
      const parsed = call.body?.safeParse(body)
      const issues = parsed && !parsed.success ? parsed.error.issues : []
      const errors = issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
      return { ...byField(values, errors), ...check?.(values) }
    },
  })

  const newest = useRef(initialValues)
  useEffect(() => {
    if (!follows || Object.keys(changedFields(newest.current, initialValues)).length === 0) return
    newest.current = initialValues
    form.setValues(withTyped(initialValues, form.getInitialValues(), form.getValues()))
    form.resetDirty(initialValues)
  })

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    // A double click must not send twice: state is only updated at the next render.
    if (sending.current) return
    setProblem(null)
    setPassing(null)
    const { hasErrors, errors } = form.validate()
    if (hasErrors) {
      const strays = Object.entries(errors).filter(([path]) => !isField(initialValues, path))
      if (strays[0]) setProblem(String(strays[0][1]))
      focusFirst(event.currentTarget)
      return
    }
    const fields = event.currentTarget
    const values = form.getValues()
    const before = form.getInitialValues()
    sending.current = true
    setBusy(true)
    try {
      const input = toInput(values, before)
      const reply = options.send
        ? await options.send(input)
        : idempotent
          ? await sendIdempotent(call, input, keyFor(lastSent.current, input))
          : await sendWithSignal(call, input as object, null)
      if (reply === null) return
      if (follows) form.resetDirty(withTyped(form.getInitialValues(), before, values))
      await applyToCache(queries, options, reply, input)
      await onSuccess(reply, values)
    } catch (error) {
      const onFields =
        error instanceof Problem ? error.errors.filter(({ path }) => isField(initialValues, fieldOf(initialValues, path))) : []
      form.setErrors(byField(initialValues, onFields))
      const allPlaced = error instanceof Problem && onFields.length > 0 && onFields.length === error.errors.length
      setProblem(allPlaced ? null : failure(errorMessage(error)))
      if (error instanceof Problem) setPassing(error.retryAfter)
      if (onFields.length > 0) requestAnimationFrame(() => focusFirst(fields))
      onError?.(error)
    } finally {
      sending.current = false
      setBusy(false)
    }
  }

  const reset = () => {
    form.reset()
    setProblem(null)
  }

  return { form, busy, problem, refused, reset, submit }
}

interface ContractFormProps<V extends Values> {
  state: ContractFormState<V>
  submit: string
  /** The button's label while busy. */
  busy: string
  /** Further buttons; in a dialog they come before the submit button. */
  actions?: ReactNode
  /** Red where something is lost. */
  tone?: 'danger'
  /** Full width, as on the sign-in page. */
  wide?: boolean
  children: ReactNode
}

/**
 * The form around its fields: the submit button and the error that belongs to no field. In a dialog both are in its footer, the error
 * above the buttons, where it is visible. For someone who may not send it the fields are disabled too, with the reason.
 */
export function ContractForm<V extends Values>({ state, submit, busy, actions, tone, wide, children }: ContractFormProps<V>): ReactNode {
  const live = useLive()
  const frame = useRef<HTMLFormElement>(null)
  const { setValues, getValues } = state.form
  // A prerendered page accepts input before hydration: take over what was typed.
  useLayoutEffect(() => {
    const fields = [...(frame.current?.querySelectorAll<HTMLInputElement>('input[data-path]') ?? [])]
    const typed = fields.map(({ dataset, value }) => [dataset.path ?? '', value] as const)
    const news = typed.filter(([path, value]) => value !== '' && getValues()[path] === '')
    if (news.length > 0) setValues(Object.fromEntries(news) as Partial<V>)
  }, [setValues, getValues])
  const [inDialog, setInDialog] = useState(false)
  useLayoutEffect(() => setInDialog(frame.current?.closest('[role="dialog"]') instanceof HTMLElement), [])
  const send = (
    <BusyButton
      type="submit"
      busy={state.busy}
      busyText={busy}
      fullWidth={wide ?? false}
      disabled={!live || state.refused !== undefined}
      title={state.refused}
      className={state.refused === undefined ? (styles.submit ?? '') : ''}
      {...(tone === 'danger' ? { color: 'coral' } : {})}
    >
      {submit}
    </BusyButton>
  )
  return (
    // Before hydration the browser itself would submit the form: with POST, because GET would put a password into the address.
    <form ref={frame} method="post" noValidate onSubmit={(event) => void state.submit(event)} aria-busy={state.busy}>
      {state.refused === undefined ? (
        children
      ) : (
        <>
          {!inDialog && <p className={styles.refused}>{state.refused}</p>}
          <fieldset disabled title={state.refused} className={styles.allowed}>
            {children}
          </fieldset>
        </>
      )}
      {inDialog ? (
        <div className={styles.foot}>
          {state.refused !== undefined && <p className={styles.refused}>{state.refused}</p>}
          <FormError message={state.problem} />
          <Group justify="flex-end" mt={16} gap={12}>
            {actions}
            {send}
          </Group>
        </div>
      ) : (
        <>
          <Group mt={24} gap={12}>
            {send}
            {actions}
          </Group>
          <FormError message={state.problem} />
        </>
      )}
    </form>
  )
}

/** False until the prerendered page is hydrated. */
function useLive(): boolean {
  return useSyncExternalStore(
    () => () => undefined,
    () => true,
    () => false,
  )
}

/** The key of what was sent last where it is the same, else a new one. */
function keyFor(last: { input: string; key: string }, input: unknown): string {
  const text = JSON.stringify(input)
  if (text !== last.input) Object.assign(last, { input: text, key: newKey() })
  return last.key
}

/** Whether a dotted path names a field of the form, which may be inside another. */
function isField(values: Values, path: string): boolean {
  const step = (value: unknown, key: string) => (typeof value === 'object' && value !== null ? (value as Values)[key] : undefined)
  return path in values || path.split('.').reduce<unknown>(step, values) !== undefined
}

/** The field that a path of the call's body is about: where the body has the fields inside another, or a field is a list there, one of its parts. */
function fieldOf(values: Values, path: string): string {
  return isField(values, path) ? path : (path.split('.').find((part) => part in values) ?? path)
}

/** The first message of each field. */
function byField(values: Values, errors: { path: string; message: string }[]): Record<string, string> {
  const first: Record<string, string> = {}
  for (const { path, message } of errors) first[fieldOf(values, path)] ??= message
  return first
}

function focusFirst(form: HTMLFormElement): void {
  requestAnimationFrame(() => {
    const field = form.querySelector<HTMLElement>('[aria-invalid="true"]')
    field?.focus()
    // The field's error message must be visible too.
    field?.closest('.mantine-InputWrapper-root')?.scrollIntoView({ block: 'nearest' })
  })
}

const loadChanges = () => import('#web/platform/sequences/plan-changes.tsx')
const LoadedChanges = lazy(() =>
  loadChanges().then(
    (plan) => ({ default: plan.ChangesBeside }),
    // Without it the form works as ever.
    () => ({ default: () => null }),
  ),
)

/** The fingerprint of the plan that `ChangesAhead` shows, for the call that saves the change; undefined while none is shown. */
export function useShownPlan(): { fingerprint: { readonly current: string | undefined }; onShown: (shown: string | undefined) => void } {
  const fingerprint = useRef<string>(undefined)
  const onShown = useCallback((shown: string | undefined) => {
    fingerprint.current = shown
  }, [])
  return { fingerprint, onShown }
}

/** What a change would do to the emails of the next days, beside the fields that hold it; its code is loaded on first use. */
export function ChangesAhead(props: ComponentProps<typeof LoadedChanges>): ReactNode {
  return (
    <Suspense>
      <LoadedChanges {...props} />
    </Suspense>
  )
}

/** Only the fields that differ, so that a change made elsewhere is not overwritten. Lists differ by what they contain. */
export function changedFields<D extends object>(before: D, after: D): Partial<D> {
  const was = new Map(Object.entries(before))
  const differs = ([field, value]: [string, unknown]) => JSON.stringify(was.get(field)) !== JSON.stringify(value)
  return Object.fromEntries(Object.entries(after).filter(differs)) as Partial<D>
}

/** The newest values, but for those that were typed over `before`. */
export function withTyped<V extends object>(newest: V, before: V, typed: V): V {
  return { ...newest, ...changedFields(before, typed) }
}
