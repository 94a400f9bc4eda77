import type { ReactNode } from 'react'

export default function ContactScreen(): ReactNode {
  return <main id="content">Duely</main>
}
