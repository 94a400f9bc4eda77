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
import { currencyChoices } from '#web/ui/fields.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const t = texts.profile
const { connections } = texts.security

const quickActions = [
  { to: screens.mailSettings, text: t.quick.mail, icon: IconMailCog },
  { to: screens.reminderControl, text: t.quick.reminders, icon: IconBellRinging },
  { to: screens.newInvoice, text: t.quick.invoice, icon: IconFilePlus },
  { to: screens.pricing, text: t.quick.pricing, icon: IconTags },
]

/** Links to other screens, and the daily schedule. */
export function ProfilePreferences({ profile }: { profile: Profile }): ReactNode {
  return (
    <>
      <Panel title={t.quick.title}>
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
      <Panel title={t.schedule.title}>
        <ScheduleForm profile={profile} />
      </Panel>
    </>
  )
}

const hours = Array.from({ length: 12 }, (_, index) => ({ value: String(index + 6), label: `${String(index + 6).padStart(2, '0')}:00` }))

function ScheduleForm({ profile }: { profile: Profile }): ReactNode {
  const { schedule } = t
  const zones = useMemo(() => {
    // A zone with two names is listed once, under the stored name.
    const byName = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zoneName(zone), zone]))
    byName.set(zoneName(profile.timezone), profile.timezone)
    return [...byName].map(([label, value]) => ({ value, label })).toSorted((one, other) => (one.label < other.label ? -1 : 1))
  }, [profile.timezone])
  const currencies = useMemo(() => currencyChoices([profile.currency]), [profile.currency])
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { timezone: profile.timezone, reminderHour: String(profile.reminderHour), currency: profile.currency },
    toInput: ({ reminderHour, ...rest }) => ({ body: { ...rest, reminderHour: Number(reminderHour) } }),
    invalidates: [accountCalls.profile, accountCalls.stats, reminderCalls.status, reminderCalls.preview],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: () => {
      toast('good', t.saved)
    },
    onError: (error) => toast('bad', brief(t.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <ContractForm state={state} submit={t.save} busy={t.saving}>
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
        <NativeSelect label={schedule.currency} description={schedule.currencyHint} data={currencies} {...form.getInputProps('currency')} />
      </div>
    </ContractForm>
  )
}
