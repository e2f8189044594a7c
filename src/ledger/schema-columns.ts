// Common parts of the tables: their schema, keys of customers, and times.
import { customType, pgSchema, timestamp } from 'drizzle-orm/pg-core'

export const rollcall = pgSchema('rollcall')

/** Keys compare byte by byte, so that every process sorts, and therefore locks, in the same order. */
export const key = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
export const at = (name: string) => timestamp(name, { withTimezone: true })
