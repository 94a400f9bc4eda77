import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, Suspense, useState } from 'react'
import { useSearchParams } from 'react-router'
import { type Invoice, invoiceCalls, invoiceStatus } from '#contract/invoices.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { fetchFile, saveFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './dashboard.module.css'
import { filterInvoices, searchInvoices } from './list-data.ts'
import { texts } from './texts.ts'

const load = async () => (await import('./open-menus.tsx')).OpenExportMenu
const OpenExportMenu = lazyDialog(load)

const icon = <IconDownload size={18} stroke={1.7} />

/** Exports all invoices, or with a search or filter a choice of only those shown. `invoices` is null until they are loaded. */
export function ExportButton({ invoices }: { invoices: Invoice[] | null }): ReactNode {
  const [address] = useSearchParams()
  const [choosing, setChoosing] = useState(false)
  const search = (address.get('search') ?? '').trim()
  const status = invoiceStatus.safeParse(address.get('status')).data
  const { mutate, isPending } = useMutation({
    mutationFn: (query: { status?: typeof status; search?: string }) => fetchFile(invoiceCalls.export, { query }),
    onSuccess: ({ bytes, name }) => {
      saveFile(bytes, name)
      toast('good', texts.exporting.done(name))
    },
    onError: (error) => toast('bad', texts.exporting.failed(errorMessage(error))),
  })
  const style = { variant: 'default', className: styles.tool ?? '', leftSection: icon } as const
  if (invoices === null)
    return (
      <Button {...style} disabled>
        {texts.exporting.button}
      </Button>
    )
  if (search === '' && status === undefined)
    return (
      <BusyButton {...style} busy={isPending} busyText={texts.exporting.busy} onClick={() => mutate({})}>
        {texts.exporting.button}
      </BusyButton>
    )
  const shown = filterInvoices(searchInvoices(invoices, search), status ?? 'all').length
  const button = (
    <Button
      {...style}
      loading={isPending}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setChoosing(true)}
      // Preloads the menu.
      onPointerEnter={preload}
      onFocus={preload}
    >
      {texts.exporting.button}
    </Button>
  )
  if (!choosing) return button
  return (
    <Suspense fallback={button}>
      <OpenExportMenu
        shown={shown}
        onAll={() => mutate({})}
        onShown={() => mutate({ search, ...(status ? { status } : {}) })}
        onClose={() => setChoosing(false)}
        button={(ref) => (
          <Button {...style} ref={ref} loading={isPending}>
            {texts.exporting.button}
          </Button>
        )}
      />
    </Suspense>
  )
}

function preload(): void {
  load().catch(() => undefined)
}
