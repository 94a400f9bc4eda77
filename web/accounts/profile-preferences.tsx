import { Button } from '@mantine/core'
import { IconBellRinging, IconFilePlus, IconMailCog, IconTags } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Profile } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './profile.module.css'
import { ScheduleForm } from './schedule-form.tsx'
import { texts } from './texts.ts'

const words = texts.profile
const { connections } = texts.security

const quickActions = [
  { to: screens.mailSettings, text: words.quick.mail, icon: IconMailCog },
  { to: screens.reminderControl, text: words.quick.reminders, icon: IconBellRinging },
  { to: screens.newInvoice, text: words.quick.invoice, icon: IconFilePlus },
  { to: screens.pricing, text: words.quick.pricing, icon: IconTags },
]

/** Where the clock stands and when the daily run is, and short ways to other screens. */
export function ProfilePreferences({ profile }: { profile: Profile }): ReactNode {
  return (
    <>
      <Panel title={words.quick.title}>
        <div className={styles.quick}>
          {quickActions.map(({ to, text, icon: Icon }) => (
            <Button key={to} component={Link} to={to} variant="default" justify="flex-start" leftSection={<Icon size={19} stroke={1.7} />}>
              {text}
            </Button>
          ))}
        </div>
      </Panel>
      <Panel title={connections.title}>
        <p className={styles.text}>{connections.text}</p>
        <Button component={Link} to={screens.connections} variant="default">
          {connections.open}
        </Button>
      </Panel>
      <Panel title={words.schedule.title}>
        <ScheduleForm profile={profile} />
      </Panel>
    </>
  )
}
