import { expect, test } from 'vitest'
import { renderMarks, renderTables } from '../../src/cli/capture.ts'

const relation = (name: string) => ({ schema: 'public', name })

test('says of every table whether it is captured, why not and what to do', () => {
  const plans = {
    relation: relation('plans'),
    state: 'missing',
    reasons: ['the insert trigger is missing'],
  } as const
  expect(renderTables([{ relation: relation('customers'), state: 'fits', reasons: [] }, plans])).toEqual([
    'public.customers  captured',
    expect.stringMatching(/^public\.plans {6}not captured; .*capture install.*insert trigger/),
  ])
  expect(renderTables([])).toEqual([expect.stringMatching(/^No table/)])
})

test('says of every mark since when, and what follows from it', () => {
  const since = '2026-03-01T10:00:00.000Z'
  const mark = { id: '1', relation: 'public.customers', since }
  expect(
    renderMarks([
      { ...mark, kind: 'truncate' },
      { ...mark, kind: 'overflow' },
    ]),
  ).toEqual([
    expect.stringMatching(`${since}; nobody was revoked`),
    expect.stringMatching(`${since} were not captured`),
  ])
})
