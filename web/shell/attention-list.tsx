import '@mantine/core/styles/Drawer.layer.css'
import { Button, Drawer } from '@mantine/core'
import {
  IconAlertCircle,
  IconCalendarX,
  IconCash,
  IconCircleCheck,
  IconInfoCircle,
  IconMailExclamation,
  IconMailOff,
  IconMessage,
  IconPlayerPause,
  IconPlugConnectedX,
  IconSparkles,
} from '@tabler/icons-react'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { screens } from '#contract/screens.ts'
import { Allowed } from '#web/platform/account.tsx'
import type { AttentionItem } from '#web/platform/attention.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showMoment } from '#web/ui/dates.ts'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './on-demand.module.css'
import { attentionTexts as t } from './on-demand-texts.ts'

interface AttentionListProps {
  opened: boolean
  items: AttentionItem[]
  zone: string | undefined
  onClose: () => void
}

/** The list behind the bell: what needs the owner first, then what is good to know. */
export function AttentionList({ opened, items, zone, onClose }: AttentionListProps): ReactNode {
  const needed = items.filter(({ needsOwner }) => needsOwner)
  const others = items.filter(({ needsOwner }) => !needsOwner)
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size={480}
      padding="var(--drawer-padding)"
      title={t.title(needed.length)}
      // A <header> inside a dialog must not be a banner landmark.
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ size: 44, iconSize: 20, 'aria-label': t.close }}
      transitionProps={{ duration: 160 }}
      overlayProps={{ backgroundOpacity: 0.6 }}
      classNames={{ content: styles.drawer ?? '', title: styles.title ?? '', header: styles.head ?? '' }}
    >
      {items.length === 0 && <EmptyState icon={<IconCircleCheck />} text={t.empty} />}
      <Items items={needed} zone={zone} onClose={onClose} />
      {others.length > 0 && <h3 className={styles.more}>{t.others}</h3>}
      <Items items={others} zone={zone} onClose={onClose} />
    </Drawer>
  )
}

function Items({ items, zone, onClose }: Omit<AttentionListProps, 'opened'>): ReactNode {
  const list = useRef<HTMLUListElement>(null)
  const dismissed = useRef(false)
  const count = items.length
  // A dismissed item takes its button along: focus the next one, or the drawer.
  useEffect(() => {
    if (!dismissed.current) return
    dismissed.current = false
    const next =
      (count > 0 ? list.current?.querySelector<HTMLElement>('button') : null) ??
      document.querySelector<HTMLElement>('[role="dialog"] button')
    next?.focus({ preventScroll: true })
  }, [count])
  if (count === 0) return null
  return (
    <ul ref={list} className={styles.list}>
      {items.map((item) => (
        <Item
          key={item.key}
          item={item}
          zone={zone}
          onClose={onClose}
          onDismissed={() => {
            dismissed.current = true
          }}
        />
      ))}
    </ul>
  )
}

interface ItemProps {
  item: AttentionItem
  zone: string | undefined
  onClose: () => void
  onDismissed: () => void
}

function Item({ item, zone, onClose, onDismissed }: ItemProps): ReactNode {
  const { title, text, reply, clients, action, at, dismiss, tone } = item
  const [busy, setBusy] = useState(false)
  const Icon = attentionIcon(item)
  // A button that leads to the invoice says no more than its link.
  const named = clients.length === 1 && action?.to.startsWith(screens.invoice(clients[0]?.invoiceId ?? '')) ? [] : clients
  const putAway = async () => {
    if (!dismiss) return
    setBusy(true)
    onDismissed()
    await Promise.resolve(dismiss()).catch(() => undefined)
    setBusy(false)
  }
  return (
    <li className={styles.notice}>
      <Icon size={20} stroke={1.7} aria-hidden className={styles.noticeIcon} data-tone={tone} />
      <div className={styles.words}>
        <p className={styles.what}>
          <strong>{title}</strong>
          {at !== null && <span className={styles.when}>{showMoment(zone, new Date(at), new Date())}</span>}
        </p>
        <p className={styles.text}>{text}</p>
        {named.length > 0 && (
          <p className={styles.text}>
            {named.map(({ clientName, invoiceId, reference }, nth) => (
              <Fragment key={invoiceId}>
                {nth > 0 && ' · '}
                <Link to={screens.invoice(invoiceId)} onClick={onClose}>
                  {t.client(clientName, reference)}
                </Link>
              </Fragment>
            ))}
          </p>
        )}
        {reply !== null && (
          <details className={styles.reply}>
            <summary>{t.reply}</summary>
            <q>{reply}</q>
          </details>
        )}
        {(action || dismiss) && (
          <div className={styles.actions}>
            {action && (
              <Button
                component={Link}
                to={action.to}
                {...(action.reload ? { reloadDocument: true } : {})}
                variant="default"
                aria-label={t.about(action.text, title)}
                onClick={onClose}
              >
                {action.text}
              </Button>
            )}
            {dismiss && (
              <Allowed by="member">
                <BusyButton
                  variant="subtle"
                  color="gray"
                  busy={busy}
                  busyText={t.dismissing}
                  aria-label={t.about(t.dismiss, title)}
                  onClick={() => void putAway()}
                >
                  {t.dismiss}
                </BusyButton>
              </Allowed>
            )}
          </div>
        )}
      </div>
    </li>
  )
}

const icons = {
  mailbox: IconPlugConnectedX,
  address: IconMailOff,
  delivery: IconMailExclamation,
  promise: IconCalendarX,
  answer: IconMessage,
  payment: IconCash,
  approval: IconInfoCircle,
  webhook: IconPlugConnectedX,
  service: IconAlertCircle,
  plan: IconSparkles,
} as const

/** The icon of a cause; a plan that holds something back is paused. */
function attentionIcon({ kind, tone }: { kind: keyof typeof icons; tone: 'bad' | 'warn' | 'info' }): typeof IconAlertCircle {
  return kind === 'plan' && tone === 'warn' ? IconPlayerPause : icons[kind]
}
