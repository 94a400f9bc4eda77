import { Button, Group, Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { leaveTo } from '#web/platform/session.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'
import { brief } from './profile-toast.tsx'
import { texts } from './texts.ts'

const words = texts.profile.remove

/** Asks for the word before the account and everything of it goes. */
export function DeleteAccountDialog({ opened, email, onClose }: { opened: boolean; email: string; onClose: () => void }): ReactNode {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const remove = useApiMutation(accountCalls.deleteMe, {
    onSuccess: () => leaveTo(screens.landing),
    onError: (error) => toast('bad', brief(words.failed(errorMessage(error)))),
  })
  // Also while the page of those who are signed out is on its way.
  const busy = remove.isPending || remove.isSuccess
  const close = () => {
    if (busy) return
    setTyped('')
    setWrong(null)
    remove.reset()
    onClose()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    if (typed !== words.word) {
      setWrong(words.wrong)
      return
    }
    remove.mutate({})
  }
  return (
    <Modal opened={opened} onClose={close} title={words.dialog} centered>
      <form noValidate onSubmit={submit}>
        <p className={styles.text}>{words.question(email)}</p>
        <TextInput
          label={words.label}
          value={typed}
          error={wrong}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            setWrong(null)
          }}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          data-autofocus
        />
        <FormError message={remove.isError ? words.failed(errorMessage(remove.error)) : null} />
        <Group justify="flex-end" gap={12} mt={24}>
          <Button variant="default" onClick={close} disabled={busy}>
            {words.cancel}
          </Button>
          <BusyButton type="submit" color="coral" busy={busy} busyText={words.busy}>
            {words.confirm}
          </BusyButton>
        </Group>
      </form>
    </Modal>
  )
}
