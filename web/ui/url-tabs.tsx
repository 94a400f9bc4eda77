import '@mantine/core/styles/Tabs.layer.css'
import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import styles from './controls.module.css'

interface UrlTab {
  /** Its value in the address: `?tab=security`. The first tab has none. */
  value: string
  label: string
  content: ReactNode
}

/** Tabs of a screen. The active tab is in the address, so that a reload or a link shows it again; hidden tabs keep what was typed. */
export function UrlTabs({ label, tabs }: { label: string; tabs: readonly [UrlTab, ...UrlTab[]] }): ReactNode {
  const [asked, setAsked] = useSearchParams()
  const first = tabs[0].value
  const active = tabs.find(({ value }) => value === asked.get('tab'))?.value ?? first
  const choose = (value: string | null) =>
    setAsked(
      (before) => {
        const after = new URLSearchParams(before)
        if (value === null || value === first) after.delete('tab')
        else after.set('tab', value)
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  return (
    <Tabs
      value={active}
      onChange={choose}
      // Hidden tabs keep their state and effects: the unsaved-changes guard must still see them.
      keepMountedMode="display-none"
      classNames={{ list: styles.tabs ?? '', tab: styles.tab ?? '' }}
    >
      <Tabs.List aria-label={label}>
        {tabs.map(({ value, label: name }) => (
          <Tabs.Tab key={value} value={value}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
