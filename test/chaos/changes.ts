// What the writers do to the customers: statements with their values, drawn before anything runs.
import { COLUMNS, type Column, pick, type Random, type Values } from './values.ts'

export type Statement = { readonly sql: string; readonly values: readonly unknown[] }
export type Step = Statement | { readonly sleepMs: number }

export type Change = {
  readonly what: string
  readonly steps: readonly Step[]
  /** Whether the steps are one transaction, and how it ends. */
  readonly transaction: 'none' | 'commit' | 'rollback'
  readonly pauseMs: number
}

/** `keys`: of the customers that may be changed now. */
type Parts = { readonly values: Values; readonly keys: readonly string[]; readonly random: Random }
type Writing = Omit<Parts, 'keys'> & {
  /** Whose turn it is, so many milliseconds after the beginning, if all goes as planned. */
  readonly hot: (afterMs: number) => readonly string[]
}

/** The first row of everybody whom the run begins with. */
export function firstRows(parts: Parts): readonly Statement[] {
  return parts.keys.filter(() => parts.random() < 0.7).map((key) => insert(parts, key))
}

/** One writer's changes, without end. */
export function* changes({ hot, ...rest }: Writing): Generator<Change, never> {
  const { random } = rest
  let afterMs = 0
  for (;;) {
    const parts = { ...rest, keys: hot(afterMs) }
    const what = weighted(random)
    const made: Made = MAKE[what](parts)
    const change = 'steps' in made ? made : { steps: made, transaction: 'none' as const }
    const pauseMs = random() < 0.3 ? 0 : Math.round(random() * 350)
    for (const step of change.steps) afterMs += 'sql' in step ? STATEMENT_MS : step.sleepMs
    afterMs += pauseMs
    yield { what, ...change, pauseMs }
  }
}

/** What a statement takes, about. */
const STATEMENT_MS = 5

type Made = readonly Step[] | Pick<Change, 'steps' | 'transaction'>

const MAKE = {
  insert: (parts) => [insert(parts, pick(parts.keys, parts.random))],
  update: (parts) => [update(parts, pick(parts.keys, parts.random), some(parts.random))],
  rewrite: (parts) => [update(parts, pick(parts.keys, parts.random), COLUMNS)],
  'there and back': thereAndBack,
  delete: ({ keys, random }) => [{ sql: 'DELETE FROM clientes WHERE id = $1', values: [pick(keys, random)] }],
  'other key': otherKey,
  'keys swapped': keysSwapped,
  bulk: bulk,
  'long transaction': (parts) => ({ steps: long(parts), transaction: 'commit' }),
  'rolled back': (parts) => ({ steps: long(parts), transaction: 'rollback' }),
  'nothing mapped': ({ keys, random }) => [
    { sql: 'UPDATE clientes SET interno = $2 WHERE id = $1', values: [pick(keys, random), String(random())] },
  ],
} as const satisfies Record<string, (parts: Parts) => Made>

type What = keyof typeof MAKE

/** Of a hundred changes. */
const WEIGHTS: Readonly<Record<What, number>> = {
  insert: 22,
  update: 26,
  rewrite: 6,
  'there and back': 14,
  delete: 9,
  'other key': 5,
  'keys swapped': 3,
  bulk: 1,
  'long transaction': 6,
  'rolled back': 4,
  'nothing mapped': 4,
}

function weighted(random: Random): What {
  let left = random() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)
  for (const [what, weight] of Object.entries(WEIGHTS) as [What, number][]) {
    left -= weight
    if (left < 0) return what
  }
  return 'update'
}

/** The key may be another's already; whoever comes second writes nothing. */
function insert({ values, random }: Parts, key: string): Statement {
  const places = COLUMNS.map((column, at) => `$${at + 2}::${column === 'nacido' ? 'date' : 'text'}`)
  return {
    sql: `INSERT INTO clientes (id, ${COLUMNS.join(', ')}) SELECT $1::text, ${places.join(', ')}
      WHERE NOT EXISTS (SELECT FROM clientes WHERE id = $1)`,
    values: [key, ...COLUMNS.map((column) => values.value(column, random))],
  }
}

export function update({ values, random }: Omit<Parts, 'keys'>, key: string, columns: readonly Column[]) {
  const given = columns.map((column) => values.value(column, random))
  return { sql: `UPDATE clientes SET ${assign(columns)} WHERE id = $1`, values: [key, ...given] }
}

/** What no GET shows among it: only whoever doubts it after a lost answer puts it right. */
function thereAndBack(parts: Parts): readonly Step[] {
  const { random } = parts
  const key = pick(parts.keys, random)
  const columns: readonly Column[] = pick([['pais'], ['plan', 'pais'], ['correo']], random)
  const there = update(parts, key, columns)
  const away = update(parts, key, columns)
  return [
    there,
    { sleepMs: Math.round(random() * 250) },
    away,
    { sleepMs: Math.round(random() * 250) },
    there,
  ]
}

/** Of everybody whose turn it is, in what no GET shows too. */
export function thereAndBackTogether({ values, keys, random }: Parts): { there: Statement; back: Statement } {
  const columns = pick([['pais'], ['pais', 'plan'], ['pais', 'grupo']] as const, random)
  const sql = `UPDATE clientes SET ${columns.map((column, at) => `${column} = ${at + 2}`).join(', ')} WHERE id = ANY($1)`
  const set = () =>
    columns.map((column) => values.value(column, random) ?? (column === 'plan' ? 'premium' : null))
  return { there: { sql, values: [keys, ...set()] }, back: { sql, values: [keys, ...set()] } }
}

function otherKey({ keys, random }: Parts): readonly Step[] {
  return [
    {
      sql: `UPDATE clientes SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM clientes WHERE id = $2)`,
      values: [pick(keys, random), pick(keys, random)],
    },
  ]
}

function keysSwapped({ keys, random }: Parts): readonly Step[] {
  const one = pick(keys, random)
  const other = pick(
    keys.filter((key) => key !== one),
    random,
  )
  return [
    {
      sql: `UPDATE clientes SET id = CASE id WHEN $1 THEN $2 ELSE $1 END WHERE id IN ($1, $2)
        AND (SELECT count(*) FROM clientes WHERE id IN ($1, $2)) = 2`,
      values: [one, other],
    },
  ]
}

function bulk({ values, keys, random }: Parts): readonly Step[] {
  const column = pick(['grupo', 'plan', 'cobertura'] as const, random)
  const value = values.value(column, random) ?? (column === 'plan' ? 'premium' : null)
  return [{ sql: `UPDATE clientes SET ${column} = $1 WHERE id = ANY($2)`, values: [value, keys] }]
}

function long(parts: Parts): readonly Step[] {
  const { random } = parts
  const count = 1 + Math.floor(random() * 3)
  return Array.from({ length: count }, () => [
    random() < 0.3
      ? insert(parts, pick(parts.keys, random))
      : update(parts, pick(parts.keys, random), some(random)),
    { sleepMs: Math.round(random() * 1500) },
  ]).flat()
}

function some(random: Random): readonly Column[] {
  const share = random() * 0.4
  const chosen = COLUMNS.filter(() => random() < share)
  return chosen.length > 0 ? chosen : [pick(COLUMNS, random)]
}

function assign(columns: readonly Column[]): string {
  return columns.map((column, at) => `${column} = $${at + 2}`).join(', ')
}
