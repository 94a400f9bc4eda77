import { Button, Skeleton } from '@mantine/core'
import { IconCash } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { bankLines } from '#contract/pay.ts'
import { type PayMethods, type PaymentSettings, paymentSettingsCalls } from '#contract/payment-settings.ts'
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
import { bankFileTexts, texts } from './texts.ts'

const t = texts.ways
export type Method = keyof PayMethods
const methods: Method[] = ['upi', 'bank', 'ownLink']

export default function GettingPaidScreen(): ReactNode {
  const settings = useApiQuery(paymentSettingsCalls.read)
  const server = useApiQuery(accountCalls.server)
  const [editing, setEditing] = useState<Method | null>(null)
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
            {methods.every((method) => found[method] === null) ? (
              <EmptyState
                icon={<IconCash />}
                title={texts.none.title}
                text={texts.none.text}
                action={methods.map((method, at) => (
                  <Button key={method} variant={at === 0 ? 'filled' : 'default'} onClick={() => setEditing(method)}>
                    {t.addOne[method]}
                  </Button>
                ))}
              />
            ) : (
              <Ways settings={found} onEdit={setEditing} />
            )}
            <PayPageCard settings={found} />
            <Panel title={bankFileTexts.title}>
              <p className={styles.text}>{bankFileTexts.card}</p>
              <Button component={Link} to={screens.bankFile} variant="default">
                {bankFileTexts.title}
              </Button>
            </Panel>
            <MethodDialog method={editing} settings={found} onClose={() => setEditing(null)} />
          </div>
        )}
      </QueryView>
    </>
  )
}

function Ways({ settings, onEdit }: { settings: PaymentSettings; onEdit: (method: Method) => void }): ReactNode {
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
      </ul>
    </Panel>
  )
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
