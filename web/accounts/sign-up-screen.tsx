import type { ReactNode } from 'react'

export default function SignUpScreen(): ReactNode {
  return <main id="content">Duely</main>
}
