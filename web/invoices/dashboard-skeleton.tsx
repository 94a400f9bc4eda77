import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './dashboard.module.css'

/** The shape of the dashboard while the invoices are on their way. `still`: for the moment in which the page itself is. */
export function DashboardSkeleton({ still = false }: { still?: boolean }): ReactNode {
  const animate = !still
  return (
    <>
      <Skeleton animate={animate} height={288} radius={14} mb={22} />
      <div className={styles.bar}>
        <Skeleton animate={animate} height={44} maw={340} />
      </div>
      <div className={styles.skeletons}>
        <Skeleton animate={animate} height={206} radius={14} />
        <Skeleton animate={animate} height={206} radius={14} />
        <Skeleton animate={animate} height={206} radius={14} />
      </div>
    </>
  )
}
