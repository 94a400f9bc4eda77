import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import look from './dashboard.module.css'

/** The shape of the dashboard while the invoices are on their way. */
export function DashboardSkeleton(): ReactNode {
  return (
    <>
      <Skeleton height={250} radius={14} mb={22} />
      <div className={look.bar}>
        <Skeleton height={44} maw={340} />
      </div>
      <div className={look.skeletons}>
        <Skeleton height={206} radius={14} />
        <Skeleton height={206} radius={14} />
        <Skeleton height={206} radius={14} />
      </div>
    </>
  )
}
