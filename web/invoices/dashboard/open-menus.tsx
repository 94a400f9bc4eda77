import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { ActionIcon, Menu } from '@mantine/core'
import { IconCircleCheck, IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconRotate, IconTrash } from '@tabler/icons-react'
import type { ReactElement, ReactNode, RefObject } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { isPaused } from '#web/invoices/pause.ts'
import { useOpening } from '#web/ui/hooks.ts'
import styles from './dashboard.module.css'
import { useInvoiceActions } from './invoice-actions.tsx'
import { texts } from './texts.ts'

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
  const { markAs, askToDelete, askToPause, resume } = useInvoiceActions()
  const { card } = texts
  const paid = invoice.status === 'paid'
  const paused = isPaused(invoice)
  return (
    <>
      <Menu.Item component={Link} to={screens.invoice(invoice._id)} state={{ invoice }} leftSection={<IconPencil size={18} stroke={1.7} />}>
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

interface OpenExportMenuProps {
  shown: number
  onAll: () => void
  onShown: () => void
  onClose: () => void
  button: (ref: RefObject<HTMLButtonElement | null>) => ReactElement
}

export function OpenExportMenu({ shown, onAll, onShown, button }: OpenExportMenuProps): ReactNode {
  const { ref, opened, onChange } = useOpening()
  return (
    <Menu position="bottom-end" width={240} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>{button(ref)}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onAll}>{texts.exporting.all}</Menu.Item>
        <Menu.Item disabled={shown === 0} onClick={onShown}>
          {texts.exporting.shown(shown)}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
