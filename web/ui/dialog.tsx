import { Modal, type ModalProps } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'

/** A window over the screen. It opens a moment after it is there: one that is there and open at once would not know where the focus goes back to. */
export function Dialog({ opened, ...modal }: ModalProps): ReactNode {
  const [shown, setShown] = useState(false)
  useEffect(() => setShown(opened), [opened])
  return <Modal {...modal} opened={shown} />
}
