import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { GroupingNotice } from './grouping-notice.tsx'
import { type LetterKind, letters } from './letters.ts'
import { TemplateEditor } from './template-editor.tsx'
import { texts } from './texts.ts'

/** One kind of mail: whether its wording is one's own, that wording, and how it looks. */
export function TemplateTab({ kind, onUnsaved }: { kind: LetterKind; onUnsaved: (unsaved: boolean) => void }): ReactNode {
  const template = useApiQuery(letters[kind].read)
  return (
    <>
      {kind === 'group' && <GroupingNotice />}
      <QueryView
        query={template}
        loading={texts.loading}
        skeleton={<Skeleton height={420} radius={14} />}
        error={texts.failed}
        empty={null}
      >
        {(found) => <TemplateEditor kind={kind} template={found} onUnsaved={onUnsaved} />}
      </QueryView>
    </>
  )
}
