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

/** The filter and search of the screen, and the export of all invoices or of those. */
export function useExport(invoices: Invoice[] | null): Exporting {
  const [address] = useSearchParams()
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
  const narrowed = search !== '' || status !== undefined
  return {
    busy: isPending,
    shown: narrowed && invoices ? filterInvoices(searchInvoices(invoices, search), status ?? 'all').length : null,
    exportAll: () => mutate({}),
    exportShown: () => mutate({ search, ...(status ? { status } : {}) }),
  }
}

export interface Exporting {
  busy: boolean
  /** How many invoices a search or filter leaves; null without one. */
  shown: number | null
  exportAll: () => void
  exportShown: () => void
}

/** Exports all invoices, or with a search or filter a choice of only those shown. `ready`: the invoices are loaded. */
export function ExportButton({ exporting, ready }: { exporting: Exporting; ready: boolean }): ReactNode {
  const [choosing, setChoosing] = useState(false)
  const { busy, shown, exportAll, exportShown } = exporting
  const style = { variant: 'default', className: styles.tool ?? '', leftSection: icon } as const
  if (!ready)
    return (
      <Button {...style} disabled>
        {texts.exporting.button}
      </Button>
    )
  if (shown === null)
    return (
      <BusyButton {...style} busy={busy} busyText={texts.exporting.busy} onClick={exportAll}>
        {texts.exporting.button}
      </BusyButton>
    )
  const button = (
    <Button
      {...style}
      loading={busy}
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
        onAll={exportAll}
        onShown={exportShown}
        onClose={() => setChoosing(false)}
        button={(ref) => (
          <Button {...style} ref={ref} loading={busy}>
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
