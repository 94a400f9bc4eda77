import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { type HandedOver, teamCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { madeTexts } from '#web/accounts/made-texts.ts'
import { ContractForm, useContractForm } from '#web/platform/contract-form.tsx'
import { noProof, ProofField, proofIn, useProof } from '#web/platform/proof.tsx'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { CopyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'
import { MadeFacts } from './remove-member.tsx'

const t = madeTexts.panel

/** Where what has to be connected again is connected; its secret is its provider's. */
const connectedAt: Partial<Record<HandedOver['kind'], string>> = { mailbox: screens.mailSettings, razorpay: screens.gettingPaid }

/** What people set up who have left; nothing where there is none. */
export function HandedOverPanel(): ReactNode {
  const waiting = useApiQuery(teamCalls.handedOver).data ?? []
  const [taking, setTaking] = useState<HandedOver | null>(null)
  const { mutateAsync } = useApiMutation(teamCalls.endHandedOver, { invalidates: [teamCalls.handedOver] })
  const end = async ({ kind, _id: id, name }: HandedOver) => {
    const ended = await confirm({
      title: t.endTitle(name),
      body: t.endText,
      tone: 'danger',
      action: t.end,
      busy: t.ending,
      failed: t.endFailed,
      onConfirm: () => mutateAsync({ params: { kind, id } }),
    })
    if (ended) toast('good', t.ended(name))
  }
  return (
    <>
      {waiting.length > 0 && (
        <Panel title={t.title}>
          <p className={styles.flush}>{t.text}</p>
          <ul className={styles.made}>
            {waiting.map((one) => (
              <Row key={`${one.kind} ${one._id}`} item={one} onTakeOver={() => setTaking(one)} onEnd={() => void end(one)} />
            ))}
          </ul>
        </Panel>
      )}
      <TakeOver item={taking} onClose={() => setTaking(null)} />
    </>
  )
}

function Row({ item, onTakeOver, onEnd }: { item: HandedOver; onTakeOver: () => void; onEnd: () => void }): ReactNode {
  const { kind, name, from, to, mine } = item
  const connecting = connectedAt[kind]
  return (
    <li className={styles.madeRow}>
      <div className={styles.memberWords}>
        <span className={styles.rowName}>{name}</span>
        <MadeFacts made={item} />
        <p className={styles.rowQuiet}>{t.from(from, to, mine)}</p>
      </div>
      <Group gap={4}>
        {connecting === undefined ? (
          <Button
            variant="default"
            disabled={!mine}
            title={mine ? undefined : t.notMine(to)}
            aria-label={t.takeOverOf(name)}
            onClick={onTakeOver}
          >
            {t.takeOver}
          </Button>
        ) : (
          <Button component={Link} to={connecting} variant="default" aria-label={t.connectOf(name)}>
            {t.connect}
          </Button>
        )}
        <Button variant="subtle" aria-label={t.endOf(name)} onClick={onEnd}>
          {t.end}
        </Button>
      </Group>
    </li>
  )
}

const d = madeTexts.dialog

/** Asks for the password, then shows a new secret once. */
function TakeOver({ item, onClose }: { item: HandedOver | null; onClose: () => void }): ReactNode {
  const shown = useKept(item)
  const [secret, setSecret] = useState<string | null>(null)
  // A secret is shown once: a click outside the dialog must not lose it.
  const stays = secret !== null
  return (
    <Dialog
      opened={item !== null}
      onClose={onClose}
      onExitTransitionEnd={() => setSecret(null)}
      title={d.title(shown?.name ?? '')}
      size={520}
      closeOnClickOutside={!stays}
      closeOnEscape={!stays}
      withCloseButton={!stays}
    >
      {secret !== null ? (
        <>
          <div className={styles.takeOver}>
            <p className={styles.flush}>{d.once}</p>
            <div className={styles.secret}>
              <code>{secret}</code>
              <CopyButton text={secret} what={d.label} />
            </div>
          </div>
          <Group justify="flex-end" mt={24}>
            <Button onClick={onClose}>{d.kept}</Button>
          </Group>
        </>
      ) : (
        shown && <TakeOverForm item={shown} onSecret={setSecret} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface TakeOverFormProps {
  item: HandedOver
  onSecret: (secret: string) => void
  onClose: () => void
}

function TakeOverForm({ item, onSecret, onClose }: TakeOverFormProps): ReactNode {
  const { kind, _id: id, name, from } = item
  const proof = useProof()
  const state = useContractForm({
    call: teamCalls.takeOver,
    initialValues: noProof,
    toInput: (given) => ({ params: { kind, id }, body: proofIn(proof, given) }),
    invalidates: [teamCalls.handedOver],
    onSuccess: ({ secret }) => {
      toast('good', d.done(name))
      if (secret === null) onClose()
      else onSecret(secret)
    },
  })
  const hasSecret = kind === 'api_key' || kind === 'webhook'
  return (
    <ContractForm
      state={state}
      submit={d.submit}
      busy={d.busy}
      actions={
        <Button variant="default" onClick={onClose} disabled={state.busy}>
          {d.cancel}
        </Button>
      }
    >
      <div className={styles.takeOver}>
        <MadeFacts made={item} />
        <p className={styles.flush}>{hasSecret ? d.secret(from) : d.link(from)}</p>
        <ProofField proof={proof} hint={d.proofHint} autofocus of={(field) => state.form.getInputProps(field)} />
      </div>
    </ContractForm>
  )
}
