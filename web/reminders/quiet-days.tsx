import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type Holidays, type QuietSettings, quietDayCalls } from '#contract/quiet-days.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { showDate } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { SettingSwitch } from './part.tsx'
import styles from './reminders.module.css'
import { texts } from './texts.ts'

const QuietDaysDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).QuietDaysDialog)
const OwnDaysDialog = lazyDialog(async () => (await import('./quiet-days-dialogs.tsx')).OwnDaysDialog)
const t = texts.quietDays

/** Own days and holidays that are listed. */
const mostListed = 3

/** The days on which no daily reminder leaves. A switch opens the dialog that shows what it changes. */
export function QuietDays(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  const holidays = useApiQuery(quietDayCalls.read, {}, { staleTime: 60_000 })
  const [wanted, setWanted] = useState<Partial<QuietSettings> | null>(null)
  const [adding, setAdding] = useState(false)
  return (
    <div>
      <h3 className={styles.setting}>{t.title}</h3>
      <QueryView query={settings} loading={t.loading} error={t.failed} empty={null}>
        {({ quietWeekends, quietHolidays, ownHolidaysToo, country, region }) => (
          <QueryView query={holidays} loading={t.loading} error={t.failed} empty={null}>
            {(known) => (
              <>
                <div className={styles.switches}>
                  <SettingSwitch
                    label={t.weekends}
                    description={t.weekend(known.weekend, known.name)}
                    on={quietWeekends}
                    onChange={(on) => setWanted({ quietWeekends: on })}
                  />
                  <SettingSwitch
                    label={t.holidays}
                    description={known.name === null ? t.noCountry : t.known(known.name, showDate(known.until))}
                    on={quietHolidays}
                    onChange={(on) => setWanted({ quietHolidays: on })}
                  />
                </div>
                {(quietHolidays || known.ownDays.length > 0) && <Coming known={known} holidays={quietHolidays} />}
                <p className={styles.choose}>
                  <Button variant="default" leftSection={<IconPlus size={17} stroke={1.7} aria-hidden />} onClick={() => setAdding(true)}>
                    {t.add}
                  </Button>
                  <Button variant="subtle" onClick={() => setWanted({})}>
                    {t.place}
                  </Button>
                </p>
                <LazyMount wanted={wanted !== null}>
                  <QuietDaysDialog
                    wanted={wanted}
                    stored={{ quietWeekends, quietHolidays, ownHolidaysToo, country, region }}
                    known={known}
                    onClose={() => setWanted(null)}
                  />
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

/** The next days of both kinds. */
function Coming({ known: { days, ownDays }, holidays }: { known: Holidays; holidays: boolean }): ReactNode {
  const today = days[0]?.date ?? ''
  const own = ownDays.filter(({ date }) => date >= today).map(({ date, name, open }) => ({ date, words: open ? t.openDay(name) : name }))
  const coming = [
    ...own,
    ...(holidays ? days.slice(0, mostListed).map(({ date, name, mayMove }) => ({ date, words: mayMove ? t.mayMove(name) : name })) : []),
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
