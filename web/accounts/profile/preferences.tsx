import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Button, NativeSelect, Select } from '@mantine/core'
import { IconBellRinging, IconFilePlus, IconMailCog, IconTags } from '@tabler/icons-react'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { zoneName } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

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

const hours = Array.from({ length: 12 }, (_, index) => ({ value: String(index + 6), label: `${String(index + 6).padStart(2, '0')}:00` }))

/** Where the account's clock stands, and at what hour its reminders go out. */
export function ScheduleForm({ profile }: { profile: Profile }): ReactNode {
  const { schedule } = words
  const zones = useMemo(() => {
    // A zone that has two names stands there once, and keeps the name under which it is kept.
    const byName = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zoneName(zone), zone]))
    byName.set(zoneName(profile.timezone), profile.timezone)
    return [...byName].map(([label, value]) => ({ value, label })).toSorted((one, other) => (one.label < other.label ? -1 : 1))
  }, [profile.timezone])
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { timezone: profile.timezone, reminderHour: String(profile.reminderHour) },
    toInput: ({ timezone, reminderHour }) => ({ body: { timezone, reminderHour: Number(reminderHour) } }),
    invalidates: [accountCalls.profile, reminderCalls.status, reminderCalls.preview],
    onSuccess: () => {
      toast('good', words.saved)
    },
    onError: (error) => toast('bad', brief(words.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <ContractForm state={state} submit={words.save} busy={words.saving}>
      <div className={styles.fields}>
        <Select
          label={schedule.timezone}
          description={schedule.timezoneHint}
          data={zones}
          searchable
          limit={60}
          nothingFoundMessage={schedule.timezoneNone}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          {...form.getInputProps('timezone')}
        />
        <NativeSelect label={schedule.hour} description={schedule.hourHint} data={hours} {...form.getInputProps('reminderHour')} />
      </div>
    </ContractForm>
  )
}
