import { Button, Skeleton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { billingCalls, type Payment } from '#contract/billing.ts'
import { formatRupees } from '#contract/money.ts'
import { planOf } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { Panel, Pill, type PillTone } from '#web/ui/panel.tsx'
import styles from './billing.module.css'
import { texts } from './texts.ts'
import { useDay } from './use-day.ts'

const words = texts.history
/** How many stand there at first. */
const first = 12

const tones = { captured: 'paid', authorized: 'unpaid', failed: 'overdue', refunded: 'quiet' } satisfies Record<Payment['status'], PillTone>

/** Every payment that was tried, newest first. */
export function PaymentList(): ReactNode {
  const payments = useApiQuery(billingCalls.payments)
  return (
    <Panel title={words.title}>
      <QueryView
        query={payments}
        loading={words.loading}
        skeleton={<Skeleton height={120} radius={14} />}
        error={words.failed}
        empty={<p className={styles.none}>{words.none}</p>}
      >
        {(list) => <Table list={list} />}
      </QueryView>
    </Panel>
  )
}

function Table({ list }: { list: Payment[] }): ReactNode {
  const [all, setAll] = useState(false)
  const day = useDay()
  return (
    <>
      <table className={styles.payments}>
        <thead>
          <tr>
            <th scope="col">{words.date}</th>
            <th scope="col">{words.what}</th>
            <th scope="col">{words.amount}</th>
            <th scope="col">{words.status}</th>
          </tr>
        </thead>
        <tbody>
          {(all ? list : list.slice(0, first)).map((payment) => (
            <Row key={payment._id} payment={payment} date={day(payment.paidAt)} />
          ))}
        </tbody>
      </table>
      {!all && list.length > first && (
        <Button variant="default" onClick={() => setAll(true)}>
          {words.more(list.length)}
        </Button>
      )}
    </>
  )
}

function Row({ payment, date }: { payment: Payment; date: string }): ReactNode {
  const { plan, billingPeriod, amount, refunded, status, reason, paymentId } = payment
  return (
    <tr>
      <td>{date}</td>
      <td>
        {texts.subscribe.description(planOf(plan).title, texts.subscribe.periods[billingPeriod].toLowerCase())}
        <span className={styles.number}>{paymentId}</span>
        {status === 'failed' && reason !== null && <span className={styles.number}>{reason}</span>}
      </td>
      <td className={styles.amount}>
        {formatRupees(amount)}
        {refunded > 0 && <span className={styles.number}>{words.refunded(formatRupees(refunded))}</span>}
      </td>
      <td>
        <Pill tone={tones[status]}>{words.statuses[status]}</Pill>
      </td>
    </tr>
  )
}
