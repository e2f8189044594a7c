// A logical backup of rollcall's own tables, and its restore over the same database: as with pg_dump and pg_restore,
// which the embedded Postgres does not bring, every row is written anew.
import type pg from 'pg'

export type Backup = { restore(): Promise<void> }

const TABLES = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'rollcall'`
const SEQUENCES = `
SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS value FROM pg_sequences
WHERE schemaname = 'rollcall' AND last_value IS NOT NULL`

export async function backUp(pool: pg.Pool): Promise<Backup> {
  const tables = await Promise.all(
    (await pool.query<{ name: string }>(TABLES)).rows.map(async ({ name }) => {
      const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      return { name, rows: rows.map(({ row }) => row) }
    }),
  )
  const sequences = (await pool.query<{ name: string; value: string }>(SEQUENCES)).rows
  return {
    async restore() {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`)
        for (const { name, rows } of tables)
          await client.query(`INSERT INTO ${name} SELECT (r::${name}).* FROM unnest($1::text[]) AS t (r)`, [
            rows,
          ])
        for (const { name, value } of sequences) await client.query('SELECT setval($1, $2)', [name, value])
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    },
  }
}
