import { describe, expect, it } from 'vitest'
import { CALL_ERROR_KINDS } from '../../src/service/errors.ts'
import { classifyRead, classifyWrite, healthOf, type Method, type Outcome } from '../../src/sync/classify.ts'
import { ANSWERS, BODIES, rowsFor, statusWord } from './answer-rules.ts'

const METHODS: readonly Method[] = ['POST', 'PUT', 'PATCH', 'GET']
/** The column of the table that each method is found in. */
const COLUMN: Readonly<Record<Method, number>> = { POST: 2, PUT: 3, PATCH: 3, GET: 4 }

type Answer = { readonly outcome: Outcome; readonly answer: string; readonly body: string }

const STATUSES = Array.from({ length: 500 }, (_, at) => at + 100)

const REPLIES: readonly Answer[] = STATUSES.flatMap((status) =>
  BODIES.map((body) => ({ outcome: { kind: 'reply', status, body }, answer: statusWord(status), body })),
)

const ERRORS: readonly Answer[] = CALL_ERROR_KINDS.flatMap((error) => [
  { outcome: { kind: 'error', error, reached: 'no' }, answer: 'no connection', body: 'none' },
  { outcome: { kind: 'error', error, reached: 'maybe' }, answer: 'no answer', body: 'none' },
])

function meaning(method: Method, outcome: Outcome): string {
  return method === 'GET' ? classifyRead(outcome) : classifyWrite(method, outcome)
}

describe('what an answer means', () => {
  it('is said by exactly one row of the table, for every status, body and failure', () => {
    const fitting = [...REPLIES, ...ERRORS].map(({ answer, body }) => rowsFor(answer, body))
    expect(fitting.filter((rows) => rows.length !== 1)).toEqual([])
    expect(new Set(fitting.flat())).toEqual(new Set(ANSWERS.keys()))
  })

  it.each(METHODS)('to a %s is what the table says, for every status, body and failure', (method) => {
    const wrong = [...REPLIES, ...ERRORS].flatMap(({ outcome, answer, body }) => {
      const right = ANSWERS[rowsFor(answer, body)[0] ?? -1]?.[COLUMN[method]]
      const made = meaning(method, outcome)
      return made === right ? [] : [{ outcome, made, right }]
    })
    expect(wrong).toEqual([])
  })
})

const reply = (status: number) => ({ kind: 'reply', status, body: 'error' }) as Outcome
const lost: Outcome = { kind: 'error', error: 'timeout' } as Outcome

it.each([
  ['500 to a GET', reply(500), 'failed', 'trouble'],
  ['500 to a write', reply(500), 'unknown', 'trouble'],
  ['no answer to a write', lost, 'unknown', 'trouble'],
  ['401 to a write', reply(401), 'denied', 'denied'],
  ['422 to a write', reply(422), 'refused', 'well'],
  ['429 to a write', reply(429), 'later', 'neutral'],
] as const)('%s says of the service: %4$s', (_, outcome, meaning, health) => {
  expect(healthOf({ outcome, meaning })).toBe(health)
})
