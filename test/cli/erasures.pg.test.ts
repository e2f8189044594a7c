import { Command } from 'commander'
import { expect, test } from 'vitest'
import { erasuresCommand } from '../../src/cli/erasures.ts'
import { sayErasures } from '../../src/cli/say-erasures.ts'
import type { Receipt } from '../../src/ledger/erasures.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const RECEIPT: Receipt = {
  key: 'c1',
  userId: 'u1',
  fields: ['email', 'last_name', 'country_code'],
  erasedAt: '2026-11-21T09:08:07.000Z',
  verifiedAt: '2026-11-21T09:08:13.250Z',
  left: [],
  past: false,
}
const REMARK = [
  'What remains: the user_id, since the service has no call that takes a user away.',
  "No look can show country_code: that it was cleared is the service's word alone.",
]

test('a receipt says whose, when, what was cleared, and whether anybody has looked', () => {
  expect(sayErasures([RECEIPT], [])).toEqual([
    'customer c1',
    '  user      u1',
    '  erased    2026-11-21 09:08:07 UTC, acknowledged by the service',
    '  cleared   email, last_name, country_code',
    '  verified  2026-11-21 09:08:13 UTC, by a GET that shows none of them',
    '',
    ...REMARK,
  ])
  const said = (given: Partial<Receipt>) => sayErasures([{ ...RECEIPT, ...given }], []).slice(4, -3)
  expect(said({ left: ['email'] })).toEqual([
    '  verified  2026-11-21 09:08:13 UTC, by a GET',
    '  left      still shown: email',
  ])
  expect(said({ verifiedAt: null, left: null })).toEqual(['  verified  not verified yet'])
  expect(said({ verifiedAt: null, left: null, past: true }).join(' ')).toContain('no: the row came back')
})

test('what there is nothing to say about is said', () => {
  expect(sayErasures([], [])).toEqual(['nothing was erased yet'])
  expect(sayErasures([], ['c2'])).toEqual(['nothing was erased of customer c2'])
  expect(sayErasures([RECEIPT], ['c1', 'c2'])).toContain('nothing was erased of customer c2')
})

/** With no service, no keys, no queue and no configuration. */
async function erasures({ url }: TestDatabase, ...args: readonly string[]) {
  const lines: string[] = []
  let code: number | null = null
  const program = new Command().exitOverride()
  const io = {
    ...{ out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) },
    ...{ env: { DATABASE_URL: url }, cwd: '/', terminal: false, stop: new AbortController().signal },
  }
  erasuresCommand(program, io, (given) => {
    code = given
  })
  await program.parseAsync(['erasures', ...args], { from: 'user' })
  return { code, output: lines.join('\n') }
}

test('the command reads the receipts of the keys that it is given, and refuses keys that nobody knows', async () => {
  await using db = await freshDatabase()
  expect(await erasures(db)).toEqual({ code: 0, output: 'nothing was erased yet' })
  await db.pool.query(
    `INSERT INTO rollcall.ledger (key, user_id, erased) VALUES ('c1', 'u1', 'sent'), ('c2', 'u2', NULL)`,
  )
  await db.pool.query(
    `INSERT INTO rollcall.erasure (key, user_id, fields, erased_at) VALUES ('c1', 'u1', '{email,country_code}', now())`,
  )
  const { code, output } = await erasures(db, '--json', 'c1', 'c2')
  expect(code).toBe(0)
  expect(JSON.parse(output)).toEqual([
    {
      ...{ key: 'c1', userId: 'u1', fields: ['email', 'country_code'], erasedAt: expect.any(String) },
      ...{ verifiedAt: null, left: null, superseded: false },
      ...{ unverifiable: ['country_code'], remains: ['user_id'] },
    },
  ])
  expect((await erasures(db, 'c2')).output).toBe('nothing was erased of customer c2')
  await expect(erasures(db, 'c1', 'x9')).rejects.toMatchObject({
    code: 'USAGE',
    details: ['nothing is known of customer x9'],
  })
})
