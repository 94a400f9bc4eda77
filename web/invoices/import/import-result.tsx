import { Button, Group } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '#web/platform/problem.ts'
import { saveFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { writeTable } from './csv.ts'
import styles from './import.module.css'
import { texts } from './texts.ts'
import type { Importing } from './use-import.ts'

const listed = 8

/** What became of the file: how many are there now, and which lines were left out and why. */
export function ImportResult({ running, onClose }: { running: Importing; onClose: () => void }): ReactNode {
  const { state, created, leftOut, sent, total, problem, unsure, goOn, undo } = running
  const [undoing, setUndoing] = useState(false)
  const takeBack = async () => {
    setUndoing(true)
    try {
      const count = await undo()
      toast('good', count === 0 ? texts.noneArrived : texts.deleted(count))
      onClose()
    } catch (error) {
      toast('bad', texts.undoFailed(errorMessage(error)))
      setUndoing(false)
    }
  }
  const save = () => {
    const lines = leftOut.map(({ line, message }) => [String(line.line), ...line.cells, message])
    saveFile(writeTable(lines), 'duely-lines-left-out.csv')
  }
  const unfinished =
    state === 'stopped' ? texts.stopped(total - sent) : problem !== null ? texts.brokeOff(problem, total - sent, unsure) : null
  return (
    <>
      <div role="status">
        <h3 className={styles.doneTitle}>
          {created.length > 0 ? texts.doneTitle(created.length) : unsure > 0 ? texts.unsureTitle : texts.noneTitle}
        </h3>
      </div>
      {created.length > 0 && <p className={styles.dim}>{texts.mails}</p>}
      {unfinished !== null && (
        <div className={styles.unfinished}>
          <Notice
            tone={state === 'broken' ? 'bad' : 'warn'}
            action={
              <Button onClick={goOn} disabled={undoing}>
                {texts.goOn}
              </Button>
            }
          >
            {unfinished}
          </Notice>
        </div>
      )}
      {leftOut.length > 0 && (
        <>
          <p className={styles.leftTitle}>{texts.left(leftOut.length)}</p>
          <ul className={styles.left}>
            {leftOut.slice(0, listed).map(({ line, message }) => (
              <li key={line.line}>{texts.leftLine(line.line, message)}</li>
            ))}
          </ul>
          {leftOut.length > listed && <p className={styles.dim}>{texts.moreLeft(leftOut.length - listed)}</p>}
          <Button variant="default" leftSection={<IconDownload size={18} stroke={1.7} />} onClick={save}>
            {texts.saveLeft}
          </Button>
        </>
      )}
      <Group justify="flex-end" gap={12} mt={24}>
        {(created.length > 0 || unsure > 0) && (
          <BusyButton variant="default" busy={undoing} busyText={texts.undoBusy} onClick={() => void takeBack()}>
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
