import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { ActionIcon, Menu } from '@mantine/core'
import { IconCircleCheck, IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconRotate, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { useOpening } from '#web/ui/hooks.ts'
import { useCardActions } from './card-actions.tsx'
import styles from './invoice-card.module.css'
import { isPaused } from './pause-words.ts'
import { texts } from './texts.ts'

/** The menu of an invoice, opened. */
export function OpenInvoiceMenu({
  invoice,
  label,
  className,
}: {
  invoice: Invoice
  label: string
  className: string
  onClose: () => void
}): ReactNode {
  const { ref, opened, onChange } = useOpening()
  return (
    <Menu position="bottom-end" width={210} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>
        <ActionIcon ref={ref} className={className} aria-label={label}>
          <IconDots size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Items invoice={invoice} />
      </Menu.Dropdown>
    </Menu>
  )
}

function Items({ invoice }: { invoice: Invoice }): ReactNode {
  const { markAs, askToDelete, askToPause, resume } = useCardActions()
  const { card } = texts
  const paid = invoice.status === 'paid'
  const paused = isPaused(invoice)
  return (
    <>
      <Menu.Item
        component={Link}
        to={`/dashboard/edit-invoice/${invoice._id}`}
        state={{ invoice }}
        leftSection={<IconPencil size={18} stroke={1.7} />}
      >
        {card.edit}
      </Menu.Item>
      <Menu.Item
        leftSection={paid ? <IconRotate size={18} stroke={1.7} /> : <IconCircleCheck size={18} stroke={1.7} />}
        onClick={() => markAs(invoice, paid ? 'unpaid' : 'paid')}
      >
        {paid ? card.markUnpaid : card.markPaid}
      </Menu.Item>
      {!paid && (
        <Menu.Item leftSection={<IconPlayerPause size={18} stroke={1.7} />} onClick={() => askToPause(invoice)}>
          {paused ? card.changePause : card.pause}
        </Menu.Item>
      )}
      {paused && (
        <Menu.Item leftSection={<IconPlayerPlay size={18} stroke={1.7} />} onClick={() => resume(invoice)}>
          {card.resume}
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item className={styles.danger ?? ''} leftSection={<IconTrash size={18} stroke={1.7} />} onClick={() => askToDelete(invoice)}>
        {card.remove}
      </Menu.Item>
    </>
  )
}
