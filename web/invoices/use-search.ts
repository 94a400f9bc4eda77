import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useBlocker, useSearchParams } from 'react-router'
import { invoiceStatus } from '#contract/invoices.ts'
import type { Filter } from './texts.ts'

interface Search {
  search: string
  onSearch: (search: string) => void
  filter: Filter
  onFilter: (filter: Filter) => void
}

/** What is searched for and filtered by. It stands in the address, so that going back and reloading show the same invoices. */
export function useSearch(): Search {
  const [address, setAddress] = useSearchParams()
  const inAddress = address.get('search') ?? ''
  const [search, setSearch] = useState(inAddress)
  const written = useRef(inAddress)
  const filter = invoiceStatus.safeParse(address.get('status')).data ?? 'all'

  const write = (name: 'search' | 'status', value: string) =>
    setAddress(
      () => {
        // The address as it stands: what was typed is written late, and the import may have been opened meanwhile.
        const after = new URLSearchParams(window.location.search)
        if (value === '') after.delete(name)
        else after.set(name, value)
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  const writeSearch = useDebouncedCallback((text: string) => {
    written.current = text
    write('search', text)
  }, 300)
  // Whoever goes to another screen is on the way as soon as this is asked: an address written later would call that off.
  useBlocker(({ currentLocation, nextLocation }) => {
    if (currentLocation.pathname !== nextLocation.pathname) writeSearch.cancel()
    return false
  })

  // A link or the back button changed the address: follow it.
  useEffect(() => {
    if (inAddress === written.current) return
    written.current = inAddress
    setSearch(inAddress)
  }, [inAddress])

  return {
    search,
    onSearch: (text) => {
      setSearch(text)
      writeSearch(text)
    },
    filter,
    onFilter: (name) => write('status', name === 'all' ? '' : name),
  }
}
