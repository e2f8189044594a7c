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

/** In words, without a verdict; empty when all is there. */
export async function whatIsMissing(client: pg.ClientBase | pg.Pool): Promise<readonly string[]> {
  const missing = { ...(await missingMigrations(client)), ...(await missingRelations(client)) }
  if (missing.nothingApplied && missing.nothingThere)
    return ['nothing of rollcall is installed in this database yet']
  return [...missing.migrations, ...missing.relations]
}

async function missingMigrations(client: pg.ClientBase | pg.Pool) {
  const applied = await appliedHashes(client)
  const all = await readMigrations()
  return {
    nothingApplied: applied.size === 0,
    migrations: all.flatMap(({ name, hash }) =>
      applied.has(hash) ? [] : [`migration ${name} was not applied`],
    ),
  }
}

/** By their rights, which name each of them: the schema itself is for the generator, and takes long to load. */
const RELATIONS = [...Object.keys(WORKER.tables), 'token']

async function missingRelations(client: pg.ClientBase | pg.Pool) {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass('rollcall.' || quote_ident(name)) IS NULL`,
    [RELATIONS],
  )
  return {
    nothingThere: rows.length === RELATIONS.length,
    relations: rows.map(({ name }) => `rollcall.${name} is missing`),
  }
}
