import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Radio } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import Papa from 'papaparse'
import { type ReactNode, useId, useState } from 'react'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { saveFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import fileStyles from '#web/ui/file-import.module.css'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './import.module.css'
import type { Import, LateChoice, NotImported } from './import-dialog.tsx'
import { texts } from './texts.ts'

/** How many invoices were created, which lines were not and why, what happens to those past due, and how to continue or undo. */
export function ImportResult({ running, onClose }: { running: Import; onClose: () => void }): ReactNode {
  const { state, created, again, noted, held, notImported, head, sent, total, problem, unsure, resume, undo, settle } = running
  const { today } = useToday()
  const [working, setWorking] = useState<'undo' | 'settle' | null>(null)
  const [choice, setChoice] = useState<LateChoice>('hold')
  const [failure, setFailure] = useState<string | null>(null)
  const undoAll = async () => {
    setWorking('undo')
    try {
      const { deleted, restored, kept } = await undo()
      if (kept.length > 0) toast('bad', texts.again.kept(kept.map(({ message }) => message)))
      else if (deleted + restored === 0) toast('good', texts.noneArrived)
      else toast('good', restored > 0 ? texts.again.undone(deleted, restored) : invoiceTexts.deleted(deleted))
      onClose()
    } catch (error) {
      toast('bad', invoiceTexts.undoFailed(errorMessage(error)))
      setWorking(null)
    }
  }
  const finish = async () => {
    if (held.length === 0) return onClose()
    setWorking('settle')
    setFailure(null)
    try {
      await settle(choice, today)
      toast('good', texts.late.done[choice](held.length))
      onClose()
    } catch (error) {
      setFailure(texts.late.failed(errorMessage(error)))
      setWorking(null)
    }
  }
  const hasChanged = created.length > 0 || (again?.updated ?? 0) > 0
  const unfinished = state === 'stopped' ? texts.stopped(total - sent) : problem !== null ? texts.interrupted(problem, unsure) : null
  return (
    <>
      <div role="status">
        <h3 className={styles.doneTitle}>
          {again
            ? texts.again.doneTitle(created.length, again.updated, again.unchanged)
            : created.length > 0
              ? texts.doneTitle(created.length)
              : unsure > 0
                ? texts.interruptedTitle
                : texts.noneTitle}
        </h3>
      </div>
      {hasChanged && <p className={styles.dim}>{texts.noEmails}</p>}
      {unfinished !== null && (
        <div className={styles.unfinished}>
          <Notice
            tone={state === 'broken' ? 'bad' : 'warn'}
            action={
              <Button onClick={resume} disabled={working !== null}>
                {texts.continue}
              </Button>
            }
          >
            {unfinished}
          </Notice>
        </div>
      )}
      {held.length > 0 && <LateQuestion count={held.length} choice={choice} onChange={setChoice} />}
      <FormError message={failure} />
      <LineList title={texts.again.noted(noted.length)} lines={noted} />
      <LineList title={texts.notImported(notImported.length)} lines={notImported}>
        <SaveNotImported lines={notImported} head={head} />
      </LineList>
      <div className={fileStyles.buttons}>
        {(hasChanged || unsure > 0) && (
          <BusyButton
            variant="default"
            busy={working === 'undo'}
            busyText={texts.undoBusy}
            disabled={working === 'settle'}
            onClick={() => void undoAll()}
          >
            {texts.undo}
          </BusyButton>
        )}
        <BusyButton
          variant={unfinished === null ? 'filled' : 'default'}
          busy={working === 'settle'}
          busyText={texts.late.busy}
          onClick={() => void finish()}
          disabled={working === 'undo'}
          data-autofocus
        >
          {texts.close}
        </BusyButton>
      </div>
    </>
  )
}

interface LateQuestionProps {
  count: number
  choice: LateChoice
  onChange: (choice: LateChoice) => void
}

/** Asks about invoices past due. They are held until the answer is saved. */
function LateQuestion({ count, choice, onChange }: LateQuestionProps): ReactNode {
  return (
    <Radio.Group<LateChoice>
      className={styles.late ?? ''}
      label={texts.late.title(count)}
      classNames={{ label: styles.lateTitle ?? '' }}
      value={choice}
      onChange={onChange}
    >
      {(['hold', 'remind', 'paid'] as const).map((value) => (
        <Radio
          key={value}
          className={styles.lateChoice ?? ''}
          classNames={{ description: styles.lateHint ?? '' }}
          value={value}
          label={texts.late.choices[value]}
          description={texts.late.hints[value]}
        />
      ))}
    </Radio.Group>
  )
}

const listed = 8

interface LinesProps {
  lines: NotImported[]
  head: string[] | null
}

/** Lines and why they are listed, a sentence for each reason. */
function LineList({ title, lines, children }: { title: string; lines: NotImported[]; children?: ReactNode }): ReactNode {
  const id = useId()
  if (lines.length === 0) return null
  const byReason = new Map<string, number[]>()
  for (const { row, message } of lines) {
    const rows = byReason.get(message)
    if (rows) rows.push(row.number)
    else byReason.set(message, [row.number])
  }
  const reasons = [...byReason].sort(([, one], [, other]) => other.length - one.length)
  const more = reasons.slice(listed).reduce((sum, [, rows]) => sum + rows.length, 0)
  return (
    <section className={styles.notImported} aria-labelledby={id}>
      <h4 id={id} className={styles.notImportedTitle}>
        {title}
      </h4>
      <ul className={styles.reasons}>
        {reasons.slice(0, listed).map(([message, rows]) => (
          <li key={message}>
            {message} {rows[0] !== 0 && <span className={styles.lines}>{texts.lines(rows)}</span>}
          </li>
        ))}
      </ul>
      {more > 0 && <p className={styles.dim}>{texts.moreReasons(more)}</p>}
      {children}
    </section>
  )
}

/** Saves the lines as they are in the file, with their number and the reason, so that they can be corrected and imported. */
export function SaveNotImported({ lines, head }: LinesProps): ReactNode {
  if (lines.length === 0) return null
  const save = () => {
    const width = Math.max(head?.length ?? 0, ...lines.map(({ row }) => row.cells.length))
    const padded = (cells: string[]) => Array.from({ length: width }, (_, column) => cells[column] ?? '')
    const names = head === null ? [] : [[texts.savedRow, ...padded(head), texts.savedReason]]
    const rows = lines.map(({ row, message }) => [String(row.number), ...padded(row.cells), message])
    saveFile(writeCsv([...names, ...rows]), texts.savedName)
  }
  return (
    <Button variant="default" leftSection={<IconDownload size={18} stroke={1.7} />} onClick={save}>
      {texts.save}
    </Button>
  )
}

/** CSV in UTF-8 with a byte order mark; text that looks like a formula is escaped. */
function writeCsv(rows: string[][]): Blob {
  return new Blob(['\uFEFF', Papa.unparse(rows, { quotes: true, escapeFormulae: true, newline: '\r\n' })], { type: 'text/csv' })
}
