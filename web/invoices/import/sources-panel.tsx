import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/NumberInput.layer.css'
import { Box, Button, Checkbox, NumberInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ChangeEvent, type FormEvent, type ReactNode, useRef, useState } from 'react'
import type { CallInput } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { type SourceLook, sourceCalls, type WatchedSource } from '#contract/sources.ts'
import { pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { patiently, send } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { dateIn, showDate } from '#web/ui/dates.ts'
import fileStyles from '#web/ui/file-import.module.css'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './import.module.css'
import { texts } from './texts.ts'

const t = texts.sources

/** A look at an address: what it would change. */
interface Shown {
  source: WatchedSource
  look: SourceLook
}

/** Addresses that are read every day: add one, look through what it changes, apply that, undo the last update. */
export function Sources({ onLook }: { onLook: (looking: boolean) => void }): ReactNode {
  const queries = useQueryClient()
  const sources = useApiQuery(sourceCalls.list)
  const [shown, setShown] = useState<Shown | null>(null)
  const [busy, setBusy] = useState<string | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const section = useRef<HTMLElement>(null)
  const show = (next: Shown | null) => {
    setShown(next)
    onLook(next !== null)
  }
  const run = async (what: string, act: () => Promise<void>) => {
    setBusy(what)
    setFailure(null)
    try {
      await act()
    } catch (error) {
      setFailure(errorMessage(error))
    }
    await invalidate(queries, [sourceCalls.list])
    setBusy(null)
    // The button that had the focus may be gone.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) section.current?.focus()
    })
  }
  const acting = (what: string, busyText: string) => ({ busy: busy === what, busyText, disabled: busy !== null && busy !== what })
  const look = async (source: WatchedSource) => {
    const answer = await patiently(() => send(sourceCalls.pull, { params: { id: source._id }, body: {} }))
    show({ source, look: answer })
  }
  const apply = ({ source, look: { fingerprint } }: Shown) =>
    run('apply', async () => {
      const { pull } = await send(sourceCalls.pull, { params: { id: source._id }, body: { apply: true, fingerprint } })
      if (pull) toast('good', texts.again.doneTitle(pull.imported, pull.updated, pull.unchanged))
      show(null)
      await invalidate(queries, pauseInvalidates)
    })
  const undo = (id: string) =>
    run(id, async () => {
      const { deleted, restored, kept } = await send(invoiceCalls.undoImport, { params: { id } })
      if (kept.length > 0) toast('bad', texts.again.kept(kept.map(({ message }) => message)))
      else toast('good', texts.again.undone(deleted, restored))
      await invalidate(queries, pauseInvalidates)
    })
  if (shown)
    return (
      <>
        <h3 className={styles.sourcesTitle}>{shown.source.name}</h3>
        <LookThrough look={shown.look} />
        <FormError message={failure} />
        <div className={fileStyles.buttons}>
          <Button variant="default" onClick={() => show(null)}>
            {t.close}
          </Button>
          <BusyButton busy={busy === 'apply'} busyText={t.applying} disabled={shown.look.changes === 0} onClick={() => void apply(shown)}>
            {t.apply(shown.look.changes)}
          </BusyButton>
        </div>
      </>
    )
  return (
    <section ref={section} tabIndex={-1} className={styles.watched} aria-labelledby="sources">
      <h3 id="sources" className={styles.sourcesTitle}>
        {t.title}
      </h3>
      <p className={styles.dim}>{t.hint}</p>
      {(sources.data ?? []).length > 0 && (
        <ul className={styles.sourceList}>
          {sources.data?.map((source) => (
            <li key={source._id} className={styles.source}>
              <SourceWords source={source} />
              <span className={styles.sourceActs}>
                {source.lastPull?.undoable && (
                  <BusyButton
                    variant="subtle"
                    {...acting(source.lastPull._id, texts.undoBusy)}
                    onClick={() => void undo(source.lastPull?._id ?? '')}
                  >
                    {t.undo}
                  </BusyButton>
                )}
                <BusyButton
                  variant="subtle"
                  {...acting(`remove ${source._id}`, t.removing)}
                  onClick={() => void run(`remove ${source._id}`, () => send(sourceCalls.remove, { params: { id: source._id } }))}
                >
                  {t.remove}
                </BusyButton>
                {!source.handedOver && (
                  <BusyButton variant="default" {...acting(source._id, t.looking)} onClick={() => void run(source._id, () => look(source))}>
                    {t.look}
                  </BusyButton>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <FormError message={failure ?? (sources.error && errorMessage(sources.error))} />
      <AddSource busy={busy === 'add'} onAdd={(body) => void run('add', async () => look(await send(sourceCalls.create, { body })))} />
    </section>
  )
}

function SourceWords({ source: { name, url, lastPull, handedOver } }: { source: WatchedSource }): ReactNode {
  const { zone } = useToday()
  const result = lastPull?.message ?? (lastPull ? texts.again.doneTitle(lastPull.imported, lastPull.updated, lastPull.unchanged) : t.never)
  return (
    <span className={styles.who}>
      <span className={styles.name}>{name}</span>
      {url !== null && <span className={styles.dim}>{url.replace(/^https?:\/\//, '')}</span>}
      {handedOver && <span className={styles.message}>{t.handedOver}</span>}
      <span className={lastPull && lastPull.state !== 'applied' ? styles.message : styles.dim}>
        {lastPull ? t.last(showDate(dateIn(zone, new Date(lastPull.at))), result) : result}
      </span>
    </span>
  )
}

/** Hints of unlike length below their fields, so that fields beside each other have one height. */
const below: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']

interface AddSourceProps {
  busy: boolean
  onAdd: (body: CallInput<typeof sourceCalls.create>['body']) => void
}

function AddSource({ busy, onAdd }: AddSourceProps): ReactNode {
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [daysToPay, setDays] = useState<number | null>(null)
  const [missingMeansPaid, setMissing] = useState(false)
  const proof = useProof()
  const [given, setGiven] = useState(noProof)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const named = name.trim() === '' ? {} : { name: name.trim() }
    onAdd({ url: url.trim(), daysToPay, missingMeansPaid, ...named, ...proofIn(proof, given) })
  }
  return (
    <form className={styles.addSource} onSubmit={submit}>
      <TextInput
        type="url"
        label={t.address}
        description={t.anyone}
        placeholder={t.example}
        required
        withAsterisk={false}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <div className={styles.pair}>
        <TextInput
          label={t.name}
          description={t.nameHint}
          inputWrapperOrder={below}
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NumberInput
          label={t.daysToPay}
          description={t.daysHint}
          inputWrapperOrder={below}
          min={0}
          max={365}
          allowDecimal={false}
          value={daysToPay ?? ''}
          onChange={(days) => setDays(typeof days === 'number' ? days : null)}
        />
      </div>
      <Checkbox
        label={texts.again.missing}
        description={t.missingHint}
        checked={missingMeansPaid}
        onChange={(event) => setMissing(event.currentTarget.checked)}
      />
      {url.trim() !== '' && (
        <ProofField
          proof={proof}
          hint={t.proofHint}
          of={(field) => ({
            value: given[field],
            withAsterisk: false,
            onChange: (event: ChangeEvent<HTMLInputElement>) => setGiven({ ...given, [field]: event.currentTarget.value }),
          })}
        />
      )}
      <div>
        <BusyButton type="submit" variant="default" busy={busy} busyText={t.looking}>
          {t.add}
        </BusyButton>
      </div>
    </form>
  )
}

function LookThrough({ look: { changes, waits, lines, asks } }: { look: SourceLook }): ReactNode {
  return (
    <>
      {(changes > 0 || asks.length === 0) && (
        <Notice tone={waits ? 'warn' : 'info'}>{changes === 0 ? t.nothing : t.changes(changes)}</Notice>
      )}
      {asks.length > 0 && (
        <Notice tone="warn">
          {t.asks}
          <ul className={styles.asks}>
            {asks.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </Notice>
      )}
      {lines.length > 0 && (
        // A scrollable region must be focusable to be scrolled by keyboard.
        <Box component="section" className={styles.lookLines ?? ''} tabIndex={0} aria-label={texts.preview}>
          <ul className={styles.sourceList}>
            {lines.map(({ line, reference, state, about, message }) => (
              <li key={`${line} ${reference}`} className={styles.lookLine} data-state={state}>
                <strong>{reference}</strong> {about}
                <span className={styles.lookMessage}>{message ?? t.fresh}</span>
              </li>
            ))}
          </ul>
        </Box>
      )}
    </>
  )
}
