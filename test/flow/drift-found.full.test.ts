// Users changed at the service behind rollcall's back, while customers go on changing: each is found as what it is, and
// nobody else is.
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { DriftVerdict, Verified } from '../../src/drift/words.ts'
import { LANE, openVerifier, type Verifier } from '../drift/scene.ts'
import { buildHouse, CONFIG, type House } from '../support/house.ts'
import { until } from '../support/until.ts'

const CUSTOMERS = Number(process.env.DRIFT_CUSTOMERS ?? 240)
/** More than a few hundred take their time on a small machine. */
const key = (n: number) => `c${String(n).padStart(6, '0')}`
const KEYS = Array.from({ length: CUSTOMERS }, (_, n) => key(n))

/** Every other customer is changed at the service, in one of five ways; those in between change here meanwhile. */
const WAYS = ['name', 'mail', 'shut', 'gone', 'entitled'] as const
const EXPECTED: Readonly<Record<(typeof WAYS)[number], Omit<DriftVerdict, 'cause'>>> = {
  name: { kind: 'differs', fields: ['first_name'], access: null },
  mail: { kind: 'differs', fields: ['email', 'description'], access: null },
  shut: { kind: 'differs', fields: ['status'], access: 'lost' },
  gone: { kind: 'missing', fields: [], access: 'lost' },
  entitled: { kind: 'unexpected-access', fields: [], access: 'undue' },
}
const wayOf = (n: number) => (n % 2 === 0 ? WAYS[(n / 2) % WAYS.length] : undefined)

function change({ sandbox: { users } }: House, n: number): void {
  switch (wayOf(n)) {
    case 'name':
      return void users.edit(key(n), { first_name: 'Eva' })
    case 'mail':
      return void users.edit(key(n), { email: 'other@example.org', description: 'theirs' })
    case 'shut':
      return void users.edit(key(n), { status: 0 })
    case 'gone':
      return void users.delete(key(n))
    case 'entitled':
      return void users.edit(key(n), { status: 2 })
    case undefined:
      return
  }
}

async function settle(house: House): Promise<void> {
  const { pool } = house.db
  await pool.query(
    `INSERT INTO clientes (id, plan, correo, nombre, apellidos, notas)
     SELECT k, 'premium', k || '@example.com', 'Ana', 'Gil', 'ours' FROM unnest($1::text[]) AS k`,
    [KEYS],
  )
  await house.settled()
  await pool.query('DELETE FROM clientes WHERE id = ANY($1)', [
    KEYS.filter((_, n) => wayOf(n) === 'entitled'),
  ])
  await house.settled()
}

/** Looks at everybody until each has been said something of, and no suspicion waits. */
async function lookAtAll(
  verifier: Verifier,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Verified>> {
  const said = new Map<string, Verified>()
  let left: readonly string[] = keys
  await until(
    async () => {
      const { verified } = await verifier.verify(left)
      for (const each of verified) said.set(each.key, each)
      left = keys.filter((each) => {
        const last = said.get(each)
        return !last || last.verdict.kind === 'skipped' || last.standing === 'suspected'
      })
      return left.length === 0
    },
    { what: 'everybody looked at' },
  )
  return said
}

test('each user who was changed at the service is found as what it is, under live changes, and nobody else', async () => {
  const brake = { changes: { customers: CUSTOMERS, share: 1 }, creates: { customers: CUSTOMERS, share: 1 } }
  // Jobs of a busy machine do not outlive their leases.
  const timing = { ...CONFIG.timing, queueLeaseMs: 30_000, lifetimeMs: 10_000 }
  await using house = await buildHouse(LANE, { config: { brake, timing } })
  await house.startWorker()
  await settle(house)
  for (const n of KEYS.keys()) change(house, n)
  await using verifier = await openVerifier(house)
  const live = new AbortController()
  const changing = (async () => {
    for (let n = 1; !live.signal.aborted; n = (n + 2) % (CUSTOMERS - 1)) {
      await house.db.pool.query('UPDATE clientes SET apellidos = $2 WHERE id = $1', [
        key(n % 2 === 0 ? n + 1 : n),
        `G${n}`,
      ])
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  const edited = KEYS.filter((_, n) => wayOf(n) !== undefined)
  const said = await lookAtAll(verifier, edited)
  const others = await verifier.verify(KEYS.filter((_, n) => wayOf(n) === undefined))
  live.abort()
  await changing
  const wrong = [...KEYS.keys()].filter((n) => {
    const way = wayOf(n)
    const expected = way && { ...EXPECTED[way], cause: 'edited-at-service' }
    return expected && !isDeepStrictEqual(said.get(key(n))?.verdict, expected)
  })
  expect(wrong.map((n) => [wayOf(n), said.get(key(n))?.verdict])).toEqual([])
  expect(others.verified.filter(({ standing }) => standing !== null)).toEqual([])
  await house.settled()
  const after = await lookAtAll(verifier, KEYS)
  expect([...after.values()].filter(({ standing }) => standing === 'found')).toHaveLength(edited.length)
})

test('a service with forms of its own that lags: no drift, and no write but those that were owed', async () => {
  const timing = { ...CONFIG.timing, consistencyDelayMs: 700, lifetimeMs: 4000 }
  await using house = await buildHouse(LANE, {
    contract: {
      email: 'lower-case',
      phone: 'formatted',
      numbers: 'text',
      nulls: 'empty',
      visibleAfterMs: 600,
    },
    config: { timing },
  })
  await house.startWorker()
  const { pool } = house.db
  await pool.query(
    `INSERT INTO clientes (id, plan, correo, nombre, movil, prefijo, sexo, nacido)
     SELECT 'k' || i, 'premium', 'Ana.K' || i || '@Example.COM', 'Ana', '6123456' || (10 + i), '34', 'm', '1980-02-29'
     FROM generate_series(1, 20) i`,
  )
  await house.settled()
  await using verifier = await openVerifier(house, { repair: true })
  const keys = Array.from({ length: 20 }, (_, i) => `k${i + 1}`)
  await pool.query(
    `UPDATE clientes SET correo = 'New.' || correo, movil = '6999999' || right(movil, 2) WHERE id < 'k15'`,
  )
  const seen = new Set<string>()
  for (let round = 0; round < 3; round++) {
    const said = await lookAtAll(verifier, keys)
    for (const { verdict } of said.values()) seen.add(verdict.kind)
  }
  expect([...seen]).toEqual(['agrees'])
  expect(house.calls().filter(({ method }) => method === 'PATCH').length).toBeLessThanOrEqual(20)
  expect((await pool.query('SELECT FROM rollcall.finding')).rows).toEqual([])
})
