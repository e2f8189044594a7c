// Customers that change at random, and what the service should hold of each of them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { retryKeys } from '../../src/ledger/retry.ts'
import { normalForm } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { CONFIG, CUSTOMERS } from './house.ts'

/** Checked at the end of a statement, so that keys can change places. */
export const SWAPPABLE = CUSTOMERS.replace('PRIMARY KEY', 'PRIMARY KEY DEFERRABLE')

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

export type Random = () => number
export type Changing = { readonly pool: Pool; readonly keys: readonly string[]; readonly random: Random }
type Parts = Omit<Changing, 'pool'> & { readonly client: Pick<ClientBase, 'query'> }

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** One of them, by their shares. */
export function weighted<T>(random: Random, from: readonly (readonly [share: number, what: T])[]): T {
  let left = random() * from.reduce((sum, [share]) => sum + share, 0)
  for (const [share, what] of from) {
    left -= share
    if (left < 0) return what
  }
  return pick(random, from)[1]
}

export async function insertAll({ pool, keys, random }: Changing): Promise<void> {
  for (const key of keys) await insert({ client: pool, keys: [key], random })
}

/** Shares of a hundred changes. */
const CHANGES: readonly (readonly [share: number, change: (parts: Parts) => Promise<unknown>])[] = [
  [22, insert],
  [26, (parts) => update(parts, some(parts.random))],
  [8, ({ client, keys, random }) => rewrite(client, pick(random, keys), random)],
  [20, thereAndBack],
  [9, ({ client, keys, random }) => client.query('DELETE FROM clientes WHERE id = $1', [pick(random, keys)])],
  [5, otherKey],
  [3, keysSwapped],
  [1, bulk],
  [4, (parts) => transaction(parts, 'COMMIT')],
  [2, (parts) => transaction(parts, 'ROLLBACK')],
]

export async function changeOnce({ pool, ...rest }: Changing): Promise<true> {
  const client = await pool.connect()
  let broken = true
  try {
    // Writers who wait for each other must not stand still for long.
    await client.query(`SET lock_timeout = '4s'`)
    await weighted(rest.random, CHANGES)({ client, ...rest })
    broken = false
    return true
  } finally {
    client.release(broken)
  }
}

/** Every column gets a value that it did not have, and the notes, which some services refuse, none. */
export async function rewrite(client: Parts['client'], key: string, random: Random): Promise<void> {
  const row = await read(client, key)
  if (!row) return
  const values = COLUMNS.map((column) => (column === 'notas' ? null : other(column, row[column], random)))
  await client.query(`UPDATE clientes SET ${assign(COLUMNS)} WHERE id = $1`, [key, ...values])
}

/** The key may be another's already: the second insert writes nothing. */
async function insert({ client, keys, random }: Parts): Promise<void> {
  const places = COLUMNS.map((column, at) => `$${at + 2}::${column === 'nacido' ? 'date' : 'text'}`)
  await client.query(
    `INSERT INTO clientes (id, ${COLUMNS.join(', ')}) SELECT $1::text, ${places.join(', ')}
     WHERE NOT EXISTS (SELECT FROM clientes WHERE id = $1)`,
    [pick(random, keys), ...COLUMNS.map((column) => pick(random, VALUES[column] ?? []))],
  )
}

async function update({ client, keys, random }: Parts, columns: readonly string[]): Promise<void> {
  const values = columns.map((column) => pick(random, VALUES[column] ?? []))
  await client.query(`UPDATE clientes SET ${assign(columns)} WHERE id = $1`, [pick(random, keys), ...values])
}

/** No GET shows a hidden field: only a claim that treats it as unknown after a lost answer repairs it. */
async function thereAndBack({ client, keys, random }: Parts): Promise<void> {
  const key = pick(random, keys)
  const before = await read(client, key)
  if (!before) return
  const columns = pick(random, [['pais'], ['plan', 'pais'], ['correo']])
  const away = columns.map((column) => other(column, before[column], random))
  const back = columns.map((column) => before[column])
  for (const values of [away, back]) {
    await client.query(`UPDATE clientes SET ${assign(columns)} WHERE id = $1`, [key, ...values])
    await sleep(random() * 150)
  }
}

async function otherKey({ client, keys, random }: Parts): Promise<void> {
  await client.query(
    'UPDATE clientes SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM clientes WHERE id = $2)',
    [pick(random, keys), pick(random, keys)],
  )
}

async function keysSwapped({ client, keys, random }: Parts): Promise<void> {
  await client.query(
    `UPDATE clientes SET id = CASE id WHEN $1 THEN $2 ELSE $1 END WHERE id IN ($1, $2)
     AND (SELECT count(*) FROM clientes WHERE id IN ($1, $2)) = 2`,
    [pick(random, keys), pick(random, keys)],
  )
}

async function bulk({ client, keys, random }: Parts): Promise<void> {
  const column = pick(random, ['grupo', 'plan', 'cobertura'])
  const value = pick(random, VALUES[column] ?? [])
  await client.query(`UPDATE clientes SET ${column} = $1 WHERE id = ANY($2)`, [value, keys])
}

async function transaction(parts: Parts, end: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  await parts.client.query('BEGIN')
  for (let left = 1 + Math.floor(parts.random() * 3); left > 0; left -= 1) {
    await (parts.random() < 0.3 ? insert(parts) : update(parts, some(parts.random)))
    await sleep(parts.random() * 300)
  }
  await parts.client.query(end)
}

async function read(client: Parts['client'], key: string): Promise<Row | undefined> {
  return (await client.query<Row>(`SELECT ${AS_TEXT} FROM clientes WHERE id = $1`, [key])).rows[0]
}

const AS_TEXT = COLUMNS.map((column) => `${column}::text`).join(', ')

function other(column: string, value: string | null | undefined, random: Random): string | null {
  return pick(
    random,
    (VALUES[column] ?? []).filter((each) => each !== value),
  )
}

function assign(columns: readonly string[]): string {
  return columns.map((column, at) => `${column} = $${at + 2}`).join(', ')
}

function some(random: Random): readonly string[] {
  const share = random() * 0.5
  const chosen = COLUMNS.filter(() => random() < share)
  return chosen.length > 0 ? chosen : [pick(random, COLUMNS)]
}

/** Undefined: no user. */
export type Held = Readonly<Record<string, unknown>> | undefined
type Row = Readonly<Record<string, string | null>>

/** `fields`: `status`, and names of fields. */
type Wrong = { readonly key: string; readonly fields: readonly string[] }
export type Problem = { readonly key: string; readonly what: string }

type Judged = Changing & {
  readonly held: (key: string) => Held
  /** Resolves once nothing is left to do. */
  readonly rest: () => Promise<void>
}

/**
 * First all users must be up to date, except for refused values that the ledger names. Once the refused have changed, and a
 * person has requested another attempt, all users must be.
 */
export async function judgeAtRest({ pool, keys, random, held, rest }: Judged): Promise<readonly Problem[]> {
  await rest()
  const refused = await readRefused(pool)
  const unsaid = (await findWrong({ pool, keys }, held)).filter(
    ({ key, fields }) => !fields.every((field) => refused.get(key)?.includes(field)),
  )
  await retryKeys(pool, [...refused.keys()])
  for (const key of refused.keys()) await rewrite(pool, key, random)
  await rest()
  const still = await findWrong({ pool, keys }, held)
  return [
    ...unsaid.map(({ key, fields }) => ({ key, what: `wrong in ${fields.join(', ')}, and nothing says so` })),
    ...still.map(({ key, fields }) => ({ key, what: `stays wrong in ${fields.join(', ')}` })),
  ]
}

/** Fields that wait because the service refused them, and everything where the whole customer was refused. */
async function readRefused(pool: Pool): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await pool.query<{ key: string; state: string; fields: string[] }>(
    `SELECT key, state, ARRAY(SELECT i->>'field' FROM jsonb_array_elements(issues) i) AS fields FROM rollcall.ledger
     WHERE state <> 'idle' OR issues <> '[]'`,
  )
  const all = Object.keys(CONFIG.mapping)
  return new Map(rows.map(({ key, state, fields }) => [key, state === 'idle' ? fields : all]))
}

/** Compares in normal form; a customer without a row must have no access. */
async function findWrong(
  { pool, keys }: Pick<Changing, 'pool' | 'keys'>,
  held: (key: string) => Held,
): Promise<readonly Wrong[]> {
  const { rows } = await pool.query<Row>(`SELECT id, ${AS_TEXT} FROM clientes`)
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
