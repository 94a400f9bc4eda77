import type { ReactNode } from 'react'
import styles from './file-questions.module.css'
import { fileTexts as texts } from './file-texts.ts'

/** A file that was opened, as far as its sheets say. */
export interface SheetsOfFile {
  name: string
  sheets: { name: string | null; rows: number; hiddenRows: number[]; isTable: boolean }[]
  hiddenSheets: string[]
}

/** The sheet that is read: the only one, or the only one with the headings of a table; null where that is asked. */
export function onlySheet({ sheets }: Pick<SheetsOfFile, 'sheets'>): number | null {
  const tables = sheets.flatMap(({ isTable }, at) => (isTable ? [at] : []))
  return sheets.length === 1 ? 0 : tables.length === 1 ? (tables[0] ?? null) : null
}

interface FileLineProps {
  file: SheetsOfFile
  sheet: number | null
  onSheet: () => void
  onOther: () => void
  /** What else is known about it. */
  children?: ReactNode
}

/** Which file and sheet is read, and what of it is not. */
export function FileLine({ file: { name, sheets, hiddenSheets }, sheet, onSheet, onOther, children }: FileLineProps): ReactNode {
  const shown = sheet === null ? undefined : sheets[sheet]
  return (
    <p className={styles.file}>
      <span>
        <strong>{name}</strong>
        {shown?.name != null && sheets.length + hiddenSheets.length > 1 && `, ${texts.sheet(shown.name)}`}
      </span>
      {shown && <span>{texts.rows(shown.rows)}</span>}
      {hiddenSheets.length > 0 && <span>{texts.hiddenSheets(hiddenSheets)}</span>}
      {shown && shown.hiddenRows.length > 0 && <span>{texts.hiddenRows(shown.hiddenRows)}</span>}
      {children}
      {shown && sheets.length > 1 && (
        <button type="button" className={styles.link} onClick={onSheet}>
          {texts.otherSheet}
        </button>
      )}
      <button type="button" className={styles.link} onClick={onOther}>
        {texts.other}
      </button>
    </p>
  )
}

interface SheetQuestionProps {
  title: string
  file: SheetsOfFile
  onChoose: (sheet: number) => void
}

export function SheetQuestion({ title, file, onChoose }: SheetQuestionProps): ReactNode {
  return (
    <section className={styles.questions}>
      <fieldset className={styles.question}>
        <legend className={styles.questionTitle}>{title}</legend>
        <div className={styles.options}>
          {file.sheets.map(({ name, rows }, at) => (
            <label key={name ?? at} className={styles.option}>
              <input type="radio" name="sheet" checked={false} onChange={() => onChoose(at)} />
              <span>
                <strong>{name}</strong>
                <small>{texts.rows(rows)}</small>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </section>
  )
}
