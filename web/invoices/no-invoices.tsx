import { Button } from '@mantine/core'
import { IconFileInvoice, IconPlus, IconUpload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { EmptyState } from '#web/ui/plain.tsx'
import { FirstSteps } from './first-steps.tsx'
import { texts } from './texts.ts'

/** The account has no invoice at all. */
export function NoInvoices(): ReactNode {
  return (
    <>
      <EmptyState
        icon={<IconFileInvoice />}
        title={texts.none.title}
        text={texts.none.text}
        action={
          <>
            <Button component={Link} to="/dashboard/new-invoice" leftSection={<IconPlus size={18} />}>
              {texts.dashboard.create}
            </Button>
            <Button component={Link} to="?import" variant="default" leftSection={<IconUpload size={18} stroke={1.7} />}>
              {texts.dashboard.importCsv}
            </Button>
          </>
        }
      />
      <FirstSteps />
    </>
  )
}
