import { expect, test } from 'vitest'
import { sayCount } from '../../../src/report/page/list.ts'

const MOST = 10_000

test.each([
  ['1 finding', { found: 1, all: 1, by: [] }],
  ['10,000 findings', { found: MOST, all: MOST, by: [] }],
  ['0 of 3 findings: Missing, “eva”', { found: 0, all: 3, by: ['Missing', '“eva”'] }],
  ['3 of 3 findings: Missing', { found: 3, all: 3, by: ['Missing'] }],
])('%s', (said, given) => {
  expect(sayCount({ ...given })).toBe(said)
})

test('says where a list ends that is too long for the page, and where all of them are', () => {
  expect(sayCount({ found: 43_210, all: 50_000, by: ['Missing'] })).toMatch(
    /^43,210 of 50,000 findings: Missing\. .*first 10,000 .*--format csv/,
  )
})
