import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Button, Loader, NativeSelect, Select, Skeleton, TextInput } from '@mantine/core'
import {
  IconBellRinging,
  IconCoinRupee,
  IconCrown,
  IconFileInvoice,
  IconFilePlus,
  IconMail,
  IconMailCog,
  IconTags,
  IconUserOff,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { Link, Outlet } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { formatSums } from '#contract/money.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { texts } from '#web/accounts/texts.ts'
import { Allowed, ConfirmEmailNotice, LinkButton, useCurrency } from '#web/platform/account.tsx'
import { ChangesAhead, ContractForm, changedFields, useContractForm, useShownPlan } from '#web/platform/contract-form.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { TryAgain } from '#web/ui/buttons.tsx'
import { UnsavedGuard } from '#web/ui/confirm.tsx'
import { dateIn, showDate, zoneName } from '#web/ui/dates.ts'
import { currencyChoices, PasswordField } from '#web/ui/fields.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState, initialOf } from '#web/ui/plain.tsx'
import { brief, toast } from '#web/ui/toast.tsx'
import { UrlTabs } from '#web/ui/url-tabs.tsx'
import { GoogleLinkReturn } from './google.tsx'
import styles from './profile.module.css'
import { ProfileSecurity } from './security.tsx'

const t = texts.profile
const businessTexts = texts.business

/** /dashboard/profile */
export default function ProfileScreen(): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  return (
    <>
      <PageHeader title={t.title} subtitle={t.subtitle} />
      {profile.data ? (
        <Found profile={profile.data} />
      ) : profile.isError ? (
        <Missing message={errorMessage(profile.error)} />
      ) : (
        <ProfileSkeleton />
      )}
    </>
  )
}

function Found({ profile }: { profile: Profile }): ReactNode {
  return (
    <>
      <GoogleLinkReturn profile={profile} />
      <ProfileHead profile={profile} />
      <ProfileStats />
      <UrlTabs
        label={t.tabs.label}
        tabs={[
          { value: 'profile', label: t.tabs.profile, content: <ProfileDetails profile={profile} /> },
          { value: 'security', label: t.tabs.security, content: <ProfileSecurity profile={profile} /> },
          { value: 'subscription', label: t.tabs.subscription, content: <Outlet /> },
          { value: 'preferences', label: t.tabs.preferences, content: <ProfilePreferences profile={profile} /> },
        ]}
      />
    </>
  )
}

function Missing({ message }: { message: string }): ReactNode {
  const { title, text, retry } = t.missing
  return (
    <div role="alert">
      <EmptyState
        icon={<IconUserOff />}
        title={title}
        text={text}
        action={
          <>
            <p className={styles.reason}>{message}</p>
            <Button onClick={() => window.location.reload()}>{retry}</Button>
          </>
        }
      />
    </div>
  )
}

function ProfileSkeleton(): ReactNode {
  return (
    <div role="status">
      <div className={styles.coming}>
        <Loader size={28} />
        <p>{t.loading}</p>
      </div>
      <div className={styles.stats} aria-hidden>
        {[1, 2, 3, 4].map((nth) => (
          <Skeleton key={nth} height={94} radius={14} />
        ))}
      </div>
      <Skeleton height={300} radius={14} aria-hidden />
    </div>
  )
}

function ProfileHead({ profile }: { profile: Profile }): ReactNode {
  const { displayName, email, createdAt, timezone } = profile
  return (
    <Panel>
      <div className={styles.person}>
        <span className={styles.circle} aria-hidden>
          {initialOf(displayName)}
        </span>
        <div className={styles.words}>
          <h2 className={styles.name}>{displayName}</h2>
          <div className={styles.email}>{email}</div>
          <div className={styles.quiet}>{texts.profile.memberSince(showDate(dateIn(timezone, new Date(createdAt))))}</div>
        </div>
      </div>
    </Panel>
  )
}

const statTexts = texts.profile.stats

function ProfileStats(): ReactNode {
  const stats = useApiQuery(accountCalls.stats)
  const currency = useCurrency()
  const subscription = useApiQuery(billingCalls.subscription)
  const { data } = stats
  const waiting = stats.isPending
  const failed = [stats, subscription].filter(({ isError }) => isError)
  const why = failed[0]?.error
  return (
    <>
      {why && (
        <Notice
          tone="bad"
          action={
            <TryAgain
              busy={failed.some(({ isFetching }) => isFetching)}
              onRetry={() => {
                for (const { refetch } of failed) void refetch()
              }}
            />
          }
        >
          {statTexts.failed(errorMessage(why))}
        </Notice>
      )}
      <dl className={styles.stats} aria-label={statTexts.label} aria-busy={waiting}>
        <Stat icon={<IconFileInvoice />} label={statTexts.invoices} waiting={waiting}>
          {data?.totalInvoices.toLocaleString('en-IN')}
        </Stat>
        <Stat icon={<IconCoinRupee />} label={statTexts.revenue} waiting={waiting}>
          {data && formatSums(data.revenueByCurrency, currency)}
        </Stat>
        <Stat icon={<IconMail />} label={statTexts.mail} waiting={waiting}>
          {data && (data.hasMailConfig ? statTexts.active : statTexts.none)}
        </Stat>
        <Stat icon={<IconCrown />} label={statTexts.plan} waiting={subscription.isPending}>
          {subscription.data?.state.replace(/(\d+) (days?) left/, '$1\u00a0$2\u00a0left')}
        </Stat>
      </dl>
    </>
  )
}

interface StatProps {
  icon: ReactNode
  label: string
  waiting: boolean
  /** undefined if it failed to load. */
  children: string | undefined
}

function Stat({ icon, label, waiting, children }: StatProps): ReactNode {
  return (
    <div className={styles.stat}>
      <dt className={styles.statName}>
        <span aria-hidden className={styles.statIcon}>
          {icon}
        </span>
        {label}
      </dt>
      <dd className={styles.figure}>{waiting ? <Skeleton height={24} width="60%" my={5} /> : (children ?? statTexts.unknown)}</dd>
    </div>
  )
}

const detailTexts = texts.profile.details

/** Name and email. A new email asks for the current password; an account linked to Google cannot change it. */
function ProfileDetails({ profile }: { profile: Profile }): ReactNode {
  const byGoogle = profile.googleId !== undefined
  const changesEmail = (email: string) => !byGoogle && email.trim() !== profile.email
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { displayName: profile.displayName, email: profile.email, currentPassword: '' },
    follows: true,
    toInput: ({ displayName, email, currentPassword }, before) => ({
      body: {
        ...changedFields({ displayName: before.displayName }, { displayName }),
        ...(changesEmail(email) ? { email, currentPassword } : {}),
      },
    }),
    check: ({ email, currentPassword }) =>
      changesEmail(email) && currentPassword === '' ? { currentPassword: detailTexts.currentMissing } : {},
    invalidates: [accountCalls.profile],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: ({ displayName, email, pendingEmail }, sent) => {
      form.setValues({ displayName, email, currentPassword: '' })
      form.resetDirty()
      toast('good', changesEmail(sent.email) && pendingEmail !== null ? detailTexts.almost : texts.profile.saved)
    },
    onError: (error) => toast('bad', brief(texts.profile.failed(errorMessage(error)))),
  })
  const { form } = state
  return (
    <Panel title={detailTexts.title}>
      {profile.pendingEmail !== null ? <Notice tone="info">{detailTexts.pending(profile.pendingEmail)}</Notice> : <ConfirmEmailNotice />}
      <ContractForm state={state} submit={texts.profile.save} busy={texts.profile.saving}>
        <div className={styles.fields}>
          <TextInput
            label={detailTexts.name}
            description={detailTexts.nameHint}
            autoComplete="name"
            required
            {...form.getInputProps('displayName')}
          />
          {byGoogle ? (
            <p className={styles.beside}>{detailTexts.google(profile.email)}</p>
          ) : (
            <TextInput
              label={detailTexts.email}
              description={detailTexts.emailHint}
              type="email"
              autoComplete="username"
              required
              {...form.getInputProps('email')}
            />
          )}
          {changesEmail(form.getValues().email) && (
            <PasswordField
              label={detailTexts.current}
              description={detailTexts.currentHint}
              autoComplete="current-password"
              required
              {...form.getInputProps('currentPassword')}
            />
          )}
        </div>
      </ContractForm>
      <UnsavedGuard unsaved={(form.isDirty('displayName') || changesEmail(form.getValues().email)) && !state.busy} />
    </Panel>
  )
}

const { connections } = texts.security

const quickActions = [
  { to: screens.mailSettings, text: t.quick.mail, icon: IconMailCog },
  { to: screens.reminderControl, text: t.quick.reminders, icon: IconBellRinging },
  { to: screens.newInvoice, text: t.quick.invoice, icon: IconFilePlus, by: 'member' as const },
  { to: screens.pricing, text: t.quick.pricing, icon: IconTags },
]

/** Links to other screens, and the daily schedule. */
function ProfilePreferences({ profile }: { profile: Profile }): ReactNode {
  return (
    <>
      <Panel title={t.quick.title}>
        <div className={styles.quick}>
          {quickActions.map(({ to, text, icon: Icon, by = null }) => (
            <LinkButton key={to} by={by} to={to} variant="default" justify="flex-start" leftSection={<Icon size={19} stroke={1.7} />}>
              {text}
            </LinkButton>
          ))}
        </div>
      </Panel>
      <Panel title={businessTexts.title}>
        <p className={styles.text}>{businessTexts.subtitle}</p>
        <Button component={Link} to={screens.business} variant="default">
          {businessTexts.title}
        </Button>
      </Panel>
      <Panel title={connections.title}>
        <p className={styles.text}>{connections.text}</p>
        <Button component={Link} to={screens.connections} variant="default">
          {connections.open}
        </Button>
      </Panel>
      <Panel title={t.schedule.title}>
        <Allowed by="admin" says>
          <ScheduleForm profile={profile} />
        </Allowed>
      </Panel>
    </>
  )
}

const hours = Array.from({ length: 12 }, (_, index) => ({ value: String(index + 6), label: `${String(index + 6).padStart(2, '0')}:00` }))

type Schedule = Pick<Profile, 'timezone' | 'reminderHour' | 'currency'>

function scheduleOf({ reminderHour, ...rest }: Omit<Schedule, 'reminderHour'> & { reminderHour: string }): Schedule {
  return { ...rest, reminderHour: Number(reminderHour) }
}

function ScheduleForm({ profile }: { profile: Profile }): ReactNode {
  const { schedule } = t
  const zones = useMemo(() => {
    // A zone with two names is listed once, under the stored name.
    const byName = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zoneName(zone), zone]))
    byName.set(zoneName(profile.timezone), profile.timezone)
    return [...byName].map(([label, value]) => ({ value, label })).toSorted((one, other) => (one.label < other.label ? -1 : 1))
  }, [profile.timezone])
  const currencies = useMemo(() => currencyChoices([profile.currency]), [profile.currency])
  const queries = useQueryClient()
  const { fingerprint, onShown } = useShownPlan()
  const state = useContractForm({
    call: accountCalls.changeProfile,
    initialValues: { timezone: profile.timezone, reminderHour: String(profile.reminderHour), currency: profile.currency },
    follows: true,
    toInput: (values, before) => ({
      body: { ...changedFields(scheduleOf(before), scheduleOf(values)), fingerprint: fingerprint.current },
    }),
    invalidates: [accountCalls.profile, accountCalls.stats, reminderCalls.status, reminderCalls.preview, sequenceCalls.simulate],
    update: (cache, changed) => cache.write(accountCalls.profile, changed),
    onSuccess: () => {
      toast('good', t.saved)
    },
    onError: (error) => {
      toast('bad', brief(t.failed(errorMessage(error))))
      // Where the plan has changed since it was shown, it is shown again.
      void invalidate(queries, [sequenceCalls.simulate])
    },
  })
  const { form } = state
  const settings = useApiQuery(reminderCalls.settings)
  const { currency: _currency, ...changed } = changedFields(scheduleOf(form.getInitialValues()), scheduleOf(form.values))
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
      {settings.data && settings.data.sequence !== 'every_day' && Object.keys(changed).length > 0 && (
        <div className={styles.ahead}>
          <ChangesAhead change={{ settings: changed }} onShown={onShown} />
        </div>
      )}
      <UnsavedGuard unsaved={form.isDirty() && !state.busy} />
    </ContractForm>
  )
}
