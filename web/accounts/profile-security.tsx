import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { Profile } from '#contract/accounts.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './profile.module.css'
import { DeleteAccountDialog } from './profile-delete-dialog.tsx'
import { PasswordForm } from './profile-password-form.tsx'
import { SecurityActivity } from './security-activity.tsx'
import { SecurityBrowsers } from './security-browsers.tsx'
import { SecurityExport } from './security-export.tsx'
import { SecurityGoogle } from './security-google.tsx'
import { SecurityTwoFactor } from './security-two-factor.tsx'
import { texts } from './texts.ts'
import { useServer } from './use-server.ts'

const words = texts.profile

/** How one gets in, who is in, what happened, and the way out. */
export function ProfileSecurity({ profile }: { profile: Profile }): ReactNode {
  const server = useServer()
  const [asking, setAsking] = useState(false)
  const [address] = useSearchParams()
  // The tab lies behind others until it is chosen: its lists are read then.
  const looked = address.get('tab') === 'security'
  const byGoogle = profile.googleId !== undefined
  return (
    <>
      {!byGoogle && (
        <Panel title={words.password.title}>
          <PasswordForm email={profile.email} />
        </Panel>
      )}
      <SecurityTwoFactor profile={profile} />
      {(byGoogle || server?.google) && <SecurityGoogle profile={profile} />}
      <SecurityBrowsers zone={profile.timezone} looked={looked} />
      <SecurityActivity zone={profile.timezone} looked={looked} />
      <SecurityExport />
      <Panel title={words.remove.title}>
        <p className={styles.text}>{words.remove.text}</p>
        <Button variant="default" className={styles.danger ?? ''} onClick={() => setAsking(true)}>
          {words.remove.open}
        </Button>
      </Panel>
      <DeleteAccountDialog opened={asking} email={profile.email} onClose={() => setAsking(false)} />
    </>
  )
}
