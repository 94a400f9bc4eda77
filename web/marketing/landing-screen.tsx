import type { ReactNode } from 'react'

export default function LandingScreen(): ReactNode {
  return <main id="content">Duely</main>
}
