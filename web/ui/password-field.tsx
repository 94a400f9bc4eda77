import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'

/** A password that can be shown. The eye says what it will do. */
export function PasswordField(props: PasswordInputProps): ReactNode {
  const [visible, { toggle }] = useDisclosure(false)
  return (
    <PasswordInput
      {...props}
      visible={visible}
      onVisibilityChange={toggle}
      visibilityToggleButtonProps={{ 'aria-label': visible ? 'Hide password' : 'Show password', tabIndex: 0, size: 44 }}
    />
  )
}
