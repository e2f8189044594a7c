import type { Config } from '../config/config.ts'

/** Where in the configuration which column of the customers is named. */
export function columnUses(config: Config): readonly { readonly where: string; readonly column: string }[] {
  const { customers, mapping, scope } = config
  return [
    ...customers.key.map((column) => ({ where: 'customers.key', column })),
    ...Object.entries(mapping).flatMap(([field, source]) =>
      (source?.columns ?? []).map((column) => ({ where: `mapping.${field}`, column })),
    ),
    ...(scope?.columns ?? []).map((column) => ({ where: 'scope', column })),
  ]
}

/** Every column that a sync reads: key, mapping and scope. */
export function neededColumns(config: Config): readonly string[] {
  return [...new Set(columnUses(config).map(({ column }) => column))]
}
