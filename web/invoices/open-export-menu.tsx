import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { Menu } from '@mantine/core'
import type { ReactElement, ReactNode, RefObject } from 'react'
import { useOpening } from '#web/ui/hooks.ts'
import { texts } from './texts.ts'

const words = texts.exporting

interface OpenExportMenuProps {
  /** How many are shown. */
  shown: number
  onAll: () => void
  onShown: () => void
  onClose: () => void
  /** The button that it hangs on. */
  button: (ref: RefObject<HTMLButtonElement | null>) => ReactElement
}

/** The choice of what is exported, opened. */
export function OpenExportMenu({ shown, onAll, onShown, button }: OpenExportMenuProps): ReactNode {
  const { ref, opened, onChange } = useOpening()
  return (
    <Menu position="bottom-end" width={240} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>{button(ref)}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onAll}>{words.all}</Menu.Item>
        <Menu.Item disabled={shown === 0} onClick={onShown}>
          {words.shown(shown)}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
