import { type ReactNode, useMemo } from 'react'
import { encode } from 'uqr'
import styles from './security.module.css'

/** A text as a QR code: black on white in either theme, for not every camera reads the reverse. */
export function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { size, path } = useMemo(() => {
    // Four modules of quiet around it (ISO/IEC 18004, 9.1).
    const code = encode(text, { ecc: 'M', border: 4 })
    const dark = code.data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])))
    return { size: code.size, path: dark.join('') }
  }, [text])
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} className={styles.qr} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
