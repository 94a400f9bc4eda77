import type { ReactNode } from 'react'
import { texts } from './texts.ts'
import { dismissToast, toast } from './toast.tsx'
import styles from './undo-toast.module.css'

/** Says what was done, and takes it back on demand for as long as the message stands there. */
export function undoToast(message: string, undo: () => void): void {
  const shown: { id: string | null } = { id: null }
  const takeBack = () => {
    if (shown.id !== null) dismissToast(shown.id)
    undo()
  }
  shown.id = toast('info', <Undo message={message} onUndo={takeBack} />)
}

function Undo({ message, onUndo }: { message: string; onUndo: () => void }): ReactNode {
  return (
    <span className={styles.done}>
      {message}
      <button type="button" className={styles.undo} onClick={onUndo}>
        {texts.undo}
      </button>
    </span>
  )
}
