// The migrations that came with this version, and which of them a database has.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type pg from 'pg'
import { WORKER } from './grants.ts'

/** The same from src/ledger as from dist/ledger. */
const MIGRATIONS = fileURLToPath(new URL('../../drizzle', import.meta.url))

export type Migration = {
  readonly name: string
  readonly hash: string
  readonly when: number
  readonly statements: readonly string[]
}

/** drizzle reads the files in the journal's order, but leaves their names out. */
export async function readMigrations(): Promise<readonly Migration[]> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(`${MIGRATIONS}/meta/_journal.json`, 'utf8'),
  )
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(({ hash, folderMillis, sql }, index) => ({
    name: journal.entries[index]?.tag ?? '',
    hash,
    when: folderMillis,
    statements: sql,
  }))
}

export async function appliedHashes(client: pg.ClientBase | pg.Pool): Promise<ReadonlySet<string>> {
  const { rows: found } = await client.query(`SELECT to_regclass('rollcall.migration') IS NOT NULL AS there`)
  if (!found[0]?.there) return new Set()
  const { rows } = await client.query<{ hash: string }>('SELECT hash FROM rollcall.migration')
  return new Set(rows.map(({ hash }) => hash))
}

/** By their rights, which name each of them: the schema itself is for the generator, and takes long to load. */
const RELATIONS = [...Object.keys(WORKER.tables), 'token']

/** In words, without a verdict; empty when all is there. */
export async function whatIsMissing(client: pg.ClientBase | pg.Pool): Promise<readonly string[]> {
  const applied = await appliedHashes(client)
  const missing = (await readMigrations()).filter(({ hash }) => !applied.has(hash))
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass('rollcall.' || quote_ident(name)) IS NULL`,
    [RELATIONS],
  )
  if (applied.size === 0 && rows.length === RELATIONS.length)
    return ['nothing of rollcall is installed in this database yet']
  return [
    ...missing.map(({ name }) => `migration ${name} was not applied`),
    ...rows.map(({ name }) => `rollcall.${name} is missing`),
  ]
}
