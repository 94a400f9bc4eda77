import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import look from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** /pricing */
export default function PricingScreen(): ReactNode {
  return (
    <PlainPage title={texts.pricing.title} lead={texts.pricing.lead}>
      <p className={look.text}>{texts.pricing.text}</p>
      <Button component={Link} to="/signup" size="lg">
        {texts.pricing.start}
      </Button>
    </PlainPage>
  )
}
