import type { ReactNode } from 'react'
import type { Subscription } from '#contract/billing.ts'
import { Notice } from '#web/ui/notice.tsx'
import { bannerTexts } from './banner-texts.ts'

/** What the owner must know beside the plan: a payment that failed, or is being confirmed. */
export function UrgentNotices({ notices }: { notices: Subscription['notices'] }): ReactNode {
  return notices
    .filter(({ kind }) => kind === 'confirming' || kind === 'past_due')
    .map((notice) => (
      <Notice key={notice.kind} tone={notice.kind === 'past_due' ? 'bad' : 'info'} title={bannerTexts.titles[notice.kind]}>
        {notice.message}
      </Notice>
    ))
}
