import { type ReactNode, useId } from 'react'
import styles from './mail.module.css'
import { type ProviderName, providers } from './presets.ts'
import { texts } from './texts.ts'

const words = texts.presets

interface ProviderChoiceProps {
  /** Whose server stands in the form. */
  chosen: ProviderName
  onChoose: (provider: ProviderName) => void
}

/** Fills in host, port and security for the usual providers, and says where each hands out its app password. */
export function ProviderChoice({ chosen, onChoose }: ProviderChoiceProps): ReactNode {
  const id = useId()
  const note = words.notes[chosen]
  return (
    <fieldset className={styles.providers} aria-describedby={note ? `${id}-note` : undefined}>
      <legend className={styles.legend}>{words.label}</legend>
      <div className={styles.choices}>
        {providers.map((provider) => (
          <label key={provider} className={styles.choice}>
            <input type="radio" name={`${id}-provider`} checked={chosen === provider} onChange={() => onChoose(provider)} />
            {words.names[provider]}
          </label>
        ))}
      </div>
      {note && (
        <p id={`${id}-note`} className={styles.note} data-tone={note.tone} role="status">
          {note.text}{' '}
          <a href={note.link} target="_blank" rel="noreferrer">
            {note.linkText}
          </a>
          {note.rest}
        </p>
      )}
    </fieldset>
  )
}
