import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './email-templates.module.css'
import { texts } from './texts.ts'

type Name = keyof typeof texts.meanings

/** What can stand in the wording, each a button that puts it in. */
export function VariableList({ names, onInsert }: { names: readonly Name[]; onInsert: (name: Name) => void }): ReactNode {
  return (
    <section aria-label={texts.variables}>
      <h3 className={styles.label}>{texts.variables}</h3>
      <p className={styles.hint}>{texts.variablesHint}</p>
      <ul className={styles.variables}>
        {names.map((name) => (
          <li key={name}>
            <button type="button" className={styles.variable} onClick={() => onInsert(name)}>
              <code>
                <VisuallyHidden>{texts.insert}</VisuallyHidden>
                {`{{${name}}}`}
              </code>
              <span>{texts.meanings[name]}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
