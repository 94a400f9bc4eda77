import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { ActionIcon, Button, Group, NativeSelect, Select, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { readDate } from '#contract/dates.ts'
import { changeDays, type Holidays, type OwnDay, type QuietSettings, quietDayCalls } from '#contract/quiet-days.ts'
import { type ReminderSettings, reminderCalls } from '#contract/reminders.ts'
import { changedFields } from '#web/platform/contract-form.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { invalidate } from '#web/platform/query.ts'
import { send } from '#web/platform/send.ts'
import { type Change, PlanChanges, saveLabel, useSimulation } from '#web/platform/sequences/plan-changes.tsx'
import { FreePlanNotice, sequenceInvalidates, useHasSequences } from '#web/platform/sequences/sequence-dialog.tsx'
import dialogStyles from '#web/platform/sequences/sequences.module.css'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showDate } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { DateField } from '#web/ui/fields.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { SettingSwitch, useSaveSettings } from './part.tsx'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

const t = texts.quietDays

interface QuietDaysDialogProps {
  /** What was changed already; null closes the dialog. */
  wanted: Partial<QuietSettings> | null
  stored: ReminderSettings
  known: Holidays
  onClose: () => void
}

/** Which days are quiet, and of which country. */
export function QuietDaysDialog({ wanted, stored, known, onClose }: QuietDaysDialogProps): ReactNode {
  const kept = useKept(wanted)
  return (
    <Dialog opened={wanted !== null} onClose={onClose} title={t.title} size={760}>
      {kept && <Settings wanted={kept} stored={stored} known={known} onClose={onClose} />}
    </Dialog>
  )
}

function Settings({ wanted, stored: newest, known, onClose }: QuietDaysDialogProps & { wanted: Partial<QuietSettings> }): ReactNode {
  // What someone else saves while the dialog is open must not count as known.
  const [stored] = useState(newest)
  const { save, dialog } = useSaveSettings()
  const { quietWeekends, quietHolidays, ownHolidaysToo, country: code, region } = stored
  const quiet = { quietWeekends, quietHolidays, ownHolidaysToo, country: code, region }
  const [draft, setDraft] = useState<QuietSettings>({ ...quiet, ...wanted })
  const change = (part: Partial<QuietSettings>) => setDraft((before) => ({ ...before, ...part }))
  const changed = changedFields(quiet, draft)
  const country = known.countries?.find(({ code }) => code === (draft.country ?? known.country))
  return (
    <>
      <div className={styles.switches}>
        <SettingSwitch
          label={t.weekends}
          description={t.weekendsHint}
          on={draft.quietWeekends}
          onChange={(quietWeekends) => change({ quietWeekends })}
        />
        <SettingSwitch
          label={t.holidays}
          description={t.holidaysHint}
          on={draft.quietHolidays}
          onChange={(quietHolidays) => change({ quietHolidays })}
        />
        {draft.quietHolidays && (
          <SettingSwitch
            label={t.ownToo}
            description={t.ownTooHint}
            on={draft.ownHolidaysToo}
            onChange={(ownHolidaysToo) => change({ ownHolidaysToo })}
          />
        )}
      </div>
      <div className={styles.pair}>
        <Select
          label={t.country}
          placeholder={stored.country === null && known.name !== null ? t.byZone(known.name) : t.fromZone}
          data={(known.countries ?? []).map(({ code, name }) => ({ value: code, label: name }))}
          searchable
          clearable
          limit={60}
          maxDropdownHeight={176}
          nothingFoundMessage={t.noneFound}
          comboboxProps={{ withinPortal: false }}
          value={draft.country}
          onChange={(code) => change({ country: code, region: null })}
        />
        {country && country.regions.length > 0 && (
          <NativeSelect
            label={t.region}
            data={[{ value: '', label: t.wholeCountry }, ...country.regions.map(({ code, name }) => ({ value: code, label: name }))]}
            value={draft.region ?? ''}
            onChange={({ currentTarget }) => change({ region: currentTarget.value === '' ? null : currentTarget.value })}
          />
        )}
      </div>
      <Save
        change={Object.keys(changed).length > 0 ? { settings: changed } : null}
        needsPlan={changed.quietWeekends === true || changed.quietHolidays === true}
        save={(fingerprint) => save(stored, { ...changed, ...(fingerprint ? { fingerprint } : {}) })}
        saved={t.saved}
        onClose={onClose}
      />
      {dialog}
    </>
  )
}

interface SmartDialogProps {
  /** The switch as it is wanted; null closes the dialog. */
  wanted: boolean | null
  stored: ReminderSettings
  onClose: () => void
}

/** Whether smart reminders may move steps, and by how many days. */
export function SmartDialog({ wanted, stored, onClose }: SmartDialogProps): ReactNode {
  const kept = useKept(wanted)
  return (
    <Dialog opened={wanted !== null} onClose={onClose} title={texts.smart.title} size={760}>
      {kept !== null && <SmartChoice key={String(kept)} wanted={kept} stored={stored} onClose={onClose} />}
    </Dialog>
  )
}

function SmartChoice({ wanted, stored: newest, onClose }: SmartDialogProps & { wanted: boolean }): ReactNode {
  const [stored] = useState(newest)
  const { save, dialog } = useSaveSettings()
  const [smart, setSmart] = useState(wanted)
  const [smartDays, setDays] = useState(stored.smartDays)
  const changed = { ...(smart === stored.smart ? {} : { smart }), ...(smartDays === stored.smartDays ? {} : { smartDays }) }
  return (
    <>
      <div className={styles.switches}>
        <SettingSwitch label={texts.smart.title} description={texts.smart.hint(smartDays)} on={smart} onChange={setSmart} />
      </div>
      <div className={styles.pair}>
        <NativeSelect
          label={texts.smart.days}
          disabled={!smart}
          data={Array.from({ length: 10 }, (_none, nth) => String(nth + 1))}
          value={String(smartDays)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
        />
      </div>
      <Save
        change={Object.keys(changed).length > 0 ? { settings: changed } : null}
        needsPlan={smart && !stored.smart}
        save={(fingerprint) => save(stored, { ...changed, ...(fingerprint ? { fingerprint } : {}) })}
        saved={texts.smart.saved}
        onClose={onClose}
      />
      {dialog}
    </>
  )
}

/** One email per client, or one for each invoice: what that changes. `wanted` null closes the dialog. */
export function GroupDialog({
  wanted,
  stored,
  onClose,
}: {
  wanted: boolean | null
  stored: ReminderSettings
  onClose: () => void
}): ReactNode {
  const { save, dialog } = useSaveSettings()
  const groupByClient = useKept(wanted)
  return (
    <Dialog opened={wanted !== null} onClose={onClose} title={texts.grouping.title} size={760}>
      {groupByClient !== null && (
        <>
          <p className={styles.settingText}>{groupByClient ? texts.grouping.hint : texts.grouping.single}</p>
          <Save
            change={{ settings: { groupByClient } }}
            needsPlan={false}
            save={(fingerprint) => save(stored, { groupByClient, ...(fingerprint ? { fingerprint } : {}) })}
            saved={texts.grouping.saved}
            onClose={onClose}
          />
          {dialog}
        </>
      )}
    </Dialog>
  )
}

interface OwnDaysDialogProps {
  opened: boolean
  stored: OwnDay[]
  onClose: () => void
}

/** Days that are quiet, or open despite a holiday. */
export function OwnDaysDialog({ opened, stored, onClose }: OwnDaysDialogProps): ReactNode {
  return (
    <Dialog opened={opened} onClose={onClose} title={t.ownDays} size={760}>
      {opened && <OwnDays stored={stored} onClose={onClose} />}
    </Dialog>
  )
}

function OwnDays({ stored, onClose }: Omit<OwnDaysDialogProps, 'opened'>): ReactNode {
  // Made to the days as they are now: others may change them while the dialog is open.
  const [edited, setEdited] = useState({ was: stored, days: stored })
  const days = changeDays(stored, edited.was, edited.days)
  const setDays = (wanted: OwnDay[]) => setEdited({ was: stored, days: wanted })
  const [next, setNext] = useState<OwnDay>({ date: '', name: '', open: false })
  const [left, setLeft] = useState(false)
  const date = readDate(next.date)
  const isNoDate = date === null && next.date !== ''
  const all = date === null ? days : [...days.filter((one) => one.date !== date), { ...next, date, name: next.name.trim() }]
  const list = all.toSorted((one, other) => (one.date < other.date ? -1 : 1))
  const isChanged = JSON.stringify(list) !== JSON.stringify(stored)
  return (
    <>
      <p className={styles.settingText}>{t.ownDaysHint}</p>
      {days.length > 0 && (
        <ul className={styles.days} aria-label={t.ownDays}>
          {days.map((one) => (
            <li key={one.date}>
              <span>{showDate(one.date)}</span> {one.open ? t.openDay(one.name) : one.name}
              <ActionIcon
                aria-label={t.remove(showDate(one.date))}
                onClick={() => setDays(days.filter(({ date: its }) => its !== one.date))}
              >
                <IconX size={17} stroke={1.7} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <div className={styles.pair}>
        <DateField
          label={t.date}
          error={left && isNoDate && t.noDate}
          value={next.date}
          onChange={(value) => setNext({ ...next, date: value })}
          onBlur={() => setLeft(true)}
        />
        <TextInput
          label={t.name}
          maxLength={80}
          value={next.name}
          onChange={({ currentTarget }) => setNext({ ...next, name: currentTarget.value })}
        />
        <NativeSelect
          label={t.kind}
          data={[t.closed, t.open]}
          value={next.open ? t.open : t.closed}
          onChange={({ currentTarget }) => setNext({ ...next, open: currentTarget.value === t.open })}
        />
        <Button
          variant="default"
          disabled={date === null}
          onClick={() => {
            setDays(list)
            setNext({ date: '', name: '', open: false })
            setLeft(false)
          }}
        >
          {t.another}
        </Button>
      </div>
      <Save
        change={isChanged && !isNoDate ? { ownDays: list } : null}
        needsPlan={list.length > 0}
        save={(fingerprint) => send(quietDayCalls.replaceOwnDays, { body: { days: list, was: stored, fingerprint } })}
        saved={t.daysSaved}
        onClose={onClose}
      />
    </>
  )
}

interface SaveProps {
  /** Null: nothing is changed yet. */
  change: Change | null
  needsPlan: boolean
  /** Null: the person wants to change the form first. */
  save: (fingerprint: string | undefined) => Promise<unknown>
  saved: string
  onClose: () => void
}

/** What the change does in the next 30 days, and the buttons. */
function Save({ change, needsPlan, save, saved, onClose }: SaveProps): ReactNode {
  const queries = useQueryClient()
  const has = useHasSequences()
  const simulated = useSimulation(change)
  const { now } = simulated
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const stored = await save(now?.fingerprint)
      await invalidate(queries, [...sequenceInvalidates, quietDayCalls.read, reminderCalls.smart])
      return stored
    },
    onSuccess: (stored) => {
      if (stored === null) return
      toast('good', saved)
      onClose()
    },
    onError: (failed) => {
      if (!(failed instanceof Problem) || failed.code !== 'plan_changed') return
      void simulated.refetch()
      void invalidate(queries, [quietDayCalls.read])
    },
  })
  return (
    <>
      {has === false && needsPlan && <FreePlanNotice />}
      {change && <PlanChanges simulated={simulated} heading="h3" />}
      <div className={dialogStyles.foot}>
        <FormError message={error ? errorMessage(error) : null} />
        <Group justify="flex-end" gap={12}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.cancel}
          </Button>
          <BusyButton
            busy={isPending}
            busyText={t.saving}
            disabled={change === null || now === undefined || (has === false && needsPlan)}
            onClick={() => mutate()}
          >
            {change && now ? saveLabel(now) : t.save}
          </BusyButton>
        </Group>
      </div>
    </>
  )
}
