import { Button, Skeleton } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import { screens } from '#contract/screens.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { firstLanguage } from '#contract/speech.ts'
import { Allowed } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { editorTexts as texts } from '#web/templates/texts.ts'
import { useWriting } from '#web/templates/wording.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { startOf, toDraft } from './draft.ts'
import { SequenceEditor } from './sequence-editor.tsx'
import styles from './sequences.module.css'

/** /dashboard/sequences/{id}, and /dashboard/sequences/new?from=gentle for one that is not saved yet. */
export default function SequenceScreen(): ReactNode {
  const { id = '' } = useParams()
  const [address] = useSearchParams()
  const isNew = id === 'new'
  const writing = useWriting()
  const { language } = writing
  const query = language === firstLanguage ? {} : { query: { language } }
  const sequence = useApiQuery(sequenceCalls.read, { params: { id }, ...query }, { enabled: !isNew })
  return (
    <>
      <Link to={screens.sequences} className={styles.back}>
        <IconChevronLeft size={18} stroke={1.7} aria-hidden />
        {texts.back}
      </Link>
      {isNew ? (
        <Allowed by="admin" says>
          <SequenceEditor key={`new ${language}`} saved={null} start={startOf(address.get('from'), language)} writing={writing} />
        </Allowed>
      ) : (
        <QueryView
          query={sequence}
          loading={texts.loading}
          skeleton={
            <>
              <Skeleton height={420} radius={14} mb={20} />
              <Skeleton height={520} radius={14} />
            </>
          }
          error={texts.failed}
          gone={texts.gone}
          otherwise={
            <Button component={Link} to={screens.sequences} variant="default">
              {texts.toSequences}
            </Button>
          }
          empty={
            <EmptyState
              title={texts.isBuiltIn.title}
              text={texts.isBuiltIn.text}
              action={
                <Button component={Link} to={screens.emailTemplates}>
                  {texts.isBuiltIn.action}
                </Button>
              }
            />
          }
          isEmpty={({ builtIn }) => builtIn}
        >
          {(found) => (
            <Allowed by="admin" says>
              <SequenceEditor key={`${id} ${language}`} saved={found} start={toDraft(found)} writing={writing} />
            </Allowed>
          )}
        </QueryView>
      )}
    </>
  )
}
