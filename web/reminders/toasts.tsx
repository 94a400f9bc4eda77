import type { ReactNode } from 'react'
import type { Run } from '#contract/reminders.ts'
import { toast } from '#web/ui/toast.tsx'
import styles from './control.module.css'
import { mailsOf } from './run-state.ts'
import { texts } from './texts.ts'

/** A long sentence cut to what a toast can hold; the whole of it stands on the page. */
export function brief(message: string): ReactNode {
  return <span className={styles.brief}>{message}</span>
}

/** Says that reminders are stopped, and how many waiting mails that cancelled. */
export function stoppedToast(cancelled: number): void {
  toast(
    'good',
    <>
      <div>{texts.stop.done}</div>
      {cancelled > 0 && <div>{texts.stop.cancelled(cancelled)}</div>}
    </>,
  )
}

/** Says how a run by hand ended; what was only queued or held is never called sent. */
export function report(run: Run): void {
  const of = mailsOf(run)
  if (run.cancelledAt !== null) return
  if (of === 0) toast('info', texts.sendNow.nobodyLeft)
  else if (run.sent === of) toast('good', texts.sendNow.done(run.sent))
  else reportTrouble(run)
}

/** Says it where a run did not reach everybody. */
function reportTrouble(run: Run): void {
  if (run.cancelledAt === null && run.sent < mailsOf(run)) toast('bad', texts.run.shortfall(run))
}

/** After a start that succeeded. What is held back is no failure of it: the run on the screen says what it waits for. */
export function reportStart(run: Run): void {
  if (run.failed + run.retrying > 0) reportTrouble(run)
}
