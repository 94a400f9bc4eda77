import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Button, NativeSelect, Select, Switch } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { businessCalls } from '#contract/business.ts'
import { type ClientDetails, clientCalls } from '#contract/clients.ts'
import { mailCalls } from '#contract/mail.ts'
import { quietDayCalls } from '#contract/quiet-days.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { Allowed } from '#web/platform/account.tsx'
import { ChangesAhead, ContractForm, changedFields, useContractForm, useShownPlan } from '#web/platform/contract-form.tsx'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { nameAndSteps } from '#web/platform/sequences/texts.ts'
import { zoneName } from '#web/ui/dates.ts'
import { LanguageField } from '#web/ui/fields.tsx'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './clients.module.css'
import { CopiesField, type ShownCopy, toCopy, toShown } from './copies-field.tsx'
import { clientPageTexts as texts } from './texts.ts'

const SequenceDialog = lazyDialog(async () => (await import('#web/platform/sequences/sequence-dialog.tsx')).SequenceDialog)
const t = texts.reminders

/** How a client is reminded: the sequence, the further recipients, and the client's own days and clock. */
export function ClientReminders({ client }: { client: ClientDetails }): ReactNode {
  return (
    <Panel title={t.title}>
      <div className={styles.reminders}>
        <ClientSequence client={client} />
        <Allowed by="admin" says>
          <AboutClient key={client._id} client={client} />
        </Allowed>
      </div>
    </Panel>
  )
}

function ClientSequence({ client: { _id: id, name, sequence } }: { client: ClientDetails }): ReactNode {
  const [choosing, setChoosing] = useState(false)
  const list = useApiQuery(sequenceCalls.list, {}, { staleTime: 60_000 }).data
  const its = list?.find(({ _id, isDefault }) => (sequence === null ? isDefault : _id === sequence))
  const named = its ? nameAndSteps(its) : ''
  return (
    <div>
      <h3 className={styles.setting}>{t.sequence}</h3>
      <p className={styles.settingText}>{sequence === null && named !== '' ? t.inherited(named) : named}</p>
      <Allowed by="admin">
        <Button variant="default" onClick={() => setChoosing(true)}>
          {t.change}
        </Button>
      </Allowed>
      <LazyMount wanted={choosing}>
        <SequenceDialog whose={choosing ? { kind: 'client', id, name, current: sequence } : null} onClose={() => setChoosing(false)} />
      </LazyMount>
    </div>
  )
}

interface Values extends Record<string, unknown>, Pick<ClientDetails, 'country' | 'timezone' | 'smart'> {
  copies: ShownCopy[]
  mailbox: string
  language: string
  region: string
}

/** What was changed of a client. A country or time zone takes its region along: without one, the region is cleared. */
export function clientChanges(before: Values, after: Values) {
  const toChange = ({ copies, mailbox, language, region, ...rest }: Values) => ({
    ...rest,
    copies: copies.map(toCopy),
    mailbox: mailbox === '' ? null : mailbox,
    language: language === '' ? null : language,
    region: region === '' ? null : region,
  })
  const wanted = toChange(after)
  const changes = changedFields(toChange(before), wanted)
  return 'country' in changes || 'timezone' in changes ? { ...changes, region: wanted.region } : changes
}

/** Who gets copies, and where and by which clock the client lives. */
function AboutClient({ client }: { client: ClientDetails }): ReactNode {
  const { _id: id } = client
  const known = useApiQuery(quietDayCalls.read, {}, { staleTime: 60_000 }).data
  const mailboxes = useApiQuery(mailCalls.mailboxes, {}, { staleTime: 60_000 }).data?.mailboxes ?? []
  const languages = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data?.languages ?? []
  const zones = useMemo(() => {
    const byName = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zoneName(zone), zone]))
    if (client.timezone !== null) byName.set(zoneName(client.timezone), client.timezone)
    return [...byName].map(([label, value]) => ({ value, label })).toSorted((one, other) => (one.label < other.label ? -1 : 1))
  }, [client.timezone])
  const queries = useQueryClient()
  const { fingerprint, onShown } = useShownPlan()
  const state = useContractForm({
    call: clientCalls.update,
    initialValues: {
      copies: client.copies.map(toShown),
      mailbox: client.mailbox ?? '',
      language: client.language ?? '',
      country: client.country,
      region: client.region ?? '',
      timezone: client.timezone,
      smart: client.smart,
    },
    follows: true,
    toInput: (values, before) => ({ params: { id }, body: { ...clientChanges(before, values), fingerprint: fingerprint.current } }),
    invalidates: [clientCalls.list, clientCalls.read, sequenceCalls.simulate, ...pauseInvalidates],
    // Where the plan has changed since it was shown, it is shown again.
    onError: () => void invalidate(queries, [sequenceCalls.simulate]),
    onSuccess: () => {
      toast('good', t.saved)
    },
  })
  const { form } = state
  const { copies: _copies, mailbox: _mailbox, language: _language, ...changed } = clientChanges(form.getInitialValues(), form.values)
  const regions = known?.countries?.find(({ code }) => code === (form.values.country ?? known.country))?.regions ?? []
  return (
    <ContractForm state={state} submit={t.save} busy={t.saving}>
      <div className={styles.fields}>
        <CopiesField
          copies={form.values.copies}
          errors={form.errors}
          sequence={client.sequence}
          onChange={(copies) => {
            form.setFieldValue('copies', copies)
            for (const path of Object.keys(form.errors)) if (path.startsWith('copies')) form.clearFieldError(path)
          }}
        />
        {(mailboxes.length > 1 || client.mailbox !== null) && (
          <NativeSelect
            label={t.mailbox}
            data={[{ value: '', label: t.defaultMailbox }, ...mailboxes.map(({ _id, user }) => ({ value: _id, label: user }))]}
            {...form.getInputProps('mailbox')}
          />
        )}
        <LanguageField label={t.language} known={languages} inherited={t.yours} {...form.getInputProps('language')} />
        <Select
          label={t.country}
          placeholder={t.yours}
          data={(known?.countries ?? []).map(({ code, name }) => ({ value: code, label: name }))}
          searchable
          clearable
          limit={60}
          nothingFoundMessage={t.noneFound}
          comboboxProps={{ withinPortal: false }}
          {...form.getInputProps('country')}
          onChange={(country) => {
            form.setValues({ country, region: '', ...(country === null ? {} : onlyZoneOf(country)) })
          }}
        />
        {regions.length > 0 && (
          <NativeSelect
            label={t.region}
            data={[{ value: '', label: t.yours }, ...regions.map(({ code, name }) => ({ value: code, label: name }))]}
            {...form.getInputProps('region')}
          />
        )}
        <Select
          label={t.timezone}
          description={t.timezoneHint}
          placeholder={t.yours}
          data={zones}
          searchable
          clearable
          limit={60}
          nothingFoundMessage={t.noneFound}
          comboboxProps={{ withinPortal: false }}
          {...form.getInputProps('timezone')}
        />
        <Switch label={t.smart} description={t.smartHint} {...form.getInputProps('smart', { type: 'checkbox' })} />
      </div>
      {Object.keys(changed).length > 0 && (
        <div className={styles.ahead}>
          <ChangesAhead change={{ assignments: [{ clientId: id, ...changed }] }} onShown={onShown} />
        </div>
      )}
    </ContractForm>
  )
}

/** The time zone of a country that has one only. Not every browser knows. */
function onlyZoneOf(country: string): { timezone?: string } {
  const zones = new Intl.Locale('und', { region: country }).getTimeZones?.() ?? []
  const [timezone] = zones
  return timezone !== undefined && zones.length === 1 ? { timezone } : {}
}
