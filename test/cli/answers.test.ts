import { expect, test } from 'vitest'
import { renderAnswers } from '../../src/cli/answers.ts'
import type { DistinctAnswer } from '../../src/ledger/calls.ts'
import { OTHERS } from '../../src/ledger/calls.ts'

const ANSWER: DistinctAnswer = {
  fingerprint: 'x',
  method: 'PATCH',
  status: 200,
  error: null,
  body: 'readable',
  shape: '{}',
  meaning: 'done',
  count: 12,
  firstAt: '2026-11-20T09:08:07.000Z',
  lastAt: '2026-11-21T10:00:01.250Z',
  lastKey: 'c1',
}

test('each answer is a row, with its shape and a customer below it', () => {
  const lost = { ...ANSWER, status: null, error: 'timeout', body: null, shape: null, meaning: 'unknown' }
  expect(renderAnswers([ANSWER, lost]).slice(0, 6)).toEqual([
    'CALL   ANSWER   BODY      MEANING  COUNT',
    'PATCH  200      readable  done        12',
    '       {}',
    '       first 2026-11-20 09:08 UTC; last 2026-11-21 10:00 UTC, for customer c1',
    'PATCH  timeout  -         unknown     12',
    '       first 2026-11-20 09:08 UTC; last 2026-11-21 10:00 UTC, for customer c1',
  ])
})

test('answers that are counted together say so', () => {
  const text = renderAnswers([{ ...ANSWER, status: null, body: null, shape: OTHERS }]).join('\n')
  expect(text).toContain('PATCH  others')
  expect(text).toContain('counted together')
})
