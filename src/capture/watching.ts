import type { ClientBase } from 'pg'
import type { Config } from '../config/config.ts'
import { quotedName } from '../customers/problems.ts'
import { CAPTURE_SCHEMA, EVENTS } from './triggers.ts'

/**
 * Watched tables that do not carry our triggers now: dropped and made anew by a restore, say, which others see empty until
 * it is done. Names for people.
 */
export async function unwatchedTables(
  client: Pick<ClientBase, 'query'>,
  { watch }: Pick<Config, 'watch'>,
): Promise<readonly string[]> {
  const relations = watch.map(({ relation }) => relation)
  const { rows } = await client.query<{ at: number }>(
    `SELECT w.at::int AS at FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (schema, name, at)
     WHERE (SELECT count(DISTINCT t.tgtype) FROM pg_catalog.pg_trigger t
       JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = to_regnamespace('${CAPTURE_SCHEMA}')
       JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid AND c.relname = w.name
       JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = w.schema
       WHERE t.tgenabled IN ('O', 'A')) < ${EVENTS.length} ORDER BY 1`,
    [relations.map(({ schema }) => schema), relations.map(({ name }) => name)],
  )
  return rows.flatMap(({ at }) => {
    const relation = relations[at - 1]
    return relation ? [quotedName(relation)] : []
  })
}
