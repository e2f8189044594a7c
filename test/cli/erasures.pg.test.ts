import { expect, test } from 'vitest'
import { renderErasures } from '../../src/cli/erasures.ts'
import type { Receipt } from '../../src/ledger/erasures.ts'
import { runBare } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'

const RECEIPT: Receipt = {
  key: 'c1',
  userId: 'u1',
  fields: ['email', 'last_name', 'country_code'],
  erasedAt: '2026-11-21T09:08:07.000Z',
  verifiedAt: '2026-11-21T09:08:13.250Z',
  left: [],
  past: false,
}

test('a receipt says whose, when, what was cleared, and whether it was verified', () => {
  expect(renderErasures([RECEIPT], [])).toEqual([
    'customer c1',
    '  user      u1',
    expect.stringMatching(/^ {2}erased {4}2026-11-21 09:08:07 UTC \(acknowledged/),
    '  cleared   email, last_name, country_code',
    expect.stringMatching(/^ {2}verified {2}2026-11-21 09:08:13 UTC: the next GET showed no value/),
    '',
    expect.stringMatching(/user_id remains/),
    expect.stringMatching(/^No GET .*country_code/),
    expect.stringContaining('rollcall explain'),
  ])
  const said = (given: Partial<Receipt>) => renderErasures([{ ...RECEIPT, ...given }], []).slice(4, -4)
  expect(said({ left: ['email'] }).join(' ')).toMatch(/^ {2}verified {2}no: .*2026-11-21 09:08:13 .* email$/)
  expect(said({ verifiedAt: null, left: null })).toEqual(['  verified  not verified yet'])
  expect(said({ verifiedAt: null, left: null, past: true }).join(' ')).toMatch(/no: .*inserted again/)
})

test('what there is nothing to say about is said', () => {
  const nothing = expect.stringMatching(/^nothing .* c2$/)
  expect(renderErasures([], [])).toEqual([expect.stringMatching(/^nothing /)])
  expect(renderErasures([], ['c2'])).toEqual([nothing])
  expect(renderErasures([RECEIPT], ['c1', 'c2'])).toContainEqual(nothing)
})

const erasures = (url: string, ...args: readonly string[]) => runBare(url, 'erasures', ...args)

test('the command reads the receipts of the keys that it is given, and refuses keys that are not known', async () => {
  await using db = await freshDatabase()
  expect(await erasures(db.url)).toMatchObject({ code: 0, output: expect.stringMatching(/^nothing /) })
  await db.sql(
    `INSERT INTO rollcall.ledger (key, user_id, erased) VALUES ('c1', 'u1', 'sent'), ('c2', 'u2', NULL)`,
  )
  await db.sql(
    `INSERT INTO rollcall.erasure (key, user_id, fields, erased_at) VALUES ('c1', 'u1', '{email,country_code}', now())`,
  )
  const { code, output } = await erasures(db.url, '--json', 'c1', 'c2')
  expect(code).toBe(0)
  expect(JSON.parse(output)).toEqual([
    {
      ...{ key: 'c1', userId: 'u1', fields: ['email', 'country_code'], erasedAt: expect.any(String) },
      ...{ verifiedAt: null, left: null, superseded: false },
      ...{ unverifiable: ['country_code'], remains: ['user_id'] },
    },
  ])
  await db.sql(`UPDATE rollcall.ledger SET key = '["ES", "2"]' WHERE key = 'c2'`)
  expect((await erasures(db.url, '["ES","2"]')).output).toMatch(/^nothing .*"2"\]$/)
  expect(await erasures(db.url, 'c1', 'x9')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/no record .* x9: check the key$/m),
  })
})
