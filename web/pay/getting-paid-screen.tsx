import { Button, Skeleton } from '@mantine/core'
import { IconCash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { bankLines } from '#contract/pay.ts'
import { isTestKey, type PayMethods, type PaymentSettings, paymentSettingsCalls } from '#contract/payment-settings.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { AnswersCard } from './answers-card.tsx'
import { MethodDialog } from './method-dialog.tsx'
import styles from './pay.module.css'
import { PayPageCard } from './pay-page-card.tsx'
import { RazorpayDialog, TryButton } from './razorpay-dialog.tsx'
import { bankFileTexts, texts } from './texts.ts'

const t = texts.ways
export type Method = Exclude<keyof PayMethods, 'online'>
const methods: Method[] = ['upi', 'bank', 'ownLink']

export default function GettingPaidScreen(): ReactNode {
  const settings = useApiQuery(paymentSettingsCalls.read)
  const server = useApiQuery(accountCalls.server)
  const [editing, setEditing] = useState<Method | null>(null)
  const [connecting, setConnecting] = useState(false)
  return (
    <>
      <PageHeader title={texts.title} subtitle={texts.subtitle} />
      {server.data?.payLinks === false && <Notice tone="info">{texts.noAddress}</Notice>}
      <QueryView
        query={settings}
        loading={texts.loading}
        skeleton={<Skeleton height={320} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(found) => (
          <div className={styles.stack}>
            <AnswersCard />
            {methods.every((method) => found[method] === null) && found.razorpay === null ? (
              <EmptyState
                icon={<IconCash />}
                title={texts.none.title}
                text={texts.none.text}
                action={
                  <>
                    {methods.map((method, at) => (
                      <Button key={method} variant={at === 0 ? 'filled' : 'default'} onClick={() => setEditing(method)}>
                        {t.addOne[method]}
                      </Button>
                    ))}
                    <Button variant="default" onClick={() => setConnecting(true)}>
                      {texts.razorpay.connect}
                    </Button>
                  </>
                }
              />
            ) : (
              <Ways settings={found} isPublic={server.data?.payLinks !== false} onEdit={setEditing} onConnect={() => setConnecting(true)} />
            )}
            <PayPageCard settings={found} />
            <Panel title={bankFileTexts.title}>
              <p className={styles.text}>{bankFileTexts.card}</p>
              <Button component={Link} to={screens.bankFile} variant="default">
                {bankFileTexts.title}
              </Button>
            </Panel>
            <MethodDialog method={editing} settings={found} onClose={() => setEditing(null)} />
            <RazorpayDialog opened={connecting} connection={found.razorpay} onClose={() => setConnecting(false)} />
          </div>
        )}
      </QueryView>
    </>
  )
}

interface WaysProps {
  settings: PaymentSettings
  /** Clients can reach this server. */
  isPublic: boolean
  onEdit: (method: Method) => void
  onConnect: () => void
}

function Ways({ settings, isPublic, onEdit, onConnect }: WaysProps): ReactNode {
  const { razorpay } = settings
  const r = texts.razorpay
  return (
    <Panel title={t.title}>
      <ul className={styles.list}>
        {methods.map((method) => {
          const shown = summaryOf(settings, method)
          return (
            <li key={method} className={styles.item}>
              <div className={styles.what}>
                <div className={styles.name}>{t.names[method]}</div>
                <div className={styles.quiet}>{shown ?? t.notSet}</div>
              </div>
              <Button variant="default" aria-label={(shown === null ? t.addOne : t.changeOne)[method]} onClick={() => onEdit(method)}>
                {shown === null ? t.add : t.change}
              </Button>
            </li>
          )
        })}
        <li className={styles.item}>
          <div className={styles.what}>
            <div className={styles.name}>{r.name}</div>
            <div className={styles.quiet}>{razorpay === null ? t.notSet : shownConnection(razorpay.keyId, isPublic)}</div>
          </div>
          <div className={styles.acts}>
            {razorpay !== null && isTestKey(razorpay.keyId) && <TryButton />}
            <Button variant="default" aria-label={razorpay === null ? r.connect : r.change} onClick={onConnect}>
              {razorpay === null ? r.connect : t.change}
            </Button>
          </div>
        </li>
      </ul>
    </Panel>
  )
}

function shownConnection(keyId: string, isPublic: boolean): string {
  const r = texts.razorpay
  return (isTestKey(keyId) ? r.shownTest : isPublic ? r.shown : r.unreachable)(keyId)
}

function summaryOf({ upi, bank, ownLink }: PaymentSettings, method: Method): string | null {
  if (method === 'upi') return upi && `${upi.id}, ${upi.name}`
  if (method === 'ownLink') return ownLink && `${ownLink.label}: ${ownLink.url}`
  return (
    bank &&
    bankLines(bank, '')
      .map(({ label, shown }) => (label === '' ? shown : `${label}: ${shown}`))
      .join(' · ')
  )
}
