import '@mantine/core/styles/ScrollArea.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Combobox, Loader, Modal, Switch, TextInput, useCombobox, useMantineColorScheme } from '@mantine/core'
import {
  IconBell,
  IconBolt,
  IconBuildingStore,
  IconCornerDownLeft,
  IconDownload,
  IconFileInvoice,
  IconKeyboard,
  IconLogout,
  IconMail,
  IconMoon,
  IconSearch,
  IconSend2,
  IconSun,
  IconUpload,
  IconUserCircle,
  IconWorld,
} from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useDeferredValue, useId, useLayoutEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { type Invoice, invoiceCalls, owedAmount } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import { searchKey } from '#contract/search.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { fetchFile, saveFile } from '#web/platform/send.ts'
import { showDate } from '#web/ui/dates.ts'
import { Dialog, useReturnedFocus } from '#web/ui/dialog.tsx'
import { useSingleKeys } from '#web/ui/hooks.ts'
import { toast } from '#web/ui/toast.tsx'
import { useActionRefusals, useSignOut, useTrigger, useZapier } from './actions.tsx'
import styles from './on-demand.module.css'
import { paletteTexts } from './on-demand-texts.ts'
import { dashboardPages, sitePages } from './site-frame.tsx'
import { texts } from './texts.ts'

const t = paletteTexts

interface Item {
  id: string
  title: string
  detail: string | null
  icon: ReactNode
  /** Why the person may not: it is listed, and does nothing. */
  refused?: string | undefined
  run: () => void
}

interface PaletteProps {
  opened: boolean
  onClose: () => void
  onShortcuts: () => void
}

/** Screens, actions and invoices by name. Arrow keys choose, Enter runs. */
export function Palette({ opened, onClose, onShortcuts }: PaletteProps): ReactNode {
  useReturnedFocus(opened)
  return (
    <Modal.Root opened={opened} onClose={onClose} size={620} yOffset="10vh">
      <Modal.Overlay backgroundOpacity={0.6} />
      <Modal.Content aria-label={texts.palette.open} classNames={{ content: styles.palette ?? '' }} radius={14}>
        <Finder opened={opened} onClose={onClose} onShortcuts={onShortcuts} />
      </Modal.Content>
    </Modal.Root>
  )
}

function Finder({ opened, onClose, onShortcuts }: PaletteProps): ReactNode {
  const list = useId()
  const [typed, setTyped] = useState('')
  const invoices = useApiQuery(invoiceCalls.list)
  const wanted = useDeferredValue(typed)
  const combobox = useCombobox({ opened: true })
  const offered = useOffered(invoices.data ?? [], { onClose, onShortcuts })
  const groups = offered(wanted)
  const { selectFirstOption } = combobox
  const [active, setActive] = useState<string | null>(null)
  const found = groups.flatMap(({ items }) => items)
  const ids = found.map(({ id }) => id).join()
  // Enter always runs the best match.
  useLayoutEffect(() => {
    setActive(ids === '' ? null : selectFirstOption())
  }, [ids, selectFirstOption])
  // The list is deferred: Enter must run what was typed, not what is still shown.
  const runTyped = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || wanted === typed) return
    event.preventDefault()
    event.stopPropagation()
    offered(typed)[0]
      ?.items.find(({ refused }) => refused === undefined)
      ?.run()
  }
  return (
    <>
      <Combobox store={combobox} onOptionSubmit={(id) => found.find((item) => item.id === id)?.run()}>
        <Combobox.EventsTarget withAriaAttributes={false}>
          <TextInput
            data-autofocus
            role="combobox"
            aria-haspopup="listbox"
            aria-expanded
            aria-controls={list}
            aria-activedescendant={active ?? undefined}
            onKeyUp={() => setActive(document.getElementById(list)?.querySelector('[data-combobox-selected]')?.id ?? null)}
            classNames={{ input: styles.box ?? '' }}
            aria-label={texts.palette.open}
            placeholder={t.placeholder}
            leftSection={<IconSearch size={20} stroke={1.7} />}
            leftSectionWidth={52}
            value={typed}
            maxLength={200}
            onChange={(event) => setTyped(event.currentTarget.value)}
            // A dialog that closes behind the palette must not take the focus out of it.
            onBlur={({ currentTarget: box, relatedTarget: next }) => {
              if (opened && next !== null && !box.closest('[role="dialog"]')?.contains(next)) requestAnimationFrame(() => box.focus())
            }}
            onKeyDownCapture={runTyped}
            onKeyDown={(event) => {
              if (event.key === 'Escape') onClose()
            }}
          />
        </Combobox.EventsTarget>
        <Combobox.Options id={list} className={styles.items ?? ''} aria-label={texts.palette.open} tabIndex={0}>
          {groups.map(({ label, items }) => (
            <Combobox.Group key={label} label={label} classNames={{ groupLabel: styles.group ?? '' }}>
              {items.map(({ id, title, detail, icon, refused }) => (
                <Combobox.Option key={id} value={id} className={styles.item ?? ''} disabled={refused !== undefined}>
                  <span className={styles.icon}>{icon}</span>
                  <span className={styles.itemTitle}>{title}</span>
                  {(refused ?? detail) !== null && <span className={styles.detail}>{refused ?? detail}</span>}
                  <IconCornerDownLeft size={16} className={styles.enter} aria-hidden />
                </Combobox.Option>
              ))}
            </Combobox.Group>
          ))}
        </Combobox.Options>
        {found.length === 0 && (
          <Combobox.Empty className={styles.nothing ?? ''}>
            {invoices.isPending ? t.loading : invoices.data ? t.nothing(wanted.trim()) : t.failed(errorMessage(invoices.error))}
          </Combobox.Empty>
        )}
      </Combobox>
      <p className={styles.hint} role="status">
        {wanted.trim() === '' ? t.hint : invoices.isPending ? t.loading : t.found(found.length)}
      </p>
    </>
  )
}

interface Group {
  label: string
  items: Item[]
}

function useOffered(
  invoices: Invoice[],
  { onClose, onShortcuts }: Pick<PaletteProps, 'onClose' | 'onShortcuts'>,
): (typed: string) => Group[] {
  const navigate = useNavigate()
  const trigger = useTrigger()
  const zapier = useZapier()
  const { mayNotTrigger, mayNotSubscribe } = useActionRefusals()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const dark = colorScheme === 'dark'
  const go = (to: string, state?: object) => () => {
    onClose()
    void navigate(to, { state })
  }
  const pages = dashboardPages.map(
    ({ to, text, icon: Icon }): Item => ({ id: to, title: text, detail: null, icon: <Icon size={19} stroke={1.7} />, run: go(to) }),
  )
  const profile = Object.entries(t.profile).map(
    ([tab, title]): Item => ({
      id: `profile-${tab}`,
      title,
      detail: texts.myProfile,
      icon: <IconUserCircle size={19} stroke={1.7} />,
      run: go(`${screens.profile}?tab=${tab}`),
    }),
  )
  // Found by their names only: someone who works alone sees nothing new in the list.
  const business = [
    { id: screens.business, title: texts.business, detail: null, to: screens.business },
    { id: 'team', title: t.team, detail: texts.business, to: `${screens.business}?tab=team` },
  ].map(({ to, ...item }): Item => ({ ...item, icon: <IconBuildingStore size={19} stroke={1.7} />, run: go(to) }))
  const site = sitePages.map(
    ({ to, text }): Item => ({ id: to, title: text, detail: null, icon: <IconWorld size={19} stroke={1.7} />, run: go(to) }),
  )
  const actions: Item[] = [
    {
      id: 'trigger',
      title: texts.sidebar.trigger,
      detail: null,
      icon: <IconSend2 size={19} stroke={1.7} />,
      refused: mayNotTrigger,
      run: () => {
        onClose()
        trigger()
      },
    },
    ...(zapier.known
      ? [
          {
            id: 'zapier',
            title: zapier.text,
            detail: null,
            icon: <IconBolt size={19} stroke={1.7} />,
            refused: mayNotSubscribe,
            run: () => {
              onClose()
              if (!zapier.busy) zapier.press()
            },
          },
        ]
      : []),
    { id: 'start', title: t.start, detail: null, icon: <IconBell size={19} stroke={1.7} />, run: go(screens.reminderControl) },
    {
      id: 'send-now',
      title: t.sendNow,
      detail: null,
      icon: <IconSend2 size={19} stroke={1.7} />,
      run: go(screens.reminderControl),
    },
    {
      id: 'test-mail',
      title: t.testMail,
      detail: null,
      icon: <IconMail size={19} stroke={1.7} />,
      run: go(screens.mailSettings),
    },
    {
      id: 'import',
      title: t.import,
      detail: null,
      icon: <IconUpload size={19} stroke={1.7} />,
      run: go(`${screens.dashboard}?import`),
    },
    {
      id: 'export',
      title: t.export,
      detail: null,
      icon: <IconDownload size={19} stroke={1.7} />,
      run: () => {
        onClose()
        void exportAll()
      },
    },
    {
      id: 'theme',
      title: dark ? texts.toLight : texts.toDark,
      detail: null,
      icon: dark ? <IconSun size={19} stroke={1.7} /> : <IconMoon size={19} stroke={1.7} />,
      run: () => {
        setColorScheme(dark ? 'light' : 'dark')
        onClose()
      },
    },
    {
      id: 'sign-out',
      title: signOut.text,
      detail: null,
      icon: signOut.leaving ? <Loader size={18} /> : <IconLogout size={19} stroke={1.7} />,
      run: signOut.press,
    },
    { id: 'shortcuts', title: t.keys.title, detail: null, icon: <IconKeyboard size={19} stroke={1.7} />, run: onShortcuts },
  ]
  return (typed) => {
    const chosen = (items: Item[]) => items.filter(({ title }) => matches(title, typed.trim()))
    const found = findInvoices(invoices, typed).map(
      (invoice): Item => ({
        id: invoice._id,
        title: invoice.clientName,
        detail: `${invoice.reference}, ${formatMoney(owedAmount(invoice), invoice.currency)}, ${t.due(showDate(invoice.dueDate))}`,
        icon: <IconFileInvoice size={19} stroke={1.7} />,
        run: go(screens.invoice(invoice._id), { invoice }),
      }),
    )
    const reminding = findReminded(invoices, typed, t.remind('')).map(
      (invoice): Item => ({
        id: `remind-${invoice._id}`,
        title: t.remind(invoice.clientName),
        detail: `${invoice.reference}, ${formatMoney(owedAmount(invoice), invoice.currency)}`,
        icon: <IconSend2 size={19} stroke={1.7} />,
        run: go(`${screens.invoice(invoice._id)}?remind`, { invoice }),
      }),
    )
    return [
      { label: t.groups.invoices, items: found },
      { label: t.groups.screens, items: chosen([...pages, ...profile, ...(typed.trim() === '' ? [] : business)]) },
      { label: t.groups.actions, items: [...reminding, ...chosen(actions)] },
      { label: t.groups.site, items: chosen(site) },
    ].filter(({ items }) => items.length > 0)
  }
}

async function exportAll(): Promise<void> {
  try {
    const { bytes, name } = await fetchFile(invoiceCalls.export, { query: {} })
    saveFile(bytes, name)
    toast('good', t.exported(name))
  } catch (error) {
    toast('bad', t.exportFailed(errorMessage(error)))
  }
}

export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [on, setOn] = useSingleKeys()
  const { keys } = paletteTexts
  return (
    <Dialog opened={opened} onClose={onClose} title={keys.title} size={480}>
      <dl className={styles.keys}>
        {keys.list().map(({ does, press }) => (
          <div key={does} className={styles.key}>
            <dt>{does}</dt>
            <dd>
              {press.map((one) => (
                <kbd key={one} className={styles.kbd}>
                  {one}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Switch
        className={styles.switch ?? ''}
        label={keys.single}
        description={keys.singleHint}
        checked={on}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
    </Dialog>
  )
}

const most = 8

/** Whether the text contains every typed word. */
export function matches(text: string, typed: string): boolean {
  const key = searchKey(text)
  return searchKey(typed)
    .split(' ')
    .every((word) => key.includes(word))
}

/** Invoices by reference or client: exact matches first, then prefixes, then the newest. */
export function findInvoices(invoices: Invoice[], typed: string): Invoice[] {
  const wanted = searchKey(typed)
  if (wanted === '') return []
  const [exact, beginning, others]: [Invoice[], Invoice[], Invoice[]] = [[], [], []]
  for (const invoice of invoices) {
    const { reference, clientName, clientEmail } = invoice
    const names = [reference, clientName, clientEmail].map(searchKey)
    const place = names.includes(wanted) ? exact : names.some((text) => text.startsWith(wanted)) ? beginning : others
    if (place.length < most && (place !== others || matches(names.join('\n'), wanted))) place.push(invoice)
    if (exact.length === most) break
  }
  return [...exact, ...beginning, ...others].slice(0, most)
}

const mostReminded = 4

/** Unpaid invoices to remind of, once part of the client or reference is typed; `command` is the name of the action. */
export function findReminded(invoices: Invoice[], typed: string, command: string): Invoice[] {
  const words = searchKey(typed)
    .split(' ')
    .filter((word) => word !== '')
  const named = words.filter((word) => !searchKey(command).includes(word))
  // The command alone offers those who are late the longest.
  const open = invoices.filter(({ status }) => status !== 'paid')
  if (words.length > 0 && named.length === 0) return open.toSorted(byDue).slice(0, mostReminded)
  return findInvoices(open, named.join(' ')).slice(0, mostReminded)
}

function byDue(one: Invoice, other: Invoice): number {
  return one.dueDate < other.dueDate ? -1 : one.dueDate > other.dueDate ? 1 : 0
}
