import { ActionIcon } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, Suspense, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { screens } from '#contract/screens.ts'
import { isMac, useShortcuts } from '#web/ui/hooks.ts'
import { lazyDialog } from '#web/ui/lazy-dialog.tsx'
import { texts } from './texts.ts'

const Palette = lazyDialog(async () => (await import('./palette.tsx')).Palette)
const ShortcutsDialog = lazyDialog(async () => (await import('./palette.tsx')).ShortcutsDialog)

/** The command palette and the keyboard shortcuts. Both dialogs are loaded on first use. */
export function Commands(): ReactNode {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null)
  const [wanted, setWanted] = useState({ palette: 0, shortcuts: 0 })
  const show = (name: 'palette' | 'shortcuts') => {
    setWanted({ ...wanted, [name]: wanted[name] + 1 })
    setOpen(name)
  }
  const close = () => setOpen(null)
  const search = () => {
    const box = document.querySelector<HTMLInputElement>('[data-search]')
    if (!box) return show('palette')
    box.focus()
    box.select()
    box.scrollIntoView({ block: 'nearest' })
  }
  const onDashboard = pathname.startsWith(screens.dashboard)
  useShortcuts({
    onPalette: () => (open === 'palette' ? close() : show('palette')),
    // Keys typed while a dialog loads are meant for the dialog.
    single: onDashboard && open === null ? { '/': search, n: () => void navigate(screens.newInvoice), '?': () => show('shortcuts') } : {},
  })
  return (
    <>
      <ActionIcon aria-label={texts.palette.open} title={texts.palette.title(isMac() ? '⌘ K' : 'Ctrl K')} onClick={() => show('palette')}>
        <IconSearch size={20} stroke={1.7} />
      </ActionIcon>
      <Suspense>
        {wanted.palette > 0 && (
          <Palette key={wanted.palette} opened={open === 'palette'} onClose={close} onShortcuts={() => show('shortcuts')} />
        )}
        {wanted.shortcuts > 0 && <ShortcutsDialog opened={open === 'shortcuts'} onClose={close} />}
      </Suspense>
    </>
  )
}
