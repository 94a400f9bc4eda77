import { useDebouncedValue } from '@mantine/hooks'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderDocument, sampleValues, type Wording } from '#contract/templates.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import { useWidth } from '#web/ui/use-width.ts'
import styles from './email-templates.module.css'
import { ExampleChoice } from './example-choice.tsx'
import { type Example, type LetterKind, sampleExample } from './letters.ts'
import { texts } from './texts.ts'

const words = texts.preview
/** How wide the mail is shown, in pixels; the whole is made smaller where there is less room. */
const widths = { desktop: 608, phone: 360 }
const height = 560

/** The mail as it will arrive, made by the same renderer as what is sent. */
export function Preview({ kind, wording }: { kind: LetterKind; wording: Wording }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const mailbox = useApiQuery(mailCalls.config)
  const [chosen, setChosen] = useState<Example | null>(null)
  const [width, setWidth] = useState<keyof typeof widths>(() => (window.matchMedia('(max-width: 47.99em)').matches ? 'phone' : 'desktop'))
  const [shown] = useDebouncedValue(wording, 120)
  const userName = profile.data?.displayName ?? sampleValues.userName
  const example = chosen ?? sampleExample(kind, userName)
  const mail = example.render(shown)
  const from = mailbox.data?.user ? `${userName} <${mailbox.data.user}>` : userName
  return (
    <Panel title={words.title} aside={<WidthSwitch width={width} onChange={setWidth} />}>
      <ExampleChoice
        kind={kind}
        writer={{ userName, today: dateIn(profile.data?.timezone, new Date()) }}
        chosen={chosen}
        onChoose={setChosen}
      />
      <div className={styles.mail}>
        <dl className={styles.envelope}>
          <dt>{words.from}</dt>
          <dd>{from}</dd>
          <dt>{words.to}</dt>
          <dd>{example.to}</dd>
          <dt>{words.subject}</dt>
          <dd className={styles.subject}>{mail.subject === '' ? words.noSubject : mail.subject}</dd>
        </dl>
        <MailFrame document={reminderDocument(mail.html)} width={widths[width]} />
      </div>
      {mail.subject !== '' && <p className={styles.same}>{words.same}</p>}
    </Panel>
  )
}

/** The mail's own document, in a frame in which nothing can run and from which nothing can reach out. */
function MailFrame({ document, width }: { document: string; width: number }): ReactNode {
  const [room, available] = useWidth<HTMLDivElement>(width)
  const scale = Math.min(1, (available ?? width) / width)
  return (
    <div ref={room} className={styles.room} style={{ height: height * scale }}>
      <iframe
        title={words.frame}
        sandbox=""
        srcDoc={document}
        className={styles.frame}
        style={{ width, height, transform: `scale(${scale})` }}
      />
    </div>
  )
}

function WidthSwitch({ width, onChange }: { width: keyof typeof widths; onChange: (width: keyof typeof widths) => void }): ReactNode {
  const choices = [
    { value: 'desktop', text: words.desktop, icon: IconDeviceDesktop },
    { value: 'phone', text: words.phone, icon: IconDeviceMobile },
  ] as const
  return (
    <fieldset aria-label={words.width} className={styles.widths}>
      {choices.map(({ value, text, icon: Icon }) => (
        <button key={value} type="button" className={styles.width} aria-pressed={value === width} onClick={() => onChange(value)}>
          <Icon size={18} stroke={1.7} aria-hidden />
          {text}
        </button>
      ))}
    </fieldset>
  )
}
