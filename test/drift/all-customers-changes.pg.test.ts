// A run is stopped and continues while customers come and go: a customer that stays is checked once.
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { keyOf } from '../../src/customers/key.ts'
import { makeReading } from '../../src/customers/read.ts'
import { allCustomers, beginningOf, type Place } from '../../src/drift/all-customers.ts'
import { readTime } from '../../src/drift/runs.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'
import { runs } from '../support/size.ts'

const db = ofFile(() => freshDatabase())
beforeAll(() => db.sql('CREATE EXTENSION citext'))

type Parts = readonly string[]
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)
const alike = (n: number) => [`${n}`, `${n}.0`, `${n}.00`]
const cases = (n: number) => [`ana${n}`, `Ana${n}`, `ANA${n}`]
const pairs = <T>(ones: readonly string[], others: readonly T[]) =>
  ones.flatMap((one) => others.map((other) => [one, `${other}`]))

/** Types of the key columns, and keys that they can hold. */
const SHAPES: readonly (readonly [name: string, types: Parts, keys: readonly Parts[]])[] = [
  [
    'text',
    ['text'],
    ['', ' ', 'A', 'á', '%', '"', '\\', '[1, 2]', 'z'.repeat(300)]
      .concat(upTo(36).map((n) => `k${n}`))
      .map((k) => [k]),
  ],
  ['bigint', ['bigint'], upTo(45).map((n) => [`${(n % 2 ? -1n : 1n) * 3n ** BigInt(n % 40) + BigInt(n)}`])],
  ['numeric', ['numeric'], upTo(15).flatMap((n) => alike(n - 4).map((k) => [k]))],
  ['citext', ['citext'], upTo(15).flatMap((n) => cases(n).map((k) => [k]))],
  [
    'text and int',
    ['text', 'int'],
    pairs(
      ['', 'ES', 'es', '"', 'PT'],
      upTo(9).map((n) => n - 4),
    ),
  ],
  ['citext and numeric', ['citext', 'numeric'], pairs(cases(0), upTo(5).flatMap(alike))],
]

type Life = {
  readonly role: 'stays' | 'goes' | 'comes' | 'record' | 'returns' | 'nobody'
  readonly stop: number
  readonly trace: 'outbox' | 'owed' | 'ledger'
}
const life: fc.Arbitrary<Life> = fc.record({
  role: fc.constantFrom('stays', 'stays', 'goes', 'comes', 'record', 'returns', 'nobody'),
  stop: fc.nat(2),
  trace: fc.constantFrom('outbox', 'owed', 'ledger'),
})
const NOTED = {
  outbox: 'INSERT INTO rollcall.outbox (key, lane) SELECT unnest($1::text[]), 0',
  owed: `INSERT INTO rollcall.owed (key, change_version, lane, due_at, changed_at)
    SELECT unnest($1::text[]), 1, 0, clock_timestamp(), clock_timestamp()`,
  ledger: 'UPDATE rollcall.ledger SET changed_at = clock_timestamp() WHERE key = ANY($1)',
}

/** A relation with such keys, in which customers come and go. */
async function makeScene(types: Parts) {
  const { pool } = db
  const names = types.map((_, at) => `part${at}`)
  await pool.query('DROP TABLE IF EXISTS customers')
  await pool.query(`CREATE TABLE customers (${names.map((name, at) => `${name} ${types[at]}`).join()})`)
  const user = { columns: names, map: (row: object) => JSON.stringify(row) }
  const config = resolveConfig(
    {
      customers: { table: 'public.customers', key: names },
      mapping: { user_id: user, status: { value: 2 } },
    },
    'rollcall.config.ts',
  )
  const shape = await describeCustomers(pool, config)
  const { signal } = new AbortController()
  const texts = `jsonb_build_array(${names.map((name) => `${name}::text`).join()})`
  const columns = types.map((type, at) => `(k->>${at})::${type}`).join()
  const asJson = (keys: readonly Parts[]) => [JSON.stringify(keys)]
  const record = (keys: readonly Parts[]) =>
    pool.query(
      `INSERT INTO rollcall.ledger (key, changed_at) SELECT k, now() - interval '1 day' FROM unnest($1::text[]) k
       ON CONFLICT (key) DO NOTHING`,
      [keys.map(keyOf)],
    )
  return {
    options: { pool, shape, conditions: [], signal, readCustomers: makeReading(pool, config, shape) },
    record,
    insert: (keys: readonly Parts[]) =>
      pool.query(`INSERT INTO customers SELECT ${columns} FROM jsonb_array_elements($1) k`, asJson(keys)),
    async remove(keys: readonly Parts[], traceOf: (key: Parts) => Life['trace']) {
      await pool.query(
        `DELETE FROM customers WHERE ${texts} IN (SELECT jsonb_array_elements($1))`,
        asJson(keys),
      )
      await record(keys)
      for (const [trace, sql] of Object.entries(NOTED))
        await pool.query(sql, [keys.filter((key) => traceOf(key) === trace).map(keyOf)])
    },
  }
}

const livesOf = (keys: readonly Parts[]) => fc.array(life, { minLength: keys.length, maxLength: keys.length })
const stops = fc.tuple(fc.nat(12), fc.nat(12), fc.nat(12))

test('a TRUNCATE while it is stopped is a change of all who are without a row since', async () => {
  const [, types, keys] = SHAPES[1] ?? expect.fail('there are shapes')
  const { options, insert, record } = await makeScene(types)
  await db.sql('TRUNCATE rollcall.ledger, rollcall.owed, rollcall.outbox')
  await insert(keys)
  await record(keys)
  const asked = { ...options, startedAt: await readTime(db.pool), seed: '7', sample: null, page: 7 }
  let place: Place = beginningOf(null)
  for await (const next of allCustomers(asked, place)) {
    place = next.place
    break
  }
  await db.sql(
    `TRUNCATE customers; INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.customers')`,
  )
  const left: string[] = []
  for await (const { key } of allCustomers(asked, place)) left.push(key)
  await db.sql('DELETE FROM rollcall.capture_mark')
  expect(left).toEqual([])
})

test.each(SHAPES)('%s: stopped anywhere, while others come and go anywhere', async (_, types, keys) => {
  const { options, insert, remove, record } = await makeScene(types)

  async function holds(lives: readonly Life[], most: readonly number[]) {
    const lifeOf = new Map(lives.map((life, at) => [keys[at], life]))
    const who = (roles: readonly Life['role'][], stop?: number) =>
      keys.filter((key) => {
        const life = lifeOf.get(key)
        return life && roles.includes(life.role) && (stop === undefined || stop === life.stop)
      })
    await db.sql('TRUNCATE customers, rollcall.ledger, rollcall.owed, rollcall.outbox')
    await insert(who(['stays', 'goes']))
    await record(who(['record', 'returns']))
    const asked = { ...options, startedAt: await readTime(db.pool), seed: '7', sample: null, page: 7 }
    const taken: string[] = []
    let kept = JSON.stringify(beginningOf(null))
    async function go(most: number) {
      let left = most
      for await (const { key, place } of allCustomers(asked, JSON.parse(kept))) {
        if (left-- === 0) return
        taken.push(key)
        kept = JSON.stringify(place)
      }
    }
    for (const [stop, many] of most.entries()) {
      await go(many)
      await insert(who(['comes', 'returns'], stop))
      await remove(who(['goes'], stop), (key) => lifeOf.get(key)?.trace ?? 'outbox')
    }
    await go(Number.POSITIVE_INFINITY)
    expect(taken).toHaveLength(new Set(taken).size)
    const there = who(['stays', 'record']).map(keyOf)
    expect(there.filter((key) => !taken.includes(key))).toEqual([])
  }

  await fc.assert(fc.asyncProperty(livesOf(keys), stops, holds), { numRuns: runs(20) })
})
