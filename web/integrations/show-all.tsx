import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { texts } from './texts.ts'

/** How many stand there at first. */
const few = 10

/** The first of many, and the way to all of them. */
export function ShowAll<T>({ list, children }: { list: T[]; children: (shown: T[]) => ReactNode }): ReactNode {
  const [all, setAll] = useState(false)
  return (
    <>
      {children(all ? list : list.slice(0, few))}
      {!all && list.length > few && (
        <Button variant="default" mt={16} onClick={() => setAll(true)}>
          {texts.showAll(list.length)}
        </Button>
      )}
    </>
  )
}
