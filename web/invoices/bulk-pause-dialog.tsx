import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Group, Radio } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn } from '#web/ui/dates.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { DateField } from '#web/ui/fields.tsx'
import { bulkTexts } from './bulk-texts.ts'
import styles from './pause-dialog.module.css'
import { texts } from './texts.ts'
import { useToday } from './use-today.ts'

const words = texts.pause
const week = 7 * 86_400_000

interface BulkPauseDialogProps {
  opened: boolean
  count: number
  /** How many more are selected that are paid. */
  paid: number
  busy: boolean
  /** `until` is the last quiet day, YYYY-MM-DD; null: for good. */
  onPause: (until: string | null) => void
  onClose: () => void
}

/** Asks how long many invoices are not reminded. */
export function BulkPauseDialog({ opened, count, paid, busy, onPause, onClose }: BulkPauseDialogProps): ReactNode {
  const last = useRef({ count, paid })
  if (opened) last.current = { count, paid }
  return (
    <Dialog opened={opened} onClose={busy ? () => undefined : onClose} title={bulkTexts.pauseTitle(last.current.count)} size={520}>
      {last.current.paid > 0 && <p className={styles.about}>{bulkTexts.paidLeftOut(last.current.paid)}</p>}
      <PauseLength busy={busy} onPause={onPause} onClose={onClose} />
    </Dialog>
  )
}

function PauseLength({ busy, onPause, onClose }: Pick<BulkPauseDialogProps, 'busy' | 'onPause' | 'onClose'>): ReactNode {
  const { zone, now, today } = useToday()
  const [length, setLength] = useState('until')
  const [until, setUntil] = useState(() => dateIn(zone, new Date(now.getTime() + week)))
  const [problem, setProblem] = useState<string | null>(null)
  const dated = length === 'until'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    const wrong = !dated ? null : !/^\d{4}-\d{2}-\d{2}$/.test(until) ? words.chooseDay : until < today ? words.pastDay : null
    setProblem(wrong)
    if (wrong === null) onPause(dated ? until : null)
  }
  return (
    <form noValidate onSubmit={submit}>
      <Radio.Group label={words.length} classNames={{ label: styles.label ?? '' }} value={length} onChange={setLength}>
        <Radio className={styles.choice ?? ''} value="until" label={words.until} />
        {dated && (
          <div className={styles.dated}>
            <DateField
              label={words.lastDay}
              description={words.lastDayHint}
              required
              value={until}
              onChange={(date) => {
                setUntil(date)
                setProblem(null)
              }}
              error={problem}
            />
          </div>
        )}
        <Radio className={styles.choice ?? ''} value="for-good" label={words.forGood} />
      </Radio.Group>
      <Group justify="flex-end" gap={12} mt={24}>
        <Button variant="default" onClick={onClose} disabled={busy}>
          {words.cancel}
        </Button>
        <BusyButton type="submit" busy={busy} busyText={words.busy}>
          {words.submit}
        </BusyButton>
      </Group>
    </form>
  )
}
