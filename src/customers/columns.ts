import type { Config } from '../config/config.ts'
import { MOST_FIELD_BYTES } from '../model/formats.ts'

type Use = {
  readonly where: string
  readonly column: string
  /** The largest value that is of use there, in bytes. */
  readonly mostBytes: number
}

export function columnUses(config: Config): readonly Use[] {
  const { customers, mapping, scope } = config
  const named = [
    ['customers.key', { columns: customers.key, mostBytes: MOST_FIELD_BYTES }] as const,
    ...Object.entries(mapping).map(([field, source]) => [`mapping.${field}`, source] as const),
    ['scope', scope] as const,
  ]
  return named.flatMap(([where, source]) =>
    (source?.columns ?? []).map((column) => ({ where, column, mostBytes: source?.mostBytes ?? 0 })),
  )
}

/** Every column that a sync reads: key, mapping and scope. */
export function neededColumns(config: Config): readonly string[] {
  return [...columnLimits(config).keys()]
}

/** The same with how many bytes of each are read at most: as many as the use that needs most of it takes. */
export function columnLimits(config: Config): ReadonlyMap<string, number> {
  const limits = new Map<string, number>()
  for (const { column, mostBytes } of columnUses(config))
    limits.set(column, Math.max(mostBytes, limits.get(column) ?? 0))
  return limits
}
