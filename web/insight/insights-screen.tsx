import { ActionIcon, Button } from '@mantine/core'
import { IconChartHistogram, IconLock, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { billingCalls } from '#contract/billing.ts'
import { type AdvancedInsights, type Age, ageOf, ages, type CurrencyInsights, type Insights, insightCalls } from '#contract/insights.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { planThatLifts } from '#contract/plans.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { LinkButton } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { daysBetween, lateness } from '#web/ui/dates.ts'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { ChartCard, FigureTable } from './chart-card.tsx'
import { AgeingBar, DaysLateChart, EffectChart, ForecastChart, LatePayersChart, PromisesChart, TrendCharts } from './charts.tsx'
import { ageingOf, clientsOf, daysLateOf, effectOf, forecastOf, latePayersOf, promisesOf, trendOf } from './figures.ts'
import styles from './insights.module.css'
import { texts } from './texts.ts'

/** /dashboard/insights: how clients pay, and what reminders do. */
export default function InsightsScreen(): ReactNode {
  const figures = useApiQuery(insightCalls.read)
  const [chosen, setChosen] = useState<string | null>(null)
  const currencies = figures.data?.byCurrency.map(({ currency }) => currency) ?? []
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0]
  return (
    <>
      <PageHeader
        title={texts.title}
        subtitle={texts.subtitle}
        action={
          currencies.length > 1 && (
            <fieldset className={styles.currencies} aria-label={texts.currency}>
              {currencies.map((code) => (
                <button key={code} type="button" aria-pressed={code === currency} onClick={() => setChosen(code)}>
                  {code}
                </button>
              ))}
            </fieldset>
          )
        }
      />
      <QueryView
        query={figures}
        loading={texts.loading}
        error={texts.failed}
        isEmpty={isEmpty}
        empty={
          <EmptyState
            icon={<IconChartHistogram size={26} stroke={1.6} />}
            title={texts.none.title}
            text={texts.none.text}
            action={
              <LinkButton by="member" to={screens.newInvoice}>
                {texts.none.create}
              </LinkButton>
            }
          />
        }
      >
        {(all) => <Figures all={all} currency={currency ?? all.currency} />}
      </QueryView>
    </>
  )
}

function isEmpty({ byCurrency }: Insights): boolean {
  return byCurrency.every(({ invoices, daysLate }) => daysLate.paid === 0 && ages.every((age) => invoices[age] === 0))
}

function Figures({ all, currency }: { all: Insights; currency: string }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const isPro = subscription.data?.entitlements.abilities.includes('advancedAnalytics')
  const advanced = useApiQuery(insightCalls.advanced, {}, { enabled: isPro === true })
  const one = all.byCurrency.find((its) => its.currency === currency) ?? all
  const file = isPro === true
  const [every, setEvery] = useState(false)
  return (
    <>
      <Ageing one={one} today={all.today} file={file} />
      <div className={styles.pair}>
        <ChartCard finding={daysLateOf(one)} formula={texts.daysLate.formula} file={file ? 'clients' : null}>
          <DaysLateChart {...one} />
        </ChartCard>
        <ChartCard
          finding={latePayersOf(one)}
          formula={texts.latePayers.formula}
          file={file ? 'clients' : null}
          foot={
            file && (
              <p className={styles.about}>
                <button type="button" className={styles.explain} aria-expanded={every} onClick={() => setEvery(!every)}>
                  {every ? texts.clients.hide : texts.clients.show}
                </button>
              </p>
            )
          }
        >
          <LatePayersChart {...one} />
        </ChartCard>
      </div>
      {file && every && <Clients currency={one.currency} />}
      {isPro === false && <Locked />}
      {isPro === true && (
        <QueryView query={advanced} loading={texts.loading} error={texts.failed} empty={null}>
          {(figures) => <Advanced figures={figures} currency={currency} />}
        </QueryView>
      )}
    </>
  )
}

/** Every client with invoices in a currency. */
function Clients({ currency }: { currency: string }): ReactNode {
  const clients = useApiQuery(insightCalls.clients)
  return (
    <section className={styles.card} aria-label={texts.clients.title}>
      <h2 className={styles.title}>{texts.clients.title}</h2>
      <QueryView query={clients} loading={texts.loading} error={texts.failed} empty={null}>
        {(all) => {
          const { rows, ...finding } = clientsOf(all, currency)
          return (
            <>
              <FigureTable finding={{ ...finding, rows: rows.slice(0, mostListed) }} />
              {rows.length > mostListed && <p className={styles.dim}>{texts.clients.more(rows.length - mostListed)}</p>}
            </>
          )
        }}
      </QueryView>
    </section>
  )
}

function Ageing({ one, today, file }: { one: CurrencyInsights; today: string; file: boolean }): ReactNode {
  const [address, setAddress] = useSearchParams()
  const age = ages.find((name) => name === address.get('age'))
  const open = (next: Age | null) => setAddress(next === null ? {} : { age: next }, { replace: true, preventScrollReset: true })
  const finding = ageingOf(one)
  const t = texts.ageing
  return (
    <ChartCard
      finding={finding.open === 0 ? { ...finding, rows: [] } : finding}
      formula={t.formula}
      file={file ? 'ageing' : null}
      foot={age !== undefined && <InvoicesOf age={age} currency={one.currency} today={today} onClose={() => open(null)} />}
    >
      {AgeingBar(one, open)}
      <ul className={styles.ages}>
        {ages.map((name) => (
          <li key={name}>
            <Link
              to={{ search: `?age=${name}` }}
              replace
              preventScrollReset
              className={styles.age}
              data-age={name}
              aria-current={age === name || undefined}
            >
              <i aria-hidden />
              <span>{t.age[name]}</span>
              <strong>{formatMoney(one.ageing[name], one.currency)}</strong>
              <small>{t.invoices(one.invoices[name])}</small>
            </Link>
          </li>
        ))}
      </ul>
    </ChartCard>
  )
}

const mostListed = 200

function InvoicesOf({ age, currency, today, onClose }: { age: Age; currency: string; today: string; onClose: () => void }): ReactNode {
  const invoices = useApiQuery(invoiceCalls.list)
  const t = texts.ageing
  return (
    <div className={styles.list}>
      <div className={styles.listHead}>
        <h3>{t.list(t.age[age])}</h3>
        <ActionIcon className={styles.tool ?? ''} aria-label={t.close} onClick={onClose}>
          <IconX size={19} stroke={1.7} />
        </ActionIcon>
      </div>
      <QueryView query={invoices} loading={t.loading} error={t.failed} empty={null}>
        {(list) => {
          const its = list
            .filter((one) => one.status !== 'paid' && one.currency === currency && ageOf(daysBetween(one.dueDate, today)) === age)
            .toSorted((one, other) => (one.dueDate < other.dueDate ? -1 : 1))
          if (its.length === 0) return <p className={styles.dim}>{t.noMatch}</p>
          return (
            <div className={styles.scroll}>
              <table className={styles.table} aria-label={t.list(t.age[age])}>
                <thead>
                  <tr>
                    {t.listColumns.map((column) => (
                      <th key={column} scope="col">
                        {column}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {its.slice(0, mostListed).map((one) => (
                    <tr key={one._id}>
                      <td>
                        <Link to={screens.invoice(one._id)} state={{ invoice: one }}>
                          {one.clientName}
                        </Link>{' '}
                        <span className={styles.dim}>{one.reference}</span>
                      </td>
                      <td>{lateness(daysBetween(one.dueDate, today))}</td>
                      <td>{formatMoney(one.balance, currency)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {its.length > mostListed && <p className={styles.dim}>{t.more(its.length - mostListed)}</p>}
            </div>
          )
        }}
      </QueryView>
    </div>
  )
}

function Advanced({ figures, currency }: { figures: AdvancedInsights; currency: string }): ReactNode {
  const one = figures.byCurrency.find((its) => its.currency === currency) ?? figures
  const effect = effectOf(figures)
  return (
    <>
      <ChartCard finding={forecastOf(one, figures.learned)} formula={texts.forecast.formula} file="forecast">
        <ForecastChart {...one} />
      </ChartCard>
      <div className={styles.pair}>
        <ChartCard
          finding={effect}
          formula={texts.effect.formula}
          file="effect"
          foot={
            <>
              {effect.rest.slice(0, 2).map((line) => (
                <p key={line} className={styles.dim}>
                  {line}
                </p>
              ))}
              <p className={styles.note}>{texts.effect.caution}</p>
            </>
          }
        >
          {figures.effect.some(({ interval }) => interval !== null) && <EffectChart {...figures} />}
        </ChartCard>
        <ChartCard finding={promisesOf(figures)} formula={texts.promises.formula} file="promises">
          <PromisesChart {...figures} />
        </ChartCard>
      </div>
      <ChartCard finding={trendOf(one)} formula={texts.trend.formula} file="trend">
        <TrendCharts {...one} />
      </ChartCard>
    </>
  )
}

/** What a higher plan would show: the names, and an empty axis each; never a figure. */
function Locked(): ReactNode {
  const plan = planThatLifts('advancedAnalytics')
  const cards = [
    { ...texts.effect, at: 60 },
    { ...texts.forecast, at: 2 },
    { ...texts.trend, at: 258 },
    { ...texts.promises, at: 130 },
  ]
  return (
    <>
      <div className={styles.pair}>
        {cards.map(({ name, what, at }) => (
          <section key={name} className={styles.locked} aria-label={name}>
            <h2>{name}</h2>
            <p className={styles.dim}>{what}</p>
            <svg data-axis viewBox="0 0 260 56" preserveAspectRatio="none" aria-hidden="true">
              <line className={styles.axis} x1={0} x2={260} y1={44} y2={44} />
              <line className={styles.zero} x1={at} x2={at} y1={6} y2={52} />
            </svg>
            <p className={styles.partOf}>
              <IconLock size={17} stroke={1.7} aria-hidden />
              {texts.pro.part(plan.title)}
            </p>
          </section>
        ))}
      </div>
      <p className={styles.offer}>
        <Button component={Link} to={withQuery(screens.pricing, { plan: plan.name })} reloadDocument>
          {texts.pro.see(plan.title)}
        </Button>
        {texts.pro.free}
      </p>
    </>
  )
}
