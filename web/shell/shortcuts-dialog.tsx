import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Modal, Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './palette.module.css'
import { paletteTexts } from './palette-texts.ts'
import { useSingleKeys } from './use-shortcuts.ts'

/** Every key that does something, and the switch that turns the single ones off. */
export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [on, setOn] = useSingleKeys()
  const { keys } = paletteTexts
  return (
    <Modal opened={opened} onClose={onClose} title={keys.title} size={480}>
      <dl className={styles.keys}>
        {keys.list().map(({ does, press }) => (
          <div key={does} className={styles.key}>
            <dt>{does}</dt>
            <dd>
              {press.map((one) => (
                <kbd key={one} className={styles.kbd}>
                  {one}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Switch
        className={styles.switch ?? ''}
        label={keys.single}
        description={keys.singleHint}
        checked={on}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
    </Modal>
  )
}
