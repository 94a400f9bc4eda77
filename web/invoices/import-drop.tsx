import { useMediaQuery } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { FormError } from '#web/ui/notice.tsx'
import styles from './import.module.css'
import { importTexts } from './import-texts.ts'
import { type FileLine, readTable } from './read-table.ts'

const words = importTexts
const largest = 10 * 1024 * 1024
const mostLines = 20_000

/** Where a file is dropped or chosen. */
export function ImportDrop({ onFile }: { onFile: (name: string, lines: FileLine[]) => void }): ReactNode {
  // Nothing is dropped with a finger.
  const touched = useMediaQuery('(hover: none), (max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [over, setOver] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > largest) return setProblem(words.tooBig)
    const bytes = await file.arrayBuffer().catch(() => null)
    const table = bytes ? readTable(bytes) : { kind: 'unreadable' as const }
    switch (table.kind) {
      case 'lines':
        return table.lines.length > mostLines
          ? setProblem(words.tooLong(mostLines.toLocaleString('en-IN')))
          : onFile(file.name, table.lines)
      case 'not-csv':
        return setProblem(words.notCsv)
      case 'unknown-coding':
        return setProblem(words.unknownCoding)
      case 'unreadable':
        return setProblem(words.unreadable)
      case 'empty':
        return setProblem(words.empty)
    }
  }
  const reading = useRef(read)
  reading.current = read
  // Wherever in the window it is dropped: beside the frame, the browser would leave the page to show the file.
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      void reading.current(event.dataTransfer?.files[0])
    }
    const heard = new AbortController()
    window.addEventListener('dragover', over, heard)
    window.addEventListener('dragleave', leave, heard)
    window.addEventListener('drop', drop, heard)
    return () => heard.abort()
  }, [])
  return (
    <>
      <button type="button" className={styles.drop} data-over={over || undefined} data-autofocus onClick={() => input.current?.click()}>
        <IconFileUpload size={34} stroke={1.4} aria-hidden />
        <strong className={styles.dropTitle}>{touched ? words.choose : words.drop}</strong>
        <span className={styles.dim}>{words.dropHint}</span>
      </button>
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        hidden
        aria-label={words.choose}
        onChange={(event) => {
          void read(event.currentTarget.files?.[0])
          // The same file, mended, can be chosen again.
          event.currentTarget.value = ''
        }}
      />
      <FormError message={problem} />
      <p className={styles.needs}>{words.needs}</p>
    </>
  )
}
