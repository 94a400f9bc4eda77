import type { ReactNode } from 'react'
import type { RunAnswer } from '#contract/reminders.ts'
import { ScrollList } from '#web/ui/due-list.tsx'
import styles from './trigger.module.css'
import { triggerTexts as texts } from './trigger-texts.ts'
import { useArrivalFocus } from './use-arrival-focus.ts'

/** In sentences what became of it, where not everybody was reached: what left, what failed and why, what is still to come. */
export function TriggerResult({ answer }: { answer: RunAnswer }): ReactNode {
  const { count, failed, skipped, retrying, failures } = answer
  const arrived = useArrivalFocus<HTMLDivElement>()
  return (
    <div ref={arrived} tabIndex={-1} className={styles.arrived}>
      {count > 0 && <p className={styles.words}>{texts.sent(count)}</p>}
      {retrying > 0 && <p className={styles.words}>{texts.underWay(retrying)}</p>}
      {failed > 0 && <p className={styles.words}>{texts.failedOnes(failed)}</p>}
      {failures.length > 0 && (
        <ScrollList label={texts.failedOnes(failed)}>
          {failures.map(({ invoiceId, clientEmail, message }) => (
            <li key={invoiceId}>
              <span className={styles.client}>{clientEmail}</span>
              <span className={styles.said}>{message === '' ? texts.noWords : <q>{message}</q>}</span>
            </li>
          ))}
        </ScrollList>
      )}
      {skipped > 0 && <p className={styles.quiet}>{texts.skipped(skipped)}</p>}
    </div>
  )
}
