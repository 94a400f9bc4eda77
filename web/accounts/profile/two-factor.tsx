import { Button } from '@mantine/core'
import { type ReactNode, Suspense, useState } from 'react'
import type { Profile } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './profile.module.css'
import security from './profile.module.css'

const words = texts.security.twoFactor
// With it comes what draws a QR code.
const SetUpDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorSetUpDialog)
const ChangeDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorChangeDialog)

/** Whether a code is asked for at sign-in, and the ways to change that. */
export function SecurityTwoFactor({ profile }: { profile: Profile }): ReactNode {
  const [open, setOpen] = useState<'none' | 'set-up' | 'renew' | 'remove'>('none')
  const close = () => setOpen('none')
  const { twoFactor } = profile
  if (profile.googleId !== undefined)
    return (
      <Panel title={words.title}>
        <p className={styles.flush}>{words.google}</p>
      </Panel>
    )
  return (
    <Panel title={words.title} aside={twoFactor ? <Pill tone="paid">{words.on}</Pill> : <Pill tone="quiet">{words.off}</Pill>}>
      <p className={styles.text}>{twoFactor ? words.left(twoFactor.recoveryCodesLeft) : words.text}</p>
      <div className={security.actions}>
        {twoFactor ? (
          <>
            <Button variant="default" onClick={() => setOpen('renew')}>
              {words.renew.open}
            </Button>
            <Button variant="default" className={styles.danger ?? ''} onClick={() => setOpen('remove')}>
              {words.remove.open}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setOpen('set-up')}>
            {words.setUp.open}
          </Button>
        )}
      </div>
      <Suspense>
        {open === 'set-up' && <SetUpDialog email={profile.email} onClose={close} />}
        {(open === 'renew' || open === 'remove') && <ChangeDialog what={open} email={profile.email} onClose={close} />}
      </Suspense>
    </Panel>
  )
}
