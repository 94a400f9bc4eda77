import '@mantine/core/styles/PasswordInput.layer.css'
import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import controls from './controls.module.css'
import { texts } from './texts.ts'

/** A password that can be shown. The eye says what it will do. */
export function PasswordField(props: PasswordInputProps): ReactNode {
  const [visible, { toggle }] = useDisclosure(false)
  return (
    <PasswordInput
      rightSectionWidth={44}
      {...props}
      classNames={{ visibilityToggle: controls.eye ?? '' }}
      visible={visible}
      onVisibilityChange={toggle}
      visibilityToggleButtonProps={{ 'aria-label': visible ? texts.password.hide : texts.password.show, tabIndex: 0 }}
    />
  )
}
