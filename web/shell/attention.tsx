import { ActionIcon } from '@mantine/core'
import { IconBell } from '@tabler/icons-react'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { type Notice, noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { causeOf, type SenderPause } from '#contract/sender-pause.ts'
import { useLiveInterval } from '#web/platform/account.tsx'
import { AttentionContext, type AttentionItem, plainItem, useAttention } from '#web/platform/attention.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { showComing } from '#web/ui/dates.ts'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './shell.module.css'
import { texts } from './texts.ts'

const t = texts.notices
/** Milliseconds between refetches. */
const seldom = 60_000

const AttentionList = lazyDialog(async () => (await import('./attention-list.tsx')).AttentionList)

/** Collects what needs the owner, from notices, the mailbox and other slices, for the header's bell and the dashboard's line. */
export function AttentionProvider({ children }: { children: ReactNode }): ReactNode {
  const enabled = useSession() != null
  const status = useApiQuery(reminderCalls.status, {}, { enabled, refetchInterval: seldom })
  const live = useLiveInterval(enabled)
  const notices = useApiQuery(noticeCalls.list, {}, { enabled, refetchInterval: live === false ? seldom : live })
  const accessToReview = useApiQuery(accountCalls.profile, {}, { enabled, staleTime: 10 * seldom }).data?.accessToReview === true
  const [published, setPublished] = useState<Record<string, AttentionItem[]>>({})
  const [opened, setOpened] = useState(false)
  const { mutateAsync: dismiss } = useApiMutation(noticeCalls.dismiss, {
    invalidates: [noticeCalls.list],
    update: (cache, _reply, { params }) => cache.update(noticeCalls.list, (list) => list.filter(({ _id }) => _id !== params.id)),
    onError: (error) => toast('bad', t.dismissFailed(errorMessage(error))),
  })
  const publish = useCallback((source: string, items: AttentionItem[]) => setPublished((before) => ({ ...before, [source]: items })), [])
  const attention = useMemo(() => {
    const { pause = null, trouble = null, timezone } = status.data ?? {}
    const items =
      status.data && notices.data
        ? inOrder([
            ...(accessToReview ? [accessItem] : []),
            ...(pause ? [mailboxItem(pause, timezone)] : []),
            ...(trouble === null ? [] : [troubleItem(trouble)]),
            ...shownNotices(notices.data, pause).map((notice) => noticeItem(notice, () => dismiss({ params: { id: notice._id } }))),
            ...Object.values(published).flat(),
          ])
        : null
    return { items, count: items?.filter(({ needsOwner }) => needsOwner).length ?? 0, open: () => setOpened(true), publish }
  }, [status.data, notices.data, accessToReview, published, publish, dismiss])
  return (
    <AttentionContext value={attention}>
      {children}
      <LazyMount wanted={opened}>
        <AttentionList opened={opened} items={attention.items ?? []} zone={status.data?.timezone} onClose={() => setOpened(false)} />
      </LazyMount>
    </AttentionContext>
  )
}

/** Opens the list of what needs the owner, and shows its number. */
export function Bell(): ReactNode {
  const { count, open } = useAttention()
  return (
    <ActionIcon className={styles.bell ?? ''} aria-label={texts.notices.bell(count)} aria-haspopup="dialog" onClick={open}>
      <IconBell size={20} stroke={1.7} />
      {count > 0 && (
        <span className={styles.bellCount} aria-hidden>
          {count > 99 ? '99+' : count}
        </span>
      )}
    </ActionIcon>
  )
}

const urgency = { bad: 0, warn: 1, info: 2 }

/** Stable: items of the same urgency stay in the order of their sources, notices the most recent first. */
function inOrder(items: AttentionItem[]): AttentionItem[] {
  return items.toSorted((one, other) => Number(other.needsOwner) - Number(one.needsOwner) || urgency[one.tone] - urgency[other.tone])
}

/** The mailbox refuses: the reminders wait until its owner acts, or until a quota is free again. */
function mailboxItem(pause: SenderPause, zone: string | undefined): AttentionItem {
  const cause = causeOf(pause)
  const when = pause.until === null ? null : showComing(zone, new Date(pause.until), new Date())
  const ends = when === null ? '' : (cause === 'sender_refused' ? t.tries : t.resumes)(when)
  return {
    ...plainItem,
    key: `mailbox ${pause.since}`,
    kind: 'mailbox',
    tone: cause === 'quota' ? 'warn' : 'bad',
    needsOwner: cause !== 'quota',
    summary: t.paused[cause].summary,
    title: t.paused[cause].title,
    text: [t.paused[cause].text, pause.advice ?? '', ends].filter((sentence) => sentence !== '').join(' '),
    ...(cause === 'handed_over' ? {} : { reply: pause.message }),
    action: { text: t.openSettings, to: screens.mailSettings, reload: false },
    at: pause.since,
  }
}

/** The password was reset, and what has access has not been looked at. */
const accessItem: AttentionItem = {
  ...plainItem,
  ...t.access,
  key: 'access',
  kind: 'approval',
  tone: 'warn',
  needsOwner: true,
  action: { text: t.look, to: screens.access, reload: false },
}

function troubleItem(trouble: string): AttentionItem {
  const { summary, title } = t.trouble
  return { ...plainItem, key: 'trouble', kind: 'service', tone: 'warn', needsOwner: false, summary, title, text: trouble }
}

const kinds: Record<Notice['kind'], Pick<AttentionItem, 'kind' | 'tone' | 'needsOwner'>> = {
  login_refused: { kind: 'mailbox', tone: 'bad', needsOwner: true },
  sender_refused: { kind: 'mailbox', tone: 'bad', needsOwner: true },
  address_refused: { kind: 'address', tone: 'bad', needsOwner: true },
  not_delivered: { kind: 'delivery', tone: 'bad', needsOwner: true },
  promise_broken: { kind: 'promise', tone: 'bad', needsOwner: true },
  overpaid: { kind: 'payment', tone: 'info', needsOwner: true },
  restored: { kind: 'approval', tone: 'warn', needsOwner: true },
  imports_held: { kind: 'approval', tone: 'warn', needsOwner: true },
  webhook_failing: { kind: 'webhook', tone: 'warn', needsOwner: true },
  webhook_gone: { kind: 'webhook', tone: 'warn', needsOwner: true },
  webhook_unverified: { kind: 'webhook', tone: 'warn', needsOwner: true },
  webhook_skipped: { kind: 'webhook', tone: 'warn', needsOwner: true },
  taken_over: { kind: 'service', tone: 'warn', needsOwner: true },
  quota: { kind: 'mailbox', tone: 'info', needsOwner: false },
  client_answered: { kind: 'answer', tone: 'warn', needsOwner: true },
  answer_lapsed: { kind: 'answer', tone: 'warn', needsOwner: true },
  paid_online: { kind: 'payment', tone: 'info', needsOwner: false },
  refunded_online: { kind: 'payment', tone: 'info', needsOwner: false },
  source_failing: { kind: 'service', tone: 'warn', needsOwner: true },
  source_waiting: { kind: 'approval', tone: 'warn', needsOwner: true },
  run_missing: { kind: 'service', tone: 'warn', needsOwner: true },
  sequence_ended: { kind: 'delivery', tone: 'warn', needsOwner: true },
  payment_settings: { kind: 'service', tone: 'info', needsOwner: false },
  handed_over: { kind: 'service', tone: 'warn', needsOwner: true },
  access_changed: { kind: 'service', tone: 'info', needsOwner: false },
}

function noticeItem({ _id, kind, summary, title, text, link, clients, updatedAt }: Notice, dismiss: () => Promise<unknown>): AttentionItem {
  return {
    ...plainItem,
    ...kinds[kind],
    key: _id,
    summary,
    title,
    text,
    action: link === null ? null : { text: kind === 'address_refused' ? t.correct : t.look, to: link, reload: false },
    clients,
    at: updatedAt,
    dismiss,
  }
}

/** Drops notices that the mailbox's own entry repeats: a refused login or sender always, a used-up quota while the pause lasts. */
export function shownNotices(notices: Notice[], pause: SenderPause | null): Notice[] {
  return notices.filter(({ kind }) => kind !== 'login_refused' && kind !== 'sender_refused' && (kind !== 'quota' || pause === null))
}
