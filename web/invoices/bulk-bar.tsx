import { Button, CloseButton } from '@mantine/core'
import { IconCircleCheck, IconPlayerPause, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { formatRupees, fromMinor, toMinor } from '#contract/money.ts'
import { showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './bulk-bar.module.css'
import { bulkTexts } from './bulk-texts.ts'
import { useBulk } from './use-bulk.ts'
import type { Selection } from './use-selection.ts'

const BulkDeleteDialog = lazyDialog(async () => (await import('./bulk-delete-dialog.tsx')).BulkDeleteDialog)
const BulkPauseDialog = lazyDialog(async () => (await import('./bulk-pause-dialog.tsx')).BulkPauseDialog)

/** What can be done with the chosen invoices; it stands at the foot of the window for as long as any is chosen. */
export function BulkBar({ selection, shown }: { selection: Selection; shown: number; onClose: () => void }): ReactNode {
  const { chosen, clear, chooseAll } = selection
  const { change, busy } = useBulk()
  const [asking, setAsking] = useState<'delete' | 'pause' | null>(null)
  const open = chosen.filter(({ status }) => status !== 'paid')
  const sum = formatRupees(fromMinor(chosen.reduce((total, { amount }) => total + (toMinor(amount) ?? 0), 0)))
  const close = () => setAsking(null)
  const withOpen = (act: () => void) => () => (open.length === 0 ? toast('info', bulkTexts.nothingOpen) : act())
  const finish = () => {
    close()
    clear()
  }
  return (
    <>
      {chosen.length > 0 && (
        <section className={styles.bar} aria-label={bulkTexts.label}>
          <p className={styles.count} role="status">
            <strong>{busy ? bulkTexts.working : bulkTexts.selected(chosen.length)}</strong>
            <span className={styles.sum}>{sum}</span>
          </p>
          {chosen.length < shown && (
            <Button variant="subtle" onClick={chooseAll} disabled={busy} className={styles.all ?? ''}>
              {bulkTexts.all(shown)}
            </Button>
          )}
          <div className={styles.actions}>
            <Button
              variant="default"
              disabled={busy}
              leftSection={<IconCircleCheck size={18} stroke={1.7} />}
              onClick={withOpen(() => change({ invoices: open, change: { do: 'mark', status: 'paid' }, done: bulkTexts.marked }, finish))}
            >
              {bulkTexts.paid}
            </Button>
            <Button
              variant="default"
              disabled={busy}
              leftSection={<IconPlayerPause size={18} stroke={1.7} />}
              onClick={withOpen(() => setAsking('pause'))}
            >
              {bulkTexts.pause}
            </Button>
            <Button
              variant="default"
              disabled={busy}
              className={styles.danger ?? ''}
              leftSection={<IconTrash size={18} stroke={1.7} />}
              onClick={() => setAsking('delete')}
            >
              {bulkTexts.remove}
            </Button>
          </div>
          <CloseButton
            size={44}
            iconSize={20}
            aria-label={bulkTexts.clear}
            onClick={clear}
            disabled={busy}
            className={styles.clear ?? ''}
          />
        </section>
      )}
      <LazyMount wanted={asking === 'delete'}>
        <BulkDeleteDialog
          opened={asking === 'delete'}
          count={chosen.length}
          sum={sum}
          busy={busy}
          onDelete={() => change({ invoices: chosen, change: { do: 'delete' }, done: bulkTexts.removed }, finish)}
          onClose={close}
        />
      </LazyMount>
      <LazyMount wanted={asking === 'pause'}>
        <BulkPauseDialog
          opened={asking === 'pause'}
          count={open.length}
          paid={chosen.length - open.length}
          busy={busy}
          onPause={(until) =>
            change(
              {
                invoices: open,
                change: { do: 'pause', until, note: '', promised: false },
                done: (count) => bulkTexts.paused(count, until === null ? null : showDate(until)),
              },
              finish,
            )
          }
          onClose={close}
        />
      </LazyMount>
    </>
  )
}
