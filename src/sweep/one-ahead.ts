/**
 * Gives the items of a source while the next one is being fetched, so that Postgres and this process work at the same
 * time; never more than one ahead. An error of the source comes when it is that item's turn. For who
 * stops half way the source has ended, with the fetch that was under way, before the loop is left.
 */
export async function* oneAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = fetched(source)
  try {
    for (;;) {
      const item = await next
      if (item.done) return
      next = fetched(source)
      yield item.value
    }
  } finally {
    await source.return(undefined)
  }
}

function fetched<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T, unknown>> {
  const next = source.next()
  next.catch(() => undefined) // it is heard where it is awaited
  return next
}
