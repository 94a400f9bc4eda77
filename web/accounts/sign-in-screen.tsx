import type { ReactNode } from 'react'

export default function SignInScreen(): ReactNode {
  return <main id="content">Duely</main>
}
