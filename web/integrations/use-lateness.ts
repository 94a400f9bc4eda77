import { useEffect, useState } from 'react'

/** Milliseconds after which a wait is noticed. */
const noticed = 500

/** Whether something is waited for so long already that it should be said. */
export function useLateness(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setLate(true), noticed)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [waiting])
  return late
}
