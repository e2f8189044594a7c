// The traps that a role with CREATE on `public` can set for unqualified names: functions under the names that
// rollcall's statements use, for arguments that fit better than those of the system's own, and operators likewise.
import { globSync, readFileSync } from 'node:fs'
import type pg from 'pg'

const ARGUMENTS = [
  'text',
  'text, text',
  'text[]',
  'text, text, text',
  'bigint',
  'integer',
  'bytea',
  'jsonb',
] as const
const OPERATORS = ['=', '<>', '<', '<=', '>', '>=', '||', '~'] as const
const OPERANDS = ['text, varchar', 'varchar, varchar', 'regclass, oid', 'text, name', 'jsonb, text'] as const

/** The names of Postgres' functions that the source calls, or might. */
async function namesInUse(pool: pg.Pool): Promise<readonly string[]> {
  const words = new Set(
    globSync('src/**/*.ts').flatMap((file) => readFileSync(file, 'utf8').match(/\b[a-z_0-9]+(?=\()/g) ?? []),
  )
  const { rows } = await pool.query<{ name: string }>(
    `SELECT DISTINCT proname::text AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
     AND prokind <> 'w' AND proname::text = ANY($1)`,
    [[...words]],
  )
  return rows.map(({ name }) => name)
}

/** Whatever is called of them fails the statement that calls it. Resolves to how many there are. */
export async function makeHostile(pool: pg.Pool): Promise<number> {
  const trap = (kind: string) =>
    `LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hostile ${kind} ran as %', current_user; END $$`
  const functions = (await namesInUse(pool)).flatMap((name) =>
    ARGUMENTS.map((given) => `CREATE FUNCTION public."${name}"(${given}) RETURNS text ${trap(name)}`),
  )
  const operators = OPERANDS.flatMap((operands, at) => [
    `CREATE FUNCTION public.compare_${at}(${operands}) RETURNS boolean ${trap('operator')}`,
    ...OPERATORS.map((operator) => {
      const [left, right] = operands.split(', ')
      return `CREATE OPERATOR public.${operator} (FUNCTION = public.compare_${at}, LEFTARG = ${left}, RIGHTARG = ${right})`
    }),
  ])
  const tables = ['pg_class', 'pg_proc', 'pg_trigger', 'outbox', 'owed'].map(
    (name) => `CREATE TABLE public.${name} (oid oid)`,
  )
  const all = [...functions, ...operators, ...tables]
  await pool.query(all.join(';\n'))
  return all.length
}
