import { expect, test } from 'vitest'
import { sayMarks, sayStatus } from '../../src/capture/say.ts'

const relation = (name: string) => ({ schema: 'public', name })

test('says of every table whether it is captured, why not and what to do', () => {
  expect(
    sayStatus([
      { relation: relation('customers'), state: 'fits', reasons: [] },
      { relation: relation('plans'), state: 'missing', reasons: ['the insert trigger is missing'] },
    ]),
  ).toEqual([
    'public.customers  captured',
    expect.stringMatching(/^public\.plans {6}not captured; .*capture install.*insert trigger/),
  ])
  expect(sayStatus([])).toEqual([expect.stringMatching(/^No table/)])
})

test('says of every mark since when, and what follows from it', () => {
  const since = '2026-03-01T10:00:00.000Z'
  const lines = sayMarks([
    { id: '1', kind: 'truncate', relation: 'public.customers', since },
    { id: '2', kind: 'overflow', relation: 'public.plans', since },
  ])
  expect(lines).toEqual([
    expect.stringContaining('nobody was revoked'),
    expect.stringContaining('not captured'),
  ])
  for (const line of lines) expect(line).toContain(since)
})
