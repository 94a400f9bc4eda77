import type { ReactNode } from 'react'

export default function PricingScreen(): ReactNode {
  return <main id="content">Duely</main>
}
