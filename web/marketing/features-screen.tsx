import type { ReactNode } from 'react'

export default function FeaturesScreen(): ReactNode {
  return <main id="content">Duely</main>
}
