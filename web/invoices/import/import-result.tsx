import { Button, Group } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { saveFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { writeCsv } from './csv.ts'
import styles from './import.module.css'
import { texts } from './texts.ts'
import type { Import } from './use-import.ts'

const listed = 8

/** How many invoices were created, which rows were skipped and why, and how to continue or undo. */
export function ImportResult({ running, onClose }: { running: Import; onClose: () => void }): ReactNode {
  const { state, created, skipped, sent, total, problem, unsure, resume, undo } = running
  const [undoing, setUndoing] = useState(false)
  const undoAll = async () => {
    setUndoing(true)
    try {
      const deleted = await undo()
      toast('good', deleted === 0 ? texts.noneArrived : invoiceTexts.deleted(deleted))
      onClose()
    } catch (error) {
      toast('bad', invoiceTexts.undoFailed(errorMessage(error)))
      setUndoing(false)
    }
  }
  const save = () => {
    const rows = skipped.map(({ row, message }) => [String(row.number), ...row.cells, message])
    saveFile(writeCsv(rows), 'duely-skipped-rows.csv')
  }
  const unfinished = state === 'stopped' ? texts.stopped(total - sent) : problem !== null ? texts.interrupted(problem, unsure) : null
  return (
    <>
      <div role="status">
        <h3 className={styles.doneTitle}>
          {created.length > 0 ? texts.doneTitle(created.length) : unsure > 0 ? texts.interruptedTitle : texts.noneTitle}
        </h3>
      </div>
      {created.length > 0 && <p className={styles.dim}>{texts.noEmails}</p>}
      {unfinished !== null && (
        <div className={styles.unfinished}>
          <Notice
            tone={state === 'broken' ? 'bad' : 'warn'}
            action={
              <Button onClick={resume} disabled={undoing}>
                {texts.continue}
              </Button>
            }
          >
            {unfinished}
          </Notice>
        </div>
      )}
      {skipped.length > 0 && (
        <>
          <p className={styles.skippedTitle}>{texts.skipped(skipped.length)}</p>
          <ul className={styles.skipped}>
            {skipped.slice(0, listed).map(({ row, message }) => (
              <li key={row.number}>{texts.skippedRow(row.number, message)}</li>
            ))}
          </ul>
          {skipped.length > listed && <p className={styles.dim}>{texts.moreSkipped(skipped.length - listed)}</p>}
          <Button variant="default" leftSection={<IconDownload size={18} stroke={1.7} />} onClick={save}>
            {texts.saveSkipped}
          </Button>
        </>
      )}
      <Group justify="flex-end" gap={12} mt={24}>
        {(created.length > 0 || unsure > 0) && (
          <BusyButton variant="default" busy={undoing} busyText={texts.undoBusy} onClick={() => void undoAll()}>
            {texts.undo}
          </BusyButton>
        )}
        <Button variant={unfinished === null ? 'filled' : 'default'} onClick={onClose} disabled={undoing} data-autofocus>
          {texts.close}
        </Button>
      </Group>
    </>
  )
}
