import { Button, NativeSelect } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type Holidays, type QuietSettings, quietDayCalls } from '#contract/quiet-days.ts'
import { type HoldMinutes, holdMinutes, type ReminderSettings, reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { useServer } from '#web/platform/account.tsx'
import { holdTexts } from '#web/platform/leaving/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { SequenceLine } from '#web/platform/sequences/plan-changes.tsx'
import { nameAndSteps } from '#web/platform/sequences/texts.ts'
import { showDate, showHour } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Part, SettingSwitch, useSaveSettings } from './part.tsx'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)
const QuietDaysDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).QuietDaysDialog)
const OwnDaysDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).OwnDaysDialog)
const GroupDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).GroupDialog)
const SmartDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).SmartDialog)
const t = texts.grouping
/** Own days and holidays that are listed. */
const mostListed = 3

export function SettingsPart({ hour, mailbox }: { hour: number; mailbox: string | null }): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  return (
    <Part id="settings" title={texts.settings.title}>
      <div className={styles.settings}>
        <SequenceSetting />
        <QuietDays />
        <SmartReminders />
        <div>
          <h3 className={styles.setting}>{texts.help.heading}</h3>
          <ul className={styles.help}>
            <li>
              {texts.help.start(showHour(hour))}{' '}
              <Link to={withQuery(screens.profile, { tab: 'preferences' })}>{texts.help.changeHour}</Link>
            </li>
            <li>{texts.help.who}</li>
            <li>{texts.help.stop}</li>
          </ul>
        </div>
        <div>
          <h3 className={styles.setting}>{t.title}</h3>
          <QueryView query={settings} loading={t.loading} error={t.failed} empty={null}>
            {(found) => <GroupSwitch settings={found} />}
          </QueryView>
          <Link to={withQuery(screens.emailTemplates, { tab: 'group' })} className={styles.template}>
            {t.template}
          </Link>
        </div>
        <div>
          <h3 className={styles.setting}>{holdTexts.title}</h3>
          <QueryView query={settings} loading={t.loading} error={t.failed} empty={null}>
            {(found) => (
              <div className={styles.switches}>
                <HoldChoice settings={found} />
                <EmailSwitch name="eveningList" on={found.eveningList} />
                <EmailSwitch name="weeklySummary" on={found.weeklySummary} />
              </div>
            )}
          </QueryView>
        </div>
        <div>
          <h3 className={styles.setting}>{texts.sendNow.button}</h3>
          <p className={styles.settingText} id="send-now-description">
            {texts.sendNow.description}
          </p>
          <h3 className={styles.setting}>{texts.settings.mailbox}</h3>
          <p className={styles.settingText}>{mailbox === null ? texts.settings.noMailbox : texts.settings.sentFrom(mailbox)}</p>
          <Link to={screens.mailSettings} className={styles.template}>
            {texts.emailSettings}
          </Link>
        </div>
      </div>
    </Part>
  )
}

/** The sequence of all clients without one of their own. */
function SequenceSetting(): ReactNode {
  const sequences = useApiQuery(sequenceCalls.list)
  const [choosing, setChoosing] = useState(false)
  const words = texts.sequence
  return (
    <div>
      <h3 className={styles.setting}>{words.title}</h3>
      <QueryView query={sequences} loading={words.loading} error={words.failed} empty={null}>
        {(list) => {
          const its = list.find(({ isDefault }) => isDefault)
          return (
            <>
              {its && <p className={styles.chosen}>{nameAndSteps(its)}</p>}
              {its && its.steps.length > 0 && <SequenceLine rhythm={its} />}
              {its?._id === 'every_day' && <p className={styles.quiet}>{words.everyDay}</p>}
              <p className={styles.choose}>
                <Button variant="default" onClick={() => setChoosing(true)}>
                  {words.change}
                </Button>
                <Link to={screens.sequences} className={styles.template}>
                  {words.all}
                </Link>
              </p>
              <LazyMount wanted={choosing}>
                <SequenceDialog
                  whose={choosing ? { kind: 'account', current: its?._id ?? null } : null}
                  onClose={() => setChoosing(false)}
                />
              </LazyMount>
            </>
          )
        }}
      </QueryView>
    </div>
  )
}

/** The days on which no daily reminder leaves. A switch opens the dialog that shows what it changes. */
function QuietDays(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  const holidays = useApiQuery(quietDayCalls.read, {}, { staleTime: 60_000 })
  const [wanted, setWanted] = useState<Partial<QuietSettings> | null>(null)
  const [adding, setAdding] = useState(false)
  return (
    <div>
      <h3 className={styles.setting}>{texts.quietDays.title}</h3>
      <QueryView query={settings} loading={texts.quietDays.loading} error={texts.quietDays.failed} empty={null}>
        {(stored) => (
          <QueryView query={holidays} loading={texts.quietDays.loading} error={texts.quietDays.failed} empty={null}>
            {(known) => (
              <>
                <div className={styles.switches}>
                  <SettingSwitch
                    label={texts.quietDays.weekends}
                    description={texts.quietDays.weekend(known.weekend, known.name)}
                    on={stored.quietWeekends}
                    onChange={(on) => setWanted({ quietWeekends: on })}
                  />
                  <SettingSwitch
                    label={texts.quietDays.holidays}
                    description={known.name === null ? texts.quietDays.noCountry : texts.quietDays.known(known.name, showDate(known.until))}
                    on={stored.quietHolidays}
                    onChange={(on) => setWanted({ quietHolidays: on })}
                  />
                </div>
                {(stored.quietHolidays || known.ownDays.length > 0) && <Coming known={known} holidays={stored.quietHolidays} />}
                <p className={styles.choose}>
                  <Button variant="default" leftSection={<IconPlus size={17} stroke={1.7} aria-hidden />} onClick={() => setAdding(true)}>
                    {texts.quietDays.add}
                  </Button>
                  <Button variant="subtle" onClick={() => setWanted({})}>
                    {texts.quietDays.place}
                  </Button>
                </p>
                <LazyMount wanted={wanted !== null}>
                  <QuietDaysDialog wanted={wanted} stored={stored} known={known} onClose={() => setWanted(null)} />
                </LazyMount>
                <LazyMount wanted={adding}>
                  <OwnDaysDialog opened={adding} stored={known.ownDays} onClose={() => setAdding(false)} />
                </LazyMount>
              </>
            )}
          </QueryView>
        )}
      </QueryView>
    </div>
  )
}

/** Whether steps may leave on other days, and what that has changed so far. */
function SmartReminders(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  const [wanted, setWanted] = useState<boolean | null>(null)
  return (
    <div>
      <h3 className={styles.setting}>{texts.smart.title}</h3>
      <QueryView query={settings} loading={texts.smart.loading} error={texts.smart.failed} empty={null}>
        {(stored) => (
          <>
            <div className={styles.switches}>
              <SettingSwitch
                label={texts.smart.label}
                description={texts.smart.hint(stored.smartDays)}
                on={stored.smart}
                onChange={setWanted}
              />
              {stored.sequence === 'every_day' && <p className={styles.quiet}>{texts.smart.everyDay}</p>}
              {stored.smart && <SmartResult />}
            </div>
            {stored.smart && (
              <p className={styles.choose}>
                <Button variant="subtle" ml={-18} onClick={() => setWanted(true)}>
                  {texts.smart.change(stored.smartDays)}
                </Button>
              </p>
            )}
            <LazyMount wanted={wanted !== null}>
              <SmartDialog wanted={wanted} stored={stored} onClose={() => setWanted(null)} />
            </LazyMount>
          </>
        )}
      </QueryView>
    </div>
  )
}

function SmartResult(): ReactNode {
  const result = useApiQuery(reminderCalls.smart, {}, { staleTime: 60_000 })
  return (
    <QueryView query={result} loading={texts.smart.loading} error={texts.smart.failed} empty={null}>
      {({ words, says, interval, paid, needed, smart, planned }) => {
        const emails = smart.emails !== null && planned.emails !== null ? texts.smart.emails(smart.emails, planned.emails) : null
        const about = [says, interval && texts.smart.interval(interval), emails].filter((one) => one !== null)
        return (
          <div>
            <p className={styles.chosen}>{words}</p>
            {about.length > 0 && <p className={styles.quiet}>{about.join('. ')}</p>}
            {paid >= needed && <p className={styles.quiet}>{texts.smart.compared}</p>}
          </div>
        )
      }}
    </QueryView>
  )
}

/** The next days of both kinds. */
function Coming({ known: { days, ownDays }, holidays }: { known: Holidays; holidays: boolean }): ReactNode {
  const today = days[0]?.date ?? ''
  const own = ownDays
    .filter(({ date }) => date >= today)
    .map(({ date, name, open }) => ({ date, words: open ? texts.quietDays.openDay(name) : name }))
  const coming = [
    ...own,
    ...(holidays
      ? days.slice(0, mostListed).map(({ date, name, mayMove }) => ({ date, words: mayMove ? texts.quietDays.mayMove(name) : name }))
      : []),
  ]
    .toSorted((one, other) => (one.date < other.date ? -1 : 1))
    .slice(0, mostListed)
  return (
    <ul className={styles.days}>
      {coming.map(({ date, words }) => (
        <li key={`${date} ${words}`}>
          <span>{showDate(date)}</span> {words}
        </li>
      ))}
    </ul>
  )
}

/** How long emails wait before they leave. Saves on change, as the switch. */
function HoldChoice({ settings }: { settings: ReminderSettings }): ReactNode {
  const [wanted, setWanted] = useState<HoldMinutes | null>(null)
  const queries = useQueryClient()
  const { save, dialog } = useSaveSettings()
  const change = useMutation({
    mutationFn: (chosen: HoldMinutes) => save(settings, { holdMinutes: chosen }),
    onSettled: async () => {
      await invalidate(queries, [reminderCalls.settings])
      setWanted(null)
    },
  })
  return (
    <>
      <NativeSelect
        label={holdTexts.label}
        aria-busy={change.isPending}
        data={holdMinutes.map((n) => ({ value: String(n), label: holdTexts.minutes(n) }))}
        value={String(wanted ?? settings.holdMinutes)}
        onChange={({ currentTarget }) => {
          const chosen = holdMinutes.find((n) => String(n) === currentTarget.value)
          if (chosen === undefined || change.isPending) return
          setWanted(chosen)
          change.mutate(chosen)
        }}
      />
      <FormError message={change.isError ? holdTexts.notSaved(errorMessage(change.error)) : null} />
      {dialog}
    </>
  )
}

/** An email from Duely itself to the owner. */
function EmailSwitch({ name, on }: { name: 'eveningList' | 'weeklySummary'; on: boolean }): ReactNode {
  const server = useServer()
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.settings],
    onSuccess: () => setWanted(null),
    onError: () => setWanted(null),
  })
  const { label, hint } = texts.ownEmails[name]
  const cannot = server?.systemMail === false
  return (
    <div>
      <SettingSwitch
        label={label}
        description={cannot ? texts.ownEmails.none : hint}
        on={wanted ?? on}
        busy={change.isPending}
        disabled={cannot && !on}
        onChange={(checked) => {
          if (change.isPending) return
          setWanted(checked)
          change.mutate({ body: { [name]: checked } })
        }}
      />
      <FormError message={change.isError ? t.notSaved(errorMessage(change.error)) : null} />
    </div>
  )
}

/** Saves on change; a failed save restores the stored value. With steps, the switch opens the dialog that shows what it changes. */
function GroupSwitch({ settings }: { settings: ReminderSettings }): ReactNode {
  const [wanted, setWanted] = useState<boolean | null>(null)
  const [asked, setAsked] = useState<boolean | null>(null)
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.settings, reminderCalls.preview],
    onSuccess: () => setWanted(null),
    onError: () => setWanted(null),
  })
  return (
    <>
      <SettingSwitch
        label={t.label}
        description={t.hint}
        on={wanted ?? settings.groupByClient}
        busy={change.isPending}
        onChange={(checked) => {
          if (change.isPending) return
          if (settings.sequence !== 'every_day') return setAsked(checked)
          setWanted(checked)
          change.mutate({ body: { groupByClient: checked } })
        }}
      />
      <FormError message={change.isError ? t.notSaved(errorMessage(change.error)) : null} />
      <LazyMount wanted={asked !== null}>
        <GroupDialog wanted={asked} stored={settings} onClose={() => setAsked(null)} />
      </LazyMount>
    </>
  )
}
