import { Button } from '@mantine/core'
import { type ReactNode, Suspense, useState } from 'react'
import type { Profile } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import styles from './profile.module.css'
import security from './profile.module.css'

const t = texts.security.twoFactor
// Loads the QR code encoder.
const SetUpDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorSetUpDialog)
const ChangeDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).TwoFactorChangeDialog)

export function SecurityTwoFactor({ profile }: { profile: Profile }): ReactNode {
  const [open, setOpen] = useState<'none' | 'set-up' | 'renew' | 'remove'>('none')
  const close = () => setOpen('none')
  const { twoFactor } = profile
  if (profile.googleId !== undefined)
    return (
      <Panel title={t.title}>
        <p className={styles.flush}>{t.google}</p>
      </Panel>
    )
  return (
    <Panel title={t.title} aside={twoFactor ? <Pill tone="paid">{t.on}</Pill> : <Pill tone="quiet">{t.off}</Pill>}>
      <p className={styles.text}>{twoFactor ? t.left(twoFactor.recoveryCodesLeft) : t.text}</p>
      <div className={security.actions}>
        {twoFactor ? (
          <>
            <Button variant="default" onClick={() => setOpen('renew')}>
              {t.renew.open}
            </Button>
            <Button variant="default" className={styles.danger ?? ''} onClick={() => setOpen('remove')}>
              {t.remove.open}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setOpen('set-up')}>
            {t.setUp.open}
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
