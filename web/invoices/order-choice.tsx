import { NativeSelect } from '@mantine/core'
import type { ReactNode } from 'react'
import { column, type Order, order as orderSchema } from './order.ts'
import { texts } from './texts.ts'

const { list } = texts

/** The same choices as the heads of the columns, for a window without room for columns. */
export function OrderChoice({ order, onOrder }: { order: Order; onOrder: (order: Order) => void }): ReactNode {
  return (
    <NativeSelect
      aria-label={list.sortBy}
      value={JSON.stringify(order)}
      onChange={(event) => onOrder(orderSchema.parse(JSON.parse(event.currentTarget.value)))}
      data={[
        { value: 'null', label: list.newest },
        ...column.options.flatMap((by) => [
          { value: JSON.stringify({ by, ascending: true }), label: list.orders[by].ascending },
          { value: JSON.stringify({ by, ascending: false }), label: list.orders[by].descending },
        ]),
      ]}
    />
  )
}
