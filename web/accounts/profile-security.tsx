import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Profile } from '#contract/accounts.ts'
import { Panel } from '#web/ui/panel.tsx'
import look from './profile.module.css'
import { DeleteAccountDialog } from './profile-delete-dialog.tsx'
import { PasswordForm } from './profile-password-form.tsx'
import { texts } from './texts.ts'

const words = texts.profile

/** The password, and the way out. */
export function ProfileSecurity({ profile }: { profile: Profile }): ReactNode {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Panel title={words.password.title}>
        {profile.googleId === undefined ? <PasswordForm email={profile.email} /> : <p className={look.text}>{words.password.google}</p>}
      </Panel>
      <Panel title={words.remove.title}>
        <p className={look.text}>{words.remove.text}</p>
        <Button variant="default" className={look.danger ?? ''} onClick={() => setAsking(true)}>
          {words.remove.open}
        </Button>
      </Panel>
      <DeleteAccountDialog opened={asking} email={profile.email} onClose={() => setAsking(false)} />
    </>
  )
}
