/** Only the fields that differ, so that a change made elsewhere is not overwritten. Lists differ by what they contain. */
export function changedFields<D extends object>(before: D, after: D): Partial<D> {
  const was = new Map(Object.entries(before))
  const differs = ([field, value]: [string, unknown]) => JSON.stringify(was.get(field)) !== JSON.stringify(value)
  return Object.fromEntries(Object.entries(after).filter(differs)) as Partial<D>
}

/** The newest values, but for those that were typed over `before`. */
export function withTyped<V extends object>(newest: V, before: V, typed: V): V {
  return { ...newest, ...changedFields(before, typed) }
}
