import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Checkbox } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { FormError } from '#web/ui/form-error.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './email-templates.module.css'
import { type LetterKind, letters } from './letters.ts'
import { texts } from './texts.ts'

/** Nothing is saved by itself in this time after the template has come. */
const settling = 100

/** Saved by being pressed; when that fails it goes back to what is true. */
export function CustomSwitch({ kind, on }: { kind: LetterKind; on: boolean }): ReactNode {
  const { read, save } = letters[kind]
  const [wanted, setWanted] = useState<boolean | null>(null)
  const settled = useRef(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.current = true
    }, settling)
    return () => clearTimeout(timer)
  }, [])
  const change = useApiMutation(save, {
    invalidates: [read],
    onSuccess: () => setWanted(null),
    onError: (error) => {
      setWanted(null)
      toast('bad', <span className={styles.brief}>{texts.preferenceFailed(errorMessage(error))}</span>)
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
          if (!settled.current || change.isPending) return
          setWanted(event.currentTarget.checked)
          change.mutate({ body: { useCustomTemplate: event.currentTarget.checked } })
        }}
      />
      <FormError message={change.isError ? texts.preferenceFailed(errorMessage(change.error)) : null} />
    </div>
  )
}
