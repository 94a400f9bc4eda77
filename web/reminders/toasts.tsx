import type { ReactNode } from 'react'
import { toast } from '#web/ui/toast.tsx'
import look from './control.module.css'
import { texts } from './texts.ts'

/** A long sentence cut to what a toast can hold; the whole of it stands on the page. */
export function brief(message: string): ReactNode {
  return <span className={look.brief}>{message}</span>
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
