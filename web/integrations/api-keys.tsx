import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Radio.layer.css'
import { Button, Group, NativeSelect, Radio, TextInput } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { type ApiKey, integrationCalls } from '#contract/integrations.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { Problem } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { CopyButton } from '#web/ui/buttons.tsx'
import { dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { ShowAll, useArrivalFocus, useMissingApiAccess, useRemoval, useZone } from './connection-parts.tsx'
import styles from './connections.module.css'
import { texts } from './texts.ts'

const t = texts.keys
/** Keys are marked this many ms before they expire. */
const soon = 7 * 86_400_000

export function ApiKeys(): ReactNode {
  const keys = useApiQuery(integrationCalls.keys)
  const lack = useMissingApiAccess()
  const [adding, setAdding] = useState(false)
  const { around, remove } = useRemoval<ApiKey>({
    call: integrationCalls.removeKey,
    invalidates: [integrationCalls.keys],
    length: keys.data?.length,
    texts: {
      question: t.question,
      consequence: () => t.consequence,
      action: t.revoke,
      busy: t.revoking,
      done: t.revoked,
      failed: t.revokeFailed,
    },
  })
  return (
    <Panel
      title={t.title}
      aside={
        !lack && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )
      }
    >
      <div ref={around} tabIndex={-1} className={styles.around}>
        <p className={styles.lead}>{t.text}</p>
        <QueryView
          query={keys}
          loading={t.loading}
          error={t.failed}
          empty={<p className={styles.none}>{lack ? t.lacking(lack.lifts.title) : t.none}</p>}
        >
          {(list) => (
            <>
              {lack && <p className={styles.none}>{t.kept(lack.lifts.title)}</p>}
              <ShowAll list={list}>
                {(shown) => (
                  <ul className={styles.list}>
                    {shown.map((key) => (
                      <Key key={key._id} apiKey={key} onRevoke={() => remove(key)} />
                    ))}
                  </ul>
                )}
              </ShowAll>
            </>
          )}
        </QueryView>
        <p className={styles.links}>
          <a href="/docs" className={styles.link}>
            {t.reference}
          </a>
        </p>
      </div>
      <ApiKeyDialog opened={adding} onClose={() => setAdding(false)} />
    </Panel>
  )
}

function Key({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }): ReactNode {
  const { name, ending, scopes, createdAt, expiresAt, lastUsedAt, handedOver } = apiKey
  const zone = useZone()
  const now = new Date()
  const day = (instant: string) => showDate(dateIn(zone, new Date(instant)))
  const left = expiresAt === null ? null : new Date(expiresAt).getTime() - now.getTime()
  const facts = [
    scopes.includes('write') ? t.readWrite : t.readOnly,
    t.created(day(createdAt)),
    expiresAt === null ? t.noEnd : t.expires(day(expiresAt)),
    lastUsedAt === null ? texts.never : texts.used(showMoment(zone, new Date(lastUsedAt), now)),
  ]
  return (
    <li className={styles.item}>
      <IconKey size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          {name} <code className={styles.ending}>{t.ending(ending)}</code>
          {handedOver && <Pill tone="unpaid">{texts.handedOver}</Pill>}
          {left !== null && left <= 0 && <Pill tone="overdue">{t.expired}</Pill>}
          {left !== null && left > 0 && left < soon && <Pill tone="unpaid">{t.soon}</Pill>}
        </div>
        <div className={styles.quiet}>{facts.join(' · ')}</div>
      </div>
      <Button variant="default" aria-label={t.revokeOne(name)} onClick={onRevoke}>
        {t.revoke}
      </Button>
    </li>
  )
}

/** Creates a key and shows it once. */
function ApiKeyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false)
  const [key, setKey] = useState<string | null>(null)
  // A key is shown once: a click outside the dialog must not lose it.
  const stays = key !== null
  return (
    <Dialog
      opened={opened}
      onClose={busy ? () => undefined : onClose}
      onExitTransitionEnd={() => setKey(null)}
      title={stays ? t.once.title : t.dialog.title}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {key === null ? <ApiKeyForm onBusy={setBusy} onKey={setKey} onClose={onClose} /> : <KeyOnce apiKey={key} onClose={onClose} />}
    </Dialog>
  )
}

function KeyOnce({ apiKey, onClose }: { apiKey: string; onClose: () => void }): ReactNode {
  const arrived = useArrivalFocus<HTMLParagraphElement>()
  const call = `curl -H "Authorization: Bearer ${apiKey}" ${window.location.origin}/api/me`
  return (
    <>
      <p ref={arrived} tabIndex={-1} className={styles.arrived}>
        {t.once.text}
      </p>
      <div className={styles.secret}>
        <code>{apiKey}</code>
        <CopyButton text={apiKey} what={t.once.label} />
      </div>
      <p className={styles.small}>{t.once.try}</p>
      <div className={styles.secret}>
        <pre>
          <code>{call}</code>
        </pre>
        <CopyButton text={call} what={t.once.command} />
      </div>
      <Group justify="flex-end" mt={24}>
        <Button onClick={onClose}>{t.once.kept}</Button>
      </Group>
    </>
  )
}

const dialogTexts = texts.keys.dialog
const radio = { className: styles.choice ?? '', classNames: { description: styles.says ?? '' } }

interface ApiKeyFormProps {
  /** The dialog must stay open while this is true. */
  onBusy: (busy: boolean) => void
  onKey: (key: string) => void
  onClose: () => void
}

function ApiKeyForm({ onBusy, onKey, onClose }: ApiKeyFormProps): ReactNode {
  const queries = useQueryClient()
  const proof = useProof()
  const state = useContractForm({
    call: integrationCalls.addKey,
    initialValues: { name: '', scopes: 'write' as 'read' | 'write', expiresInDays: '90', ...noProof },
    toInput: ({ name, scopes, expiresInDays, ...given }) => ({
      body: {
        name,
        scopes: scopes === 'write' ? (['read', 'write'] as const).slice() : (['read'] as const).slice(),
        expiresInDays: expiresInDays === 'never' ? null : Number(expiresInDays),
        ...proofIn(proof, given),
      },
    }),
    onSuccess: ({ key }) => {
      onKey(key)
      // After the key is on screen: the list may wait, it must not.
      void invalidate(queries, [integrationCalls.keys])
    },
    onError: (error) => {
      // The plan has changed meanwhile: refetch it, so that the screen explains.
      if (error instanceof Problem && error.code === 'plan_limit') void invalidate(queries, [billingCalls.subscription])
    },
  })
  const { form, busy } = state
  useEffect(() => {
    onBusy(busy)
    return () => onBusy(false)
  }, [busy, onBusy])
  return (
    <ContractForm
      state={state}
      submit={dialogTexts.submit}
      busy={dialogTexts.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={busy}>
          {texts.cancel}
        </Button>
      }
    >
      <div className={styles.fields}>
        <TextInput
          label={dialogTexts.name}
          description={dialogTexts.nameHint}
          autoComplete="off"
          maxLength={80}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Radio.Group label={dialogTexts.scopes} classNames={{ label: styles.label ?? '' }} {...form.getInputProps('scopes')}>
          <Radio {...radio} value="read" label={dialogTexts.read} description={dialogTexts.readSays} />
          <Radio {...radio} value="write" label={dialogTexts.write} description={dialogTexts.writeSays} />
        </Radio.Group>
        <NativeSelect
          label={dialogTexts.ends}
          description={dialogTexts.endsHint}
          data={Object.entries(dialogTexts.lengths).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('expiresInDays')}
        />
        <ProofField proof={proof} hint={dialogTexts.proofHint} of={(field) => form.getInputProps(field)} />
      </div>
    </ContractForm>
  )
}
