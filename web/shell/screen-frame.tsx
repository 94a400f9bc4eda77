import { IconBolt, IconWifiOff } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type DataRouter, Outlet, type RouteObject, useLocation, useNavigate, useNavigationType } from 'react-router'
import { screens } from '#contract/screens.ts'
import button from '#web/ui/plain.module.css'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './shell.module.css'
import notice from './shell.module.css'
import { texts } from './texts.ts'

/** Around every screen: an error boundary, so that the frame survives; on the dashboard also the offline notice. */
export default function ScreenFrame(): ReactNode {
  const { pathname } = useLocation()
  return (
    <>
      {pathname.startsWith(screens.dashboard) && <OfflineNotice />}
      <Outlet />
    </>
  )
}

/** The error boundary. Both ways out load a new page, because the fault may still be in memory. */
export function ErrorBoundary(): ReactNode {
  return (
    <div className={styles.alone}>
      <title>{`${texts.crash.title} · Duely`}</title>
      <div role="alert">
        <EmptyState
          icon={<IconBolt />}
          heading="h1"
          title={texts.crash.title}
          text={texts.crash.text}
          action={
            <>
              <ReloadButton>{texts.crash.reload}</ReloadButton>
              <a href={screens.landing} className={button.quiet}>
                {texts.crash.home}
              </a>
            </>
          }
        />
      </div>
    </div>
  )
}

const missed = new Set<string>()

/** Shown in the place of a screen whose code failed to load. On a second visit it retries immediately. */
export function MissingScreen(): ReactNode {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const wentHere = useNavigationType() !== 'POP'
  const [again] = useState(missed.has(pathname))
  useEffect(() => {
    missed.add(pathname)
  }, [pathname])
  return (
    <div className={styles.missing}>
      <title>{`${texts.missing.title} · Duely`}</title>
      <div role="alert">
        <EmptyState
          icon={<IconWifiOff />}
          heading="h1"
          title={texts.missing.title}
          text={texts.missing.text}
          action={
            <>
              <ReloadButton whenOnline immediately={again}>
                {texts.missing.retry}
              </ReloadButton>
              {wentHere && (
                <button type="button" className={button.quiet} onClick={() => void navigate(-1)}>
                  {texts.missing.back}
                </button>
              )}
            </>
          }
        />
      </div>
    </div>
  )
}

interface Route {
  id: string
  module: string
  imports?: string[]
}

declare global {
  interface Window {
    /** React Router's manifest: route modules and their files. */
    __reactRouterManifest?: { routes: Record<string, Route | undefined> }
  }
}

const arrived = new Set<string>()

/**
 * If the code of a screen fails to load, React Router reloads the page: offline that ends on the browser's error page, and with a missing
 * file it reloads forever. So the files are fetched before the router imports them; if one is missing, MissingScreen takes the screen's
 * place and the frame stays.
 */
export function guardScreenCode(): void {
  const routes = window.__reactRouterManifest?.routes ?? {}
  let open: DataRouter | undefined
  // React Router assigns its router to this property before it loads any module.
  Object.defineProperty(window, '__reactRouterDataRouter', {
    configurable: true,
    get: () => open,
    set: (router: DataRouter) => {
      open = router
      for (const route of router.routes) guard(route, routes)
    },
  })
}

function guard({ id = '', lazy, children = [] }: RouteObject, routes: Record<string, Route | undefined>): void {
  for (const child of children) guard(child, routes)
  const files = routes[id]
  if (!files || typeof lazy !== 'object') return
  let asked: Promise<boolean> | null = null
  for (const [part, load] of Object.entries(lazy) as [string, (() => Promise<unknown>) | undefined][]) {
    if (!load) continue
    const guarded = async () => {
      asked ??= arrive([files.module, ...(files.imports ?? [])])
      if (await asked) return load()
      return part === 'Component' ? MissingScreen : undefined
    }
    Object.assign(lazy, { [part]: guarded })
  }
}

/** True when all files have been fetched, now or before. */
async function arrive(addresses: string[]): Promise<boolean> {
  const came = await Promise.all(
    addresses.map(async (address) => {
      if (arrived.has(address)) return true
      const answered = await fetch(address).catch(() => null)
      // The whole body, not only its headers.
      const whole = answered?.ok === true && (await answered.arrayBuffer().catch(() => null)) !== null
      if (whole) arrived.add(address)
      return whole
    }),
  )
  return came.every(Boolean)
}

interface ReloadButtonProps {
  children: string
  /** Reloads automatically once the browser is back online. */
  whenOnline?: boolean
  /** Reloads immediately. */
  immediately?: boolean
}

/**
 * Reloads the page, but only when the server answers: otherwise the browser's error page would replace this one. Must be inside a live
 * region, which announces a failure.
 */
function ReloadButton({ children, whenOnline = false, immediately = false }: ReloadButtonProps): ReactNode {
  const [state, setState] = useState<'waiting' | 'trying' | 'unreachable'>('waiting')
  const trying = useRef(false)
  const reload = async () => {
    if (trying.current) return
    trying.current = true
    setState('trying')
    if (await isOnline()) return window.location.reload()
    trying.current = false
    setState('unreachable')
  }
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (immediately) void latest.current()
  }, [immediately])
  useEffect(() => {
    if (!whenOnline) return
    const again = () => void latest.current()
    window.addEventListener('online', again)
    return () => window.removeEventListener('online', again)
  }, [whenOnline])
  return (
    <>
      <button type="button" className={button.filled} aria-disabled={state === 'trying' || undefined} onClick={() => void reload()}>
        {state === 'trying' ? texts.reloading : children}
      </button>
      {state === 'unreachable' && <p className={styles.said}>{texts.unreachable}</p>}
    </>
  )
}

/** In ms. */
const timeout = 10_000

/** Asks the server instead of navigator.onLine, which is false for a server on this machine without a network. */
async function isOnline(): Promise<boolean> {
  const answered = await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(timeout) }).catch(() => null)
  return answered?.ok === true
}

/** Shown while the browser is offline and the server does not answer. */
function OfflineNotice(): ReactNode {
  const [offline, setOffline] = useState(false)
  useEffect(() => {
    let asked = 0
    const ask = async () => {
      asked += 1
      const nth = asked
      const away = !navigator.onLine && !(await isOnline())
      // A newer check has started.
      if (nth === asked) setOffline(away)
    }
    const heard = () => void ask()
    heard()
    window.addEventListener('offline', heard)
    window.addEventListener('online', heard)
    return () => {
      asked = -1
      window.removeEventListener('offline', heard)
      window.removeEventListener('online', heard)
    }
  }, [])
  return (
    <div role="status">
      {offline && (
        <div className={styles.offline}>
          <IconWifiOff size={20} aria-hidden />
          <div>
            <strong>{texts.offline.title}</strong>
            {texts.offline.text}
          </div>
        </div>
      )}
    </div>
  )
}

/** The inline script of a page finds it by this id (`web/entry.server.tsx`). */
export const incompleteId = 'incomplete'

/** Hidden in every page; the inline script shows it when the page's code fails to load. */
export function IncompleteNotice(): ReactNode {
  return (
    <div id={incompleteId} role="alert" className={styles.incomplete} hidden>
      <div className={notice.offline}>
        <div>
          <strong>{texts.incomplete.title}</strong>
          {texts.incomplete.text}
        </div>
      </div>
    </div>
  )
}
