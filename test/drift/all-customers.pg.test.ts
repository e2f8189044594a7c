// The customers that a run checks, and their order; a stopped run continues at its place; the stored record of a run.
import { beforeAll, describe, expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { makeReading } from '../../src/customers/read.ts'
import { NOTHING_YET } from '../../src/drift/agenda.ts'
import {
  allCustomers,
  beginningOf,
  type CustomerSource,
  draw,
  type Next,
  type Place,
  populationOf,
} from '../../src/drift/all-customers.ts'
import {
  beginDrift,
  type DriftOptions,
  endDrift,
  findDrift,
  keepDrift,
  readPast,
  readTime,
} from '../../src/drift/runs.ts'
import { bindGeneration } from '../../src/ledger/generation.ts'
import { estimate } from '../../src/report/estimate.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'
import { until } from '../support/until.ts'

const config = resolveConfig(
  {
    customers: { table: 'public.people', key: ['country', 'id'] },
    mapping: {
      user_id: { columns: ['country', 'id'], map: (row: object) => JSON.stringify(row) },
      status: { value: 2 },
    },
  },
  'rollcall.config.ts',
)

const db = ofFile(() => freshDatabase())
let all: CustomerSource
let readCustomers: ReturnType<typeof makeReading>
let startedAt: string
beforeAll(async () => {
  // 200 customers with two key columns, ten of them with a record, and 50 who have a record and no row.
  await db.sql(`
    CREATE TABLE people (country text, id int, PRIMARY KEY (country, id));
    INSERT INTO people SELECT CASE n % 2 WHEN 0 THEN 'ES' ELSE 'PT' END, n FROM generate_series(1, 200) n;
    INSERT INTO rollcall.ledger (key) SELECT jsonb_build_array('ES', n::text)::text FROM generate_series(2, 20, 2) n;
    INSERT INTO rollcall.ledger (key) SELECT jsonb_build_array('FR', n::text)::text FROM generate_series(1, 50) n`)
  const shape = await describeCustomers(db.pool, config)
  all = { pool: db.pool, shape, conditions: [], signal: new AbortController().signal }
  readCustomers = makeReading(db.pool, config, shape)
  startedAt = await readTime(db.pool)
})

type Asked = {
  readonly sample?: number | null
  readonly conditions?: CustomerSource['conditions']
  readonly seed?: string
}

function source({ sample = null, conditions = [], seed = '7' }: Asked, from = beginningOf(sample)) {
  const asked = { ...all, conditions, readCustomers, seed, sample, startedAt, page: 16 }
  return allCustomers(asked, from)
}

async function taken(asked: Asked, most = Number.POSITIVE_INFINITY, from?: Place): Promise<readonly Next[]> {
  const nexts: Next[] = []
  for await (const next of source(asked, from)) {
    nexts.push(next)
    if (nexts.length >= most) break
  }
  return nexts
}
const keysOf = (nexts: readonly { readonly key: string }[]) => nexts.map(({ key }) => key)
const SPAIN = [
  {
    name: 'country',
    type: 'text',
    cast: 'text',
    operators: 'pg_catalog',
    domain: false,
    operator: '=',
    values: ['ES'],
  },
] as const

describe('everybody', () => {
  test('is each customer and each record without a row, once', async () => {
    expect(await populationOf(all)).toBe(250)
    const keys = keysOf(await taken({}))
    expect([keys.length, new Set(keys).size]).toEqual([250, 250])
    const gone = keys.findIndex((key) => key.includes('FR'))
    expect(keys.slice(gone).every((key) => key.includes('FR'))).toBe(true)
    const order = keys.slice(0, gone).map((key) => JSON.parse(key) as [string, string])
    expect(order).toEqual(
      order.toSorted(([a, m], [b, n]) => (a < b ? -1 : a > b ? 1 : Number(m) - Number(n))),
    )
  })

  test('with a condition: a customer that has no row is left out', async () => {
    expect(await populationOf({ ...all, conditions: SPAIN })).toBe(100)
    const keys = keysOf(await taken({ conditions: SPAIN }))
    expect(new Set(keys).size).toBe(100)
    expect(keys.every((key) => key.includes('ES'))).toBe(true)
  })

  test.each([0, 1, 30, 46, 218, 219, 249])('goes on after %i as if it had not stopped', async (stopped) => {
    const before = await taken({}, stopped)
    const place = stopped === 0 ? beginningOf(null) : (before.at(-1)?.place ?? beginningOf(null))
    const kept = JSON.parse(JSON.stringify(place)) as Place
    const after = await taken({}, Number.POSITIVE_INFINITY, kept)
    const keys = keysOf([...before.slice(0, stopped), ...after])
    expect([keys.length, new Set(keys).size]).toEqual([250, 250])
  })
})

test('counting, which takes minutes, is ended by a stop, in Postgres too', async () => {
  const stop = new AbortController()
  const holder = await db.pool.connect()
  await holder.query('BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE')
  const counting = populationOf({ ...all, conditions: SPAIN, signal: stop.signal }).catch(
    (error: unknown) => error,
  )
  const waits = async () => {
    const { rowCount } = await db.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return rowCount
  }
  try {
    await until(async () => (await waits()) === 1, { what: 'a statement that waits' })
    stop.abort()
    expect(await counting).toBe(stop.signal.reason)
    await until(async () => (await waits()) === 0, { what: 'its end' })
  } finally {
    await holder.query('ROLLBACK')
    holder.release()
  }
})

describe('a sample', () => {
  test('is the same for the same seed, and goes on where it stopped', async () => {
    const drawn = keysOf(await draw(all, '-9223372036854775808', 40))
    expect(new Set(drawn).size).toBe(40)
    expect(keysOf(await draw(all, '8', 40))).not.toEqual(drawn)
    const half = await taken({ sample: 40, seed: '-9223372036854775808' }, 20)
    const rest = await taken(
      { sample: 40, seed: '-9223372036854775808' },
      Number.POSITIVE_INFINITY,
      half.at(-1)?.place,
    )
    expect(keysOf([...half, ...rest])).toEqual(drawn)
    expect(await taken({ sample: 1000 })).toHaveLength(250)
  })

  test('holds every customer equally often, so that its interval holds the true share', async () => {
    // 50 of 250 are without a row: 20 %.
    const RUNS = 200
    let held = 0
    let seen = 0
    for (let seed = 0; seed < RUNS; seed++) {
      const keys = keysOf(await draw(all, String(seed), 40))
      const drifting = keys.filter((key) => key.includes('FR')).length
      const { low, high } = estimate({ population: 250, checked: 40, drifting })
      if (low <= 0.2 && high >= 0.2) held++
      seen += drifting
    }
    expect(held / RUNS).toBeGreaterThanOrEqual(0.93)
    expect(Math.abs(seen / RUNS / 40 - 0.2)).toBeLessThan(0.02)
  })
})

describe('the record of a run', () => {
  const options: DriftOptions = { sample: null, where: null, repair: false }
  const asked = { options, generation: '1' }
  const beginning = { seed: '-5', population: 250 }

  beforeAll(() => bindGeneration(db.pool, 'f'))

  test('is found by the same options, until it has ended or another one was begun', async () => {
    const run = await beginDrift(db.pool, asked, beginning)
    expect(await findDrift(db.pool, asked, 0)).toBeNull()
    const [next] = await taken({}, 1)
    const agenda = {
      ...NOTHING_YET,
      waiting: [{ key: 'a', at: 5, checks: 1, last: { kind: 'agrees' } as const }],
      found: ['12'],
    }
    const kept = { ...run, place: next?.place ?? beginningOf(null), agenda }
    await keepDrift(db.pool, kept, { nowMs: 2, fingerprint: 'f' })
    // Another process has another clock; there is as long left to wait.
    const waiting = agenda.waiting.map((each) => ({ ...each, at: 1003 }))
    expect(await findDrift(db.pool, asked, 1000)).toEqual({ ...kept, agenda: { ...agenda, waiting } })
    for (const other of [{ sample: 5 }, { repair: true }, { where: 'x' }])
      expect(await findDrift(db.pool, { ...asked, options: { ...options, ...other } }, 0)).toBeNull()
    expect(await findDrift(db.pool, { ...asked, generation: '2' }, 0)).toBeNull()
    await db.sql(`UPDATE rollcall.run SET updated_at = now() - interval '25 hours' WHERE id = $1`, [run.id])
    expect(await findDrift(db.pool, asked, 0)).toBeNull()
    await beginDrift(db.pool, asked, beginning)
    const { rows } = await db.sql('SELECT outcome, cursor FROM rollcall.run WHERE id = $1', [run.id])
    expect(rows).toEqual([{ outcome: 'replaced', cursor: null }])
  })

  test('is among the past ones once it has ended, where others can be compared with it', async () => {
    await db.sql(
      `INSERT INTO rollcall.target (id, origin, api_key_mac, database_oid, bound_at)
       VALUES (1, 'https://x.example', 'm', 1, now() - interval '1 minute')`,
    )
    const end = async (over: Partial<typeof options>, credible: boolean) => {
      const run = await beginDrift(db.pool, { ...asked, options: { ...options, ...over } }, beginning)
      const agenda = { ...NOTHING_YET, tally: { ...NOTHING_YET.tally, checked: 9 } }
      await endDrift(db.pool, { ...run, agenda }, credible)
      return run.id
    }
    await end({}, true)
    await end({}, false)
    await end({ where: 'digest' }, true)
    const last = await end({}, true)
    const past = await readPast(db.pool, last)
    expect(past.map(({ credible, tally }) => [credible, tally.checked])).toEqual([
      [true, 9],
      [false, 9],
    ])
    await db.sql('UPDATE rollcall.target SET bound_at = clock_timestamp()')
    expect(await readPast(db.pool, null)).toEqual([])
  })
})
