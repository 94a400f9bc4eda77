import type { ReactNode } from 'react'
import { screens } from '#contract/screens.ts'
import { Markdown } from './markdown.tsx'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** docs/privacy.md, as it was when this page was built. */
const [privacy = ''] = Object.values(import.meta.glob<string>('/docs/privacy.md', { query: '?raw', import: 'default', eager: true }))

export default function PrivacyScreen(): ReactNode {
  return (
    <PlainPage texts={texts.privacy} path={screens.privacy}>
      <Markdown text={privacy} />
    </PlainPage>
  )
}
