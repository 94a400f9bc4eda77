import { IconDownload } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { saveFile, sendForFile } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'
import { texts } from './texts.ts'

const words = texts.security.data

/** Everything of the account as one file. */
export function SecurityExport(): ReactNode {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const download = async () => {
    setBusy(true)
    setProblem(null)
    try {
      const { bytes, name } = await sendForFile(accountCalls.exportData, {})
      saveFile(bytes, name)
      toast('good', words.done(name))
    } catch (error) {
      setProblem(words.failed(errorMessage(error)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Panel title={words.title}>
      <p className={styles.text}>{words.text}</p>
      <BusyButton
        variant="default"
        busy={busy}
        busyText={words.busy}
        leftSection={<IconDownload size={18} stroke={1.7} aria-hidden />}
        onClick={() => void download()}
      >
        {words.submit}
      </BusyButton>
      <FormError message={problem} />
    </Panel>
  )
}
