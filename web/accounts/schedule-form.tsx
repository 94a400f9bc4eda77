import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { NativeSelect, Select } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { zoneName } from '#web/ui/dates.ts'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'
import { brief } from './profile-toast.tsx'
import { texts } from './texts.ts'

const hours = Array.from({ length: 12 }, (_, index) => ({ value: String(index + 6), label: `${String(index + 6).padStart(2, '0')}:00` }))

/** Where the account's clock stands, and at what hour its reminders go out. */
export function ScheduleForm({ profile }: { profile: Profile }): ReactNode {
  const words = texts.profile
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
