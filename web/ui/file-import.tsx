import { Loader, VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import styles from './file-import.module.css'
import { fileTexts as texts } from './file-texts.ts'
import { FormError } from './notice.tsx'

const maxBytes = 10 * 1024 * 1024
interface FileDropProps {
  /** Where such files come from, and what happens next. */
  hint: string
  /** Which columns are needed. */
  columns: string
  /** What it asks for, and on a touch screen; and the endings of such files besides those of tables. */
  title?: { drop: string; choose: string; endings: string }
  reading: boolean
  /** Why the last file was not read. */
  problem: string | null
  onFile: (file: File) => void
}

/** Takes a file that is chosen, or dropped anywhere on the window. */
export function FileDrop({ title = { ...texts, endings: '' }, hint, columns, reading, problem, onFile }: FileDropProps): ReactNode {
  // Touch screens cannot drop a file.
  const isTouch = useMediaQuery('(hover: none), (max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [over, setOver] = useState(false)
  const [tooBig, setTooBig] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const read = (file: File | undefined) => {
    if (!file) return
    setTooBig(file.size > maxBytes)
    if (file.size <= maxBytes) onFile(file)
  }
  const latestRead = useRef(read)
  latestRead.current = read
  // On the whole window: dropped beside the frame, the file would replace the page.
  useEffect(() => {
    // Also by the frame around it, for someone who may not choose a file.
    const disabled = () => input.current?.matches(':disabled') === true
    const over = (event: DragEvent) => {
      event.preventDefault()
      setOver(!disabled())
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      if (!disabled()) latestRead.current(event.dataTransfer?.files[0])
    }
    const listening = new AbortController()
    window.addEventListener('dragover', over, listening)
    window.addEventListener('dragleave', leave, listening)
    window.addEventListener('drop', drop, listening)
    return () => listening.abort()
  }, [])
  return (
    <>
      <button type="button" className={styles.drop} data-over={over || undefined} data-autofocus onClick={() => input.current?.click()}>
        {reading ? <Loader size={34} /> : <IconFileUpload size={34} stroke={1.4} aria-hidden />}
        <strong className={styles.dropTitle}>{reading ? texts.reading : isTouch ? title.choose : title.drop}</strong>
        <span className={styles.dim}>{hint}</span>
      </button>
      <CsvInput ref={input} label={title.choose} endings={title.endings} onFile={read} />
      <VisuallyHidden role="status">{reading && texts.reading}</VisuallyHidden>
      <FormError message={tooBig ? texts.tooBig : problem} />
      <p className={styles.hint}>{columns}</p>
    </>
  )
}

/** What opens the choice of a CSV file when it is clicked; it is hidden behind a button. */
export function CsvInput({
  ref,
  label,
  endings = '',
  onFile,
}: {
  ref: RefObject<HTMLInputElement | null>
  label: string
  endings?: string
  onFile: (file: File) => void
}): ReactNode {
  return (
    <input
      ref={ref}
      type="file"
      accept={`.csv,.tsv,.txt,text/csv,.xlsx,.xls,.ods${endings}`}
      hidden
      aria-label={label}
      onChange={(event) => {
        const [file] = event.currentTarget.files ?? []
        if (file) onFile(file)
        // Without this, choosing the same file again after correcting it would do nothing.
        event.currentTarget.value = ''
      }}
    />
  )
}
