import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { useWidth } from '#web/ui/use-width.ts'
import look from './dashboard.module.css'
import { InvoiceCard } from './invoice-card.tsx'
import { texts } from './texts.ts'

const gap = 16
const narrowest = 290
const cardHeight = 206

/** How the grid lay when it was last seen: going back can then land where one was, before anything is measured. */
const last: { width: number | null; top: number } = { width: null, top: 0 }

interface InvoiceGridProps {
  invoices: Invoice[]
  zone: string | undefined
  now: Date
}

/** The cards, as many to a row as fit. Only the rows near the window are in the page, so that thousands scroll as smoothly as three. */
export function InvoiceGrid({ invoices, zone, now }: InvoiceGridProps): ReactNode {
  const [frame, width] = useWidth<HTMLUListElement>(last.width)
  const [top, setTop] = useState(last.top)
  const columns = Math.max(1, Math.floor(((width ?? 0) + gap) / (narrowest + gap)))
  const rows = useWindowVirtualizer({
    count: width === null ? 0 : Math.ceil(invoices.length / columns),
    estimateSize: () => cardHeight,
    gap,
    overscan: 3,
    scrollMargin: top,
  })
  // What stands above the cards can grow or shrink.
  useLayoutEffect(() => {
    const { current } = frame
    if (!current) return
    const measure = () => {
      last.top = current.getBoundingClientRect().top + window.scrollY
      last.width = current.clientWidth
      setTop(last.top)
    }
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [frame])
  const inView = rows.getVirtualItems()
  const first = (inView[0]?.index ?? 0) * columns
  const shown = invoices.slice(first, ((inView.at(-1)?.index ?? -1) + 1) * columns)
  return (
    <ul
      ref={frame}
      className={look.grid}
      aria-label={texts.dashboard.invoices}
      style={{
        height: rows.getTotalSize(),
        paddingTop: (inView[0]?.start ?? top) - top,
        gridAutoRows: cardHeight,
        gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
      }}
    >
      {shown.map((invoice, index) => (
        <InvoiceCard key={invoice._id} invoice={invoice} zone={zone} now={now} position={first + index + 1} of={invoices.length} />
      ))}
    </ul>
  )
}
