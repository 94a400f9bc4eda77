import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { withQuery } from '#contract/screens.ts'
import { Notice } from '#web/ui/notice.tsx'
import { demoTexts as texts } from './on-demand-texts.ts'

/** The notice above every screen of a demo; with ?tour, what to see on this screen, and the link to the next. */
export function Demo({ mail }: { mail: string }): ReactNode {
  const [query] = useSearchParams()
  const asked = query.get('tour')
  const nth = asked === null ? 0 : Math.min(texts.stops.length, Math.max(1, Number(asked) || 1))
  const stop = texts.stops[nth - 1]
  const next = texts.stops[nth]
  const tour = (to: string, number: number) => withQuery(to, { tour: String(number) })
  const emails = (
    <Button component="a" href={mail} target="_blank" rel="noreferrer" variant="default">
      {texts.emails}
    </Button>
  )
  return (
    <section aria-label={texts.label}>
      <Notice
        tone="info"
        title={stop ? texts.stop(nth, texts.stops.length, stop.title) : texts.title}
        action={
          <Group gap={12}>
            {next && (
              <Button component={Link} to={tour(next.screen, nth + 1)} variant={stop ? 'filled' : 'default'}>
                {stop ? texts.next(next.title) : texts.start}
              </Button>
            )}
            {(!stop || !next) && emails}
            {stop && (
              <Button component={Link} to={stop.screen} variant="subtle">
                {texts.end}
              </Button>
            )}
          </Group>
        }
      >
        {stop?.text ?? texts.text}
      </Notice>
    </section>
  )
}
