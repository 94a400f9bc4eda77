import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { ActionIcon, Menu } from '@mantine/core'
import {
  IconCash,
  IconCircleCheck,
  IconCopy,
  IconDots,
  IconDownload,
  IconLink,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRotate,
  IconSend2,
  IconTrash,
  IconUpload,
} from '@tabler/icons-react'
import type { ReactElement, ReactNode, RefObject } from 'react'
import { Link } from 'react-router'
import type { Invoice } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { isPaused } from '#web/invoices/invoice-state.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { useInvoiceActions } from '#web/invoices/use-invoice-acting.tsx'
import { useOpening } from '#web/ui/hooks.ts'
import styles from './dashboard.module.css'
import type { Exporting } from './dashboard-screen.tsx'
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
  const { markAs, remove, askToPause, resume, record, copyPayLink, remind, refused } = useInvoiceActions()
  const { card } = texts
  const paid = invoice.status === 'paid'
  const paused = isPaused(invoice)
  const disabled = refused !== undefined
  return (
    <>
      {disabled && <Menu.Label>{refused}</Menu.Label>}
      <Menu.Item component={Link} to={screens.invoice(invoice._id)} state={{ invoice }} leftSection={<IconPencil size={18} stroke={1.7} />}>
        {card.edit}
      </Menu.Item>
      {!paid && (
        <Menu.Item disabled={disabled} leftSection={<IconSend2 size={18} stroke={1.7} />} onClick={() => remind([invoice])}>
          {card.remindMenu}
        </Menu.Item>
      )}
      <Menu.Item
        disabled={disabled}
        leftSection={paid ? <IconRotate size={18} stroke={1.7} /> : <IconCircleCheck size={18} stroke={1.7} />}
        onClick={() => markAs(invoice, paid ? 'unpaid' : 'paid')}
      >
        {paid ? card.markUnpaid : card.markPaid}
      </Menu.Item>
      {!paid && (
        <Menu.Item disabled={disabled} leftSection={<IconCash size={18} stroke={1.7} />} onClick={() => record(invoice)}>
          {card.record}
        </Menu.Item>
      )}
      <Menu.Item disabled={disabled} leftSection={<IconLink size={18} stroke={1.7} />} onClick={() => copyPayLink(invoice)}>
        {invoiceTexts.acting.payLink.copy}
      </Menu.Item>
      {!paid && (
        <Menu.Item disabled={disabled} leftSection={<IconPlayerPause size={18} stroke={1.7} />} onClick={() => askToPause(invoice)}>
          {paused ? card.changePause : card.pause}
        </Menu.Item>
      )}
      {paused && (
        <Menu.Item disabled={disabled} leftSection={<IconPlayerPlay size={18} stroke={1.7} />} onClick={() => resume(invoice)}>
          {card.resume}
        </Menu.Item>
      )}
      {disabled ? (
        <Menu.Item disabled leftSection={<IconCopy size={18} stroke={1.7} />}>
          {card.duplicate}
        </Menu.Item>
      ) : (
        <Menu.Item component={Link} to={screens.newInvoice} state={{ copy: invoice }} leftSection={<IconCopy size={18} stroke={1.7} />}>
          {card.duplicate}
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item
        disabled={disabled}
        className={styles.danger ?? ''}
        leftSection={<IconTrash size={18} stroke={1.7} />}
        onClick={() => void remove(invoice)}
      >
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

interface OpenToolsMenuProps {
  exporting: Exporting | null
  /** The address that opens the import. */
  importTo: { search: string }
  onClose: () => void
  button: (ref: RefObject<HTMLButtonElement | null>) => ReactElement
}

/** On a phone: the tools that a wide screen shows as buttons. */
export function OpenToolsMenu({ exporting, importTo, button }: OpenToolsMenuProps): ReactNode {
  const { ref, opened, onChange } = useOpening()
  const icon = <IconDownload size={18} stroke={1.7} />
  return (
    <Menu position="bottom-end" width={260} opened={opened} onChange={onChange} withinPortal={false}>
      <Menu.Target>{button(ref)}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to={importTo} preventScrollReset leftSection={<IconUpload size={18} stroke={1.7} />}>
          {texts.dashboard.importCsv}
        </Menu.Item>
        {exporting && (
          <Menu.Item leftSection={icon} onClick={exporting.exportAll}>
            {texts.exporting.allMenu}
          </Menu.Item>
        )}
        {exporting && exporting.shown !== null && (
          <Menu.Item leftSection={icon} disabled={exporting.shown === 0} onClick={exporting.exportShown}>
            {texts.exporting.shownMenu(exporting.shown)}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
