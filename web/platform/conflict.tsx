import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { capitalized, showClock } from '#web/ui/dates.ts'
import { Dialog, useKept } from '#web/ui/dialog.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useToday } from './account.tsx'
import styles from './platform.module.css'
import { Problem } from './problem.ts'
import { conflictTexts as texts } from './texts.ts'

/** A record that others may change meanwhile. */
interface Shared<R extends object, F extends keyof R & string> {
  /** What people set of it, in the order of the dialog, and how it is called. */
  fields: Record<F, string>
  read: () => Promise<R>
  /** Saves changed fields where the record is still as it is known; refused with `changed_meanwhile` otherwise. */
  write: (mine: Partial<Pick<R, F>>, known: R) => Promise<R>
  shown: (field: F, of: Pick<R, F>) => string
  /** Which record it is. */
  named?: (theirs: R) => string
  figure?: (conflict: Conflict<R, F>) => ReactNode
  /** Where the other version stays. */
  other?: string
}

/** Two people changed the same fields. */
export interface Conflict<R extends object, F extends keyof R & string> {
  was: R
  mine: Partial<Pick<R, F>>
  theirs: R
  /** Changed by both, each differently. */
  both: F[]
  /** Who changed what, in a sentence. */
  message: string
  by: string
  at: string
}

type Choice = 'mine' | 'theirs' | null
type Asked<R extends object, F extends keyof R & string> = Conflict<R, F> & { settle: (choice: Choice) => void }

function namesOf<F extends string>(fields: Record<F, string>): F[] {
  return Object.keys(fields) as F[]
}

/** Which fields someone else has changed, and which of them this change sets differently. */
export function compareChanges<F extends string, V extends Record<F, unknown>>(
  fields: Record<F, string>,
  was: V,
  mine: Partial<V>,
  theirs: V,
): { changed: F[]; both: F[] } {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other)
  const changed = namesOf(fields).filter((field) => differs(was[field], theirs[field]))
  return { changed, both: changed.filter((field) => mine[field] !== undefined && differs(mine[field], theirs[field])) }
}

/**
 * Saves changed fields. Where someone changed others meanwhile, they are saved on top; where they changed the same, `ask` decides.
 * What the person themselves changed elsewhere is overwritten without a question. Null: the person wants to change the form first.
 */
async function saveOnTop<R extends object, F extends keyof R & string>(
  { fields, read, write }: Shared<R, F>,
  was: R,
  wanted: Partial<Pick<R, F>>,
  ask: (conflict: Conflict<R, F>) => Promise<Choice>,
): Promise<R | null> {
  let mine = wanted
  let known = was
  let merged: { by: string; changed: F[] } | null = null
  for (;;) {
    try {
      const saved = await write(mine, known)
      if (merged)
        toast(
          'good',
          texts.merged(
            merged.by,
            merged.changed.map((field) => fields[field]),
          ),
        )
      return saved
    } catch (error) {
      if (!(error instanceof Problem) || !error.meanwhile) throw error
      const { by, at, self } = error.meanwhile
      const theirs = await read()
      const { changed, both } = compareChanges<F, Record<F, unknown>>(fields, was, mine, theirs)
      known = theirs
      merged = self || changed.length === 0 ? null : { by, changed }
      if (self || both.length === 0) continue
      const choice = await ask({ was, mine, theirs, both, message: error.message, by, at })
      if (choice === null) return null
      merged = null
      if (choice === 'theirs')
        mine = Object.fromEntries(Object.entries(mine).filter(([field]) => !both.some((one) => one === field))) as Partial<Pick<R, F>>
      if (!namesOf(fields).some((field) => mine[field] !== undefined)) return theirs
    }
  }
}

/** `save` saves what others may change meanwhile; `dialog` must be on the screen that calls it. */
export function useSaveOnTop<R extends object, F extends keyof R & string>(
  shared: Shared<R, F>,
): { save: (was: R, mine: Partial<Pick<R, F>>) => Promise<R | null>; dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked<R, F> | null>(null)
  const ask = (conflict: Conflict<R, F>) =>
    new Promise<Choice>((settle) =>
      setAsked({
        ...conflict,
        settle: (choice) => {
          setAsked(null)
          settle(choice)
        },
      }),
    )
  return { save: (was, mine) => saveOnTop(shared, was, mine, ask), dialog: <ConflictDialog shared={shared} asked={asked} /> }
}

interface ConflictDialogProps<R extends object, F extends keyof R & string> {
  shared: Shared<R, F>
  asked: Asked<R, F> | null
}

function ConflictDialog<R extends object, F extends keyof R & string>({ shared, asked }: ConflictDialogProps<R, F>): ReactNode {
  const { zone } = useToday()
  const conflict = useKept(asked)
  if (!conflict) return null
  const { fields, shown, named, figure, other } = shared
  const { mine, theirs, both, message, by, at, settle } = conflict
  const ours = { ...theirs, ...mine }
  const kept = namesOf(fields).filter((field) => mine[field] !== undefined && !both.includes(field))
  const sides = [
    { side: 'mine' as const, from: texts.yours, of: ours, button: texts.keepMine },
    { side: 'theirs' as const, from: texts.theirs(by, showClock(zone, new Date(at))), of: theirs, button: texts.takeTheirs },
  ]
  return (
    <Dialog opened={asked !== null} onClose={() => settle(null)} title={message} size={520} zIndex={201}>
      <p className={styles.conflictText}>
        {named && `${named(theirs)}. `}
        {texts.both(both.map((field) => fields[field]))}
      </p>
      {figure?.(conflict)}
      <div className={styles.versions}>
        {sides.map(({ side, from, of, button }) => (
          <div key={side} className={styles.version} data-side={side}>
            <p className={styles.conflictText}>{from}</p>
            <dl className={styles.versionValues}>
              {both.map((field) => {
                const value = shown(field, of)
                return (
                  <div key={field}>
                    <dt>{capitalized(fields[field])}</dt>
                    <dd data-long={value.length > 60 || undefined}>{value}</dd>
                  </div>
                )
              })}
            </dl>
            <Button variant="default" fullWidth onClick={() => settle(side)}>
              {button}
            </Button>
          </div>
        ))}
      </div>
      <p className={styles.conflictText}>
        {kept.length > 0 && `${texts.kept(kept.map((field) => `${fields[field]}, ${shown(field, ours)}`))} `}
        {other}
      </p>
    </Dialog>
  )
}
