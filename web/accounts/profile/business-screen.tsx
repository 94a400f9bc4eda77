import { Button, Group, Modal, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type BusinessDetails, businessCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { ContractForm, type ContractFormState, useContractForm } from '#web/platform/contract-form.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { keepBusiness, openBusiness } from '#web/platform/session.ts'
import { PageHeader, Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const t = texts.business

/** /dashboard/business */
export default function BusinessScreen(): ReactNode {
  const business = useApiQuery(businessCalls.read)
  return (
    <>
      <PageHeader title={t.title} subtitle={t.subtitle} />
      <QueryView query={business} loading={t.loading} error={t.failed} empty={null}>
        {(found) => (
          <>
            <Details key={found._id} business={found} />
            <Businesses current={found} />
          </>
        )}
      </QueryView>
    </>
  )
}

function Details({ business }: { business: BusinessDetails }): ReactNode {
  const state = useContractForm({
    call: businessCalls.change,
    initialValues: { name: business.name },
    toInput: ({ name }) => ({ body: { name } }),
    invalidates: [businessCalls.list],
    update: (cache, reply) => cache.write(businessCalls.read, reply),
    onSuccess: () => {
      toast('good', t.details.saved)
    },
  })
  return (
    <Panel title={t.details.title}>
      <ContractForm state={state} submit={t.details.save} busy={t.details.saving}>
        <div className={styles.column}>
          <TextInput
            label={t.details.name}
            description={business.named ? t.details.nameHint : t.details.unnamed}
            required
            {...state.form.getInputProps('name')}
          />
        </div>
      </ContractForm>
    </Panel>
  )
}

/** The person's businesses, with what adds and deletes one. */
function Businesses({ current }: { current: BusinessDetails }): ReactNode {
  const [open, setOpen] = useState<'none' | 'add' | 'remove'>('none')
  const list = useApiQuery(businessCalls.list).data ?? []
  const close = () => setOpen('none')
  return (
    <>
      <Panel title={t.list.title}>
        <p className={styles.text}>{t.list.text}</p>
        {list.length > 1 &&
          list.map(({ _id, name, role }) => (
            <Group key={_id} justify="space-between" mb={16} maw={520}>
              <span className={styles.rowName}>
                {name} <Pill tone="quiet">{t.roles[role]}</Pill>
              </span>
              {_id === current._id ? (
                <p className={styles.rowQuiet}>{t.list.current}</p>
              ) : (
                <Button variant="default" onClick={() => openBusiness(_id, screens.dashboard)} aria-label={t.list.switchTo(name)}>
                  {t.list.switch}
                </Button>
              )}
            </Group>
          ))}
        <Button variant="default" onClick={() => setOpen('add')}>
          {t.add.open}
        </Button>
      </Panel>
      {current.role === 'owner' && list.filter(({ role }) => role === 'owner').length > 1 && (
        <Panel title={t.remove.title}>
          <p className={styles.text}>{t.remove.text}</p>
          <Button variant="default" className={styles.danger ?? ''} onClick={() => setOpen('remove')}>
            {t.remove.open}
          </Button>
        </Panel>
      )}
      <Modal opened={open === 'add'} onClose={close} title={t.add.open} centered>
        <AddBusiness onCancel={close} />
      </Modal>
      <Modal opened={open === 'remove'} onClose={close} title={t.remove.open} centered>
        <RemoveBusiness business={current} onCancel={close} />
      </Modal>
    </>
  )
}

function AddBusiness({ onCancel }: { onCancel: () => void }): ReactNode {
  const state = useContractForm({
    call: businessCalls.create,
    initialValues: { name: '' },
    toInput: ({ name }) => ({ body: { name } }),
    onSuccess: ({ _id }) => openBusiness(_id, screens.dashboard),
  })
  return <NameForm state={state} label={t.details.name} submit={t.add.submit} busy={t.add.busy} text={t.add.text} onCancel={onCancel} />
}

function RemoveBusiness({ business, onCancel }: { business: BusinessDetails; onCancel: () => void }): ReactNode {
  const state = useContractForm({
    call: businessCalls.remove,
    initialValues: { name: '' },
    toInput: ({ name }) => ({ body: { name } }),
    onSuccess: () => {
      keepBusiness(null)
      window.location.assign(screens.dashboard)
    },
  })
  const { submit, busy, question, label } = t.remove
  return <NameForm state={state} label={label(business.name)} submit={submit} busy={busy} text={question} onCancel={onCancel} />
}

interface NameFormProps {
  state: ContractFormState<{ name: string }>
  label: string
  text: string
  submit: string
  busy: string
  onCancel: () => void
}

function NameForm({ state, label, text, submit, busy, onCancel }: NameFormProps): ReactNode {
  return (
    <ContractForm
      state={state}
      submit={submit}
      busy={busy}
      actions={
        <Button variant="default" onClick={onCancel}>
          {t.cancel}
        </Button>
      }
    >
      <p className={styles.text}>{text}</p>
      <TextInput label={label} autoComplete="off" required data-autofocus {...state.form.getInputProps('name')} />
    </ContractForm>
  )
}
