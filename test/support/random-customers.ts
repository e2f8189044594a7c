// Customers that change at random, and what the service should hold of each of them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { normalForm } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { CONFIG } from './house.ts'

/** Values in the form in which they go over the wire, by column of `clientes`; none of them says whose it is. */
const VALUES: Readonly<Record<string, readonly (string | null)[]>> = {
  plan: ['premium', 'premium', 'free', 'trial'],
  correo: ['ana@example.com', 'Ana.Gil@Example.com', 'eva@example.org', null],
  dni: ['12345678Z', 'X1234567L', null],
  nombre: ['Ana', 'Eva', 'José', 'Ñoña "x" \\', null],
  apellidos: ['Gil', 'de la Cruz', null],
  sexo: ['h', 'm', null],
  nacido: ['1980-02-29', '2001-12-31', null],
  movil: ['600111222', '600999888', '711000111', null],
  prefijo: ['34', '351', null],
  cobertura: ['hogar', 'auto', null],
  contrato: ['C-1', 'C-2', null],
  idioma: ['es', 'ca', null],
  notas: ['nota', 'otra nota\ny más', null],
  pais: ['ES', 'PT', null],
  grupo: ['g1', 'g2', null],
  grupo_medico: ['m1', null],
}
const COLUMNS = Object.keys(VALUES)

export type Changing = {
  readonly pool: Pool
  readonly keys: readonly string[]
  readonly random: () => number
}

export async function insertAll({ pool, keys, random }: Changing): Promise<void> {
  for (const key of keys) await insert(pool, key, random)
}

/**
 * One change after the other, with short pauses: some fields, all of them, there and back, a deletion, somebody who comes
 * back.
 */
export async function changeAtRandom({ pool, keys, random }: Changing, times: number): Promise<void> {
  const pick = picker(random)
  for (let n = 0; n < times; n += 1) {
    const key = pick(keys)
    const kind = random()
    if (kind < 0.1) await pool.query('DELETE FROM clientes WHERE id = $1', [key])
    else if (kind < 0.25) await insert(pool, key, random)
    else if (kind < 0.35) await rewrite(pool, key, random)
    else if (kind < 0.6) await thereAndBack(pool, key, random)
    else await update(pool, key, some(COLUMNS, random), random)
    if (random() < 0.7) await sleep(random() * 80)
  }
}

/** Every column gets a value that it did not have, and the notes none. */
export async function rewrite(pool: Pool, key: string, random: () => number): Promise<void> {
  const { rows } = await pool.query<Readonly<Record<string, string | null>>>(
    `SELECT ${COLUMNS.map((column) => `${column}::text`).join(', ')} FROM clientes WHERE id = $1`,
    [key],
  )
  const [row] = rows
  if (!row) return
  const values = COLUMNS.map((column) => (column === 'notas' ? null : other(column, row[column], random)))
  await pool.query(`UPDATE clientes SET ${assign(COLUMNS)} WHERE id = $1`, [key, ...values])
}

async function insert(pool: Pool, key: string, random: () => number): Promise<void> {
  const values = COLUMNS.map((column) => picker(random)(VALUES[column] ?? []))
  const places = COLUMNS.map((_, at) => `$${at + 2}`).join(', ')
  await pool.query(
    `INSERT INTO clientes (id, ${COLUMNS.join(', ')}) VALUES ($1, ${places}) ON CONFLICT DO NOTHING`,
    [key, ...values],
  )
}

async function update(
  pool: Pool,
  key: string,
  columns: readonly string[],
  random: () => number,
): Promise<void> {
  const values = columns.map((column) => picker(random)(VALUES[column] ?? []))
  await pool.query(`UPDATE clientes SET ${assign(columns)} WHERE id = $1`, [key, ...values])
}

/** What no GET shows among it: only whoever doubts it after a lost answer puts it right. */
async function thereAndBack(pool: Pool, key: string, random: () => number): Promise<void> {
  const { rows } = await pool.query<{ plan: string; pais: string | null }>(
    'SELECT plan, pais FROM clientes WHERE id = $1',
    [key],
  )
  const [before] = rows
  if (!before) return
  const columns = random() < 0.5 ? ['pais'] : ['plan', 'pais']
  const away = columns.map((column) => other(column, before[column as keyof typeof before], random))
  const back = columns.map((column) => before[column as keyof typeof before])
  await pool.query(`UPDATE clientes SET ${assign(columns)} WHERE id = $1`, [key, ...away])
  await sleep(random() * 150)
  await pool.query(`UPDATE clientes SET ${assign(columns)} WHERE id = $1`, [key, ...back])
}

function other(column: string, value: string | null | undefined, random: () => number): string | null {
  return picker(random)((VALUES[column] ?? []).filter((each) => each !== value))
}

function assign(columns: readonly string[]): string {
  return columns.map((column, at) => `${column} = $${at + 2}`).join(', ')
}

function some<T>(from: readonly T[], random: () => number): readonly T[] {
  const share = random() * 0.5
  const chosen = from.filter(() => random() < share)
  return chosen.length > 0 ? chosen : [picker(random)(from)]
}

function picker(random: () => number): <T>(from: readonly T[]) => T {
  return (from) => from[Math.floor(random() * from.length)] as (typeof from)[number]
}

/** What a service holds of a user; undefined: nothing. */
export type Held = Readonly<Record<string, unknown>> | undefined
type Row = Readonly<Record<string, string | null>>

export type Wrong = {
  readonly key: string
  /** `status`, and names of fields. */
  readonly fields: readonly string[]
}

/** Who is not as the table says, in normal form; who has no row must have no access. */
export async function findWrong(
  { pool, keys }: Pick<Changing, 'pool' | 'keys'>,
  held: (key: string) => Held,
): Promise<readonly Wrong[]> {
  const { rows } = await pool.query<Row>(
    `SELECT id, ${COLUMNS.map((column) => `${column}::text`).join(', ')} FROM clientes`,
  )
  const byKey = new Map(rows.map((row) => [row.id, row]))
  return keys.flatMap((key) => {
    const fields = wrongFields(byKey.get(key), held(key))
    return fields.length > 0 ? [{ key, fields }] : []
  })
}

function wrongFields(row: Row | undefined, user: Held): string[] {
  if (!row) return Number(user?.status ?? 0) === 0 ? [] : ['status']
  const status = wanted('status', row) === user?.status ? [] : ['status']
  const fields = OPTIONAL_FIELDS.filter(
    (field) => normalForm(field, wanted(field, row)) !== normalForm(field, user?.[field]),
  )
  return [...status, ...fields]
}

/** By the columns and values of the house's mapping, and by nothing that is under test. */
function wanted(field: 'status' | OptionalField, row: Row): unknown {
  const source = CONFIG.mapping[field]
  if (typeof source === 'string') return row[source] ?? null
  if (source === undefined || !('values' in source)) throw new Error(`${field} is mapped in another way`)
  const text = row[source.column] ?? null
  return text === null ? null : (source.values[text] ?? null)
}
