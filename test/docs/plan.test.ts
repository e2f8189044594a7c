// docs/plan.md shows the tables that the code is tested against: classify.test.ts and plan-table.test.ts.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ANSWER_HEAD, ANSWERS } from '../sync/answer-rules.ts'
import {
  CALLS_HEAD,
  CARRIED_HEAD,
  ERASURE_HEAD,
  PUT_HEAD,
  STATUS_HEAD,
  TABLES,
  UPDATES_HEAD,
} from '../sync/plan-rules.ts'
import { tableWithHead } from '../sync/rules.ts'

const page = await readFile(new URL('../../docs/plan.md', import.meta.url), 'utf8')

test.each([
  ['which call', CALLS_HEAD, TABLES.calls],
  ['which update', UPDATES_HEAD, TABLES.updates],
  ['whether the status is right', STATUS_HEAD, TABLES.status],
  ['whether it is a PUT', PUT_HEAD, TABLES.put],
  ['whether a customer is erased', ERASURE_HEAD, TABLES.erasure],
  ['what a call carries', CARRIED_HEAD, TABLES.carried],
  ['what an answer means', ANSWER_HEAD, ANSWERS],
])('the page of the plan has the table that is tested: %s', (_what, head, rows) => {
  expect(tableWithHead(page, head)).toEqual(rows)
})
