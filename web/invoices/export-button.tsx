import { Button, Menu } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { type Invoice, invoiceCalls, invoiceStatus } from '#contract/invoices.ts'
import { inWords } from '#web/platform/problem.ts'
import { saveFile } from '#web/platform/save-file.ts'
import { sendForFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/busy-button.tsx'
import { toast } from '#web/ui/toast.tsx'
import look from './dashboard.module.css'
import { filterInvoices, searchInvoices } from './ledger.ts'
import { texts } from './texts.ts'

const words = texts.exporting
const icon = <IconDownload size={18} stroke={1.7} />

/** Saves the invoices as a CSV file: all of them, or where something is searched or filtered, only those that are shown. */
export function ExportButton({ invoices }: { invoices: Invoice[] }): ReactNode {
  const [address] = useSearchParams()
  const search = (address.get('search') ?? '').trim()
  const status = invoiceStatus.safeParse(address.get('status')).data
  const { mutate, isPending } = useMutation({
    mutationFn: (query: { status?: typeof status; search?: string }) => sendForFile(invoiceCalls.export, { query }),
    onSuccess: ({ bytes, name }) => {
      saveFile(bytes, name)
      toast('good', words.done(name))
    },
    onError: (error) => toast('bad', words.failed(inWords(error))),
  })
  const style = { variant: 'default', className: look.tool ?? '', leftSection: icon } as const
  if (search === '' && status === undefined)
    return (
      <BusyButton {...style} busy={isPending} busyText={words.busy} onClick={() => mutate({})}>
        {words.button}
      </BusyButton>
    )
  const shown = filterInvoices(searchInvoices(invoices, search), status ?? 'all').length
  return (
    <Menu position="bottom-end" width={240} withinPortal={false}>
      <Menu.Target>
        <Button {...style} loading={isPending}>
          {words.button}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => mutate({})}>{words.all}</Menu.Item>
        <Menu.Item disabled={shown === 0} onClick={() => mutate({ search, ...(status ? { status } : {}) })}>
          {words.shown(shown)}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
