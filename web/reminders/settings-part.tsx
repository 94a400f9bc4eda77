import { Button, NativeSelect } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type HoldMinutes, holdMinutes, reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { holdTexts } from '#web/platform/leaving/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { SequenceLine } from '#web/platform/sequences/plan-changes.tsx'
import { nameAndSteps } from '#web/platform/sequences/texts.ts'
import { showHour } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Part, SettingSwitch } from './part.tsx'
import { QuietDays } from './quiet-days.tsx'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)
const t = texts.grouping

export function SettingsPart({ hour, mailbox }: { hour: number; mailbox: string | null }): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  return (
    <Part id="settings" title={texts.settings.title}>
      <div className={styles.settings}>
        <SequenceSetting />
        <QuietDays />
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
            {({ groupByClient }) => <GroupSwitch on={groupByClient} />}
          </QueryView>
          <Link to={withQuery(screens.emailTemplates, { tab: 'group' })} className={styles.template}>
            {t.template}
          </Link>
        </div>
        <div>
          <h3 className={styles.setting}>{holdTexts.title}</h3>
          <QueryView query={settings} loading={t.loading} error={t.failed} empty={null}>
            {({ holdMinutes: minutes }) => <HoldChoice minutes={minutes} />}
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

/** How long emails wait before they leave. Saves on change, as the switch. */
function HoldChoice({ minutes }: { minutes: HoldMinutes }): ReactNode {
  const [wanted, setWanted] = useState<HoldMinutes | null>(null)
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.settings],
    onSuccess: () => setWanted(null),
    onError: () => setWanted(null),
  })
  return (
    <>
      <NativeSelect
        label={holdTexts.label}
        aria-busy={change.isPending}
        data={holdMinutes.map((n) => ({ value: String(n), label: holdTexts.minutes(n) }))}
        value={String(wanted ?? minutes)}
        onChange={({ currentTarget }) => {
          const chosen = holdMinutes.find((n) => String(n) === currentTarget.value)
          if (chosen === undefined || change.isPending) return
          setWanted(chosen)
          change.mutate({ body: { holdMinutes: chosen } })
        }}
      />
      <FormError message={change.isError ? holdTexts.notSaved(errorMessage(change.error)) : null} />
    </>
  )
}

/** Saves on change; a failed save restores the stored value. */
function GroupSwitch({ on }: { on: boolean }): ReactNode {
  const [wanted, setWanted] = useState<boolean | null>(null)
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
        on={wanted ?? on}
        busy={change.isPending}
        onChange={(checked) => {
          if (change.isPending) return
          setWanted(checked)
          change.mutate({ body: { groupByClient: checked } })
        }}
      />
      <FormError message={change.isError ? t.notSaved(errorMessage(change.error)) : null} />
    </>
  )
}
