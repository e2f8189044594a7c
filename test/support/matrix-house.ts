// One field matrix against the real stack: every case of a setting at once, and then each customer's calls compared.
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { UserEdit } from '../../src/sandbox/users/users.ts'
import { rollcall } from './command.ts'
import { buildHouse, type House, PATIENT } from './house.ts'
import type { QueueLane } from './lanes.ts'
import { type Case, COLUMNS, casesOf, mappingOf, rowOf, type Setting, TABLE, unmanagedBy } from './matrix.ts'

/** Nothing is meant to be slow or lost here, so a busy machine must not make it so. */
export const QUICK = {
  ...PATIENT,
  pace: { ceiling: 2000, concurrency: 50 },
  advanced: { timing: { ...PATIENT.advanced.timing, gapMs: 0 } },
}

export const configOf = (setting: Setting) => ({
  ...QUICK,
  mapping: mappingOf(setting),
  unmanaged: setting.unmanaged,
  clearWith: setting.clearWith,
})

const keysOf = (cases: readonly Case[]) => cases.map(({ key }) => key)

async function insert({ db }: House, cases: readonly Case[]): Promise<void> {
  const rows = JSON.stringify(cases.map((each) => rowOf(each, each.before)))
  await db.sql('INSERT INTO clientes SELECT * FROM json_populate_recordset(NULL::clientes, $1)', [rows])
}

async function update({ db }: House, cases: readonly Case[]): Promise<void> {
  await db.sql(
    `UPDATE clientes c SET (${COLUMNS}) = (SELECT ${COLUMNS.map((name) => `r.${name}`)})
     FROM json_populate_recordset(NULL::clientes, $1) r WHERE r.id = c.id`,
    [JSON.stringify(cases.map((each) => rowOf(each, each.after)))],
  )
}

/** Each call so far as one text, by user. */
export function sent({ sandbox }: House): Record<string, string[]> {
  const calls = Map.groupBy(sandbox.journal.list(), ({ userId }) => userId ?? '')
  return Object.fromEntries(
    [...calls].map(([key, list]) => [key, list.map(({ method, raw }) => `${method} ${raw}`)]),
  )
}

/** Only what is not as it should be, so that a failure can be read. */
function differing(found: Record<string, unknown>, wanted: Record<string, unknown>) {
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])]
  return keys
    .filter((key) => !isDeepStrictEqual(found[key], wanted[key]))
    .map((key) => ({ key, found: found[key], wanted: wanted[key] }))
}

const expected = (cases: readonly Case[], of: (each: Case) => readonly string[]) =>
  Object.fromEntries(cases.map((each) => [each.key, of(each)]).filter(([, calls]) => calls?.length))

export async function checkMatrix(queue: QueueLane, setting: Setting): Promise<void> {
  const cases = casesOf(setting)
  await using house = await buildHouse(queue, { sql: TABLE, config: configOf(setting) })
  const { users, journal } = house.sandbox
  const worker = await house.startWorker()
  await insert(house, cases)
  await house.settled()
  expect(
    differing(
      sent(house),
      expected(cases, ({ created }) => created),
    ),
  ).toEqual([])

  journal.clear()
  const theirs = unmanagedBy(setting).map(({ name, theirs }) => [name, JSON.parse(theirs)])
  for (const { user_id } of users.all()) users.edit(user_id, Object.fromEntries(theirs) as UserEdit)
  const lookedUp = cases.filter(({ mode }) => mode === 'lookup')
  const others = cases.filter(({ mode }) => mode !== 'lookup')
  await update(house, others)
  await house.settled()
  await worker.stop()
  await update(house, lookedUp)
  const { code, output } = await rollcall(house, 'sync', '--lookup', ...keysOf(lookedUp))
  expect(code, output.slice(-500)).not.toBe(1)
  expect(
    differing(
      sent(house),
      expected(cases, ({ updated }) => updated),
    ),
  ).toEqual([])

  // A user that is up to date gets no call, and the queue has the same changes as the sync by hand.
  journal.clear()
  await house.startWorker()
  await house.settled()
  expect(sent(house)).toEqual({})

  const held = users.all().map(({ user_id, ...fields }) => [user_id, fields])
  const wanted = Object.fromEntries(
    cases.flatMap((each) => (each.held ? [[each.key, parsed(each.held)]] : [])),
  )
  expect(differing(Object.fromEntries(held), wanted)).toEqual([])
  await checkLedger(house, cases)
}

const parsed = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, JSON.parse(text)]))

/** A customer whose status cannot be mapped is rejected; what does not fit is an issue, without its value. */
async function checkLedger({ db }: House, cases: readonly Case[]): Promise<void> {
  const { rows } = await db.sql<{ key: string; state: string; issues: { field: string }[] }>(
    'SELECT key, state, issues FROM rollcall.ledger',
  )
  const found = rows.map(({ key, state, issues }) => [key, [state, issues.map(({ field }) => field)]])
  const wanted = cases.map(({ key, after: { plan }, issue }) => {
    if (plan === 'gold' || plan === 'none') return [key, ['rejected', ['status']]]
    return [key, ['idle', issue ? [issue] : []]]
  })
  expect(differing(Object.fromEntries(found), Object.fromEntries(wanted))).toEqual([])
  expect(JSON.stringify(rows)).not.toMatch(/no-mail|12345678A|1981-02-29|no phone/)
}
