import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { saveFile } from '#web/platform/send.ts'
import { CopyButton } from '#web/ui/buttons.tsx'
import styles from './security.module.css'
import { texts } from './texts.ts'

const words = texts.security.twoFactor.codes

interface RecoveryCodesProps {
  codes: string[]
  /** Whose they are, for the file. */
  email: string
  onClose: () => void
}

/** The recovery codes, shown this once: to be copied, downloaded or written down. */
export function RecoveryCodes({ codes, email, onClose }: RecoveryCodesProps): ReactNode {
  const download = () =>
    saveFile(new Blob([`${words.file(email)}\n\n${codes.join('\n')}\n`], { type: 'text/plain;charset=utf-8' }), words.fileName)
  return (
    <>
      <p className={styles.flush}>{words.text}</p>
      <ul className={styles.codes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.row}>
        <CopyButton text={codes.join('\n')} />
        <Button variant="default" leftSection={<IconDownload size={17} aria-hidden />} onClick={download}>
          {words.download}
        </Button>
        <Button className={styles.last ?? ''} onClick={onClose}>
          {words.kept}
        </Button>
      </div>
    </>
  )
}
