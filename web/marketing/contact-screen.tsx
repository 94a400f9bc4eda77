import { IconExternalLink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { filled } from '#web/platform/page-facts.tsx'
import button from '#web/ui/plain-button.module.css'
import look from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** /contact: where the operator of this server can be reached. Which of the two shows is settled by the address alone, without a script. */
export default function ContactScreen(): ReactNode {
  const { contact } = texts
  return (
    <PlainPage words={contact} path="/contact">
      <a href={filled('support')} target="_blank" rel="noopener noreferrer" className={`${button.filled} ${look.contact}`} data-size="lg">
        {contact.open}
        <IconExternalLink size={18} aria-hidden />
        <span className={look.unseen}>{contact.newTab}</span>
      </a>
      <p className={look.none}>{contact.none}</p>
    </PlainPage>
  )
}
