import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALL_ERROR_KINDS } from '../../src/service/errors.ts'
import {
  type BodyKind,
  classifyRead,
  classifyWrite,
  type Method,
  type Outcome,
  type ReadMeaning,
  type WriteMeaning,
} from '../../src/sync/classify.ts'

type Write = Exclude<Method, 'GET'>

const WRITES: readonly Write[] = ['POST', 'PUT', 'PATCH']
const BODIES: readonly BodyKind[] = ['none', 'unreadable', 'readable', 'user', 'null', 'error']

/** What the body says of a call that was taken; nothing when it is clear. */
const TAKEN: Readonly<Partial<Record<BodyKind, WriteMeaning>>> = {
  unreadable: 'unknown',
  error: 'unknown',
  null: 'unclear',
}

function reply(status: number, body: BodyKind): Outcome {
  return { kind: 'reply', status, body }
}

describe('classifyWrite', () => {
  // Status, then what it means to a create and to an update when the body is clear; the body counts in a 2xx only.
  it.each<[number, WriteMeaning, WriteMeaning]>([
    [200, 'done', 'done'],
    [201, 'done', 'done'],
    [202, 'done', 'done'],
    [204, 'done', 'done'],
    [299, 'done', 'done'],
    [301, 'unknown', 'unknown'],
    [304, 'unknown', 'unknown'],
    [400, 'refused', 'refused'],
    [401, 'denied', 'denied'],
    [402, 'unknown', 'unknown'],
    [403, 'denied', 'denied'],
    [404, 'refused', 'absent'],
    [405, 'unknown', 'unknown'],
    [408, 'unknown', 'unknown'],
    [409, 'refused', 'refused'],
    [410, 'refused', 'absent'],
    [418, 'unknown', 'unknown'],
    [422, 'refused', 'refused'],
    [425, 'unknown', 'unknown'],
    [429, 'later', 'later'],
    [500, 'unknown', 'unknown'],
    [502, 'unknown', 'unknown'],
    [503, 'unknown', 'unknown'],
    [504, 'unknown', 'unknown'],
  ])('%i is %s to a create and %s to an update', (status, create, update) => {
    for (const body of BODIES) {
      const taken = status < 300 ? TAKEN[body] : undefined
      for (const method of WRITES) {
        const right = method === 'POST' ? create : update
        expect([method, body, classifyWrite(method, reply(status, body))]).toEqual([
          method,
          body,
          taken ?? right,
        ])
      }
    }
  })

  it.each(CALL_ERROR_KINDS)(
    'an error without an answer (%s) is judged by what it can have reached',
    (error) => {
      for (const method of WRITES) {
        expect(classifyWrite(method, { kind: 'error', error, reached: 'no' })).toBe('not-sent')
        expect(classifyWrite(method, { kind: 'error', error, reached: 'maybe' })).toBe('unknown')
      }
    },
  )

  it('takes nothing for settled but a clear 2xx, and nothing for refused but a sure refusal', () => {
    const sure = [400, 401, 403, 404, 409, 410, 413, 414, 422, 429, 431]
    fc.assert(
      fc.property(
        fc.constantFrom(...WRITES),
        fc.integer({ min: 100, max: 599 }),
        fc.constantFrom(...BODIES),
        (method, status, body) => {
          const meaning = classifyWrite(method, reply(status, body))
          const taken = status >= 200 && status < 300
          const clear = taken && TAKEN[body] === undefined
          expect(meaning === 'done').toBe(clear)
          expect(meaning === 'unclear').toBe(taken && body === 'null')
          expect(meaning === 'unknown').toBe(!clear && meaning !== 'unclear' && !sure.includes(status))
          expect(meaning).not.toBe('not-sent')
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('classifyRead', () => {
  it.each<[number, ReadMeaning]>([
    [201, 'failed'],
    [202, 'failed'],
    [204, 'failed'],
    [301, 'failed'],
    [304, 'failed'],
    [400, 'failed'],
    [401, 'denied'],
    [403, 'denied'],
    [404, 'absent'],
    [408, 'failed'],
    [409, 'failed'],
    [410, 'absent'],
    [418, 'failed'],
    [422, 'failed'],
    [429, 'later'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'failed'],
    [504, 'failed'],
  ])('%i is %s, whatever the body', (status, meaning) => {
    for (const body of BODIES) expect([body, classifyRead(reply(status, body))]).toEqual([body, meaning])
  })

  it.each<[BodyKind, ReadMeaning]>([
    ['user', 'present'],
    ['null', 'absent'],
    ['none', 'failed'],
    ['unreadable', 'failed'],
    ['readable', 'failed'],
    ['error', 'failed'],
  ])('200 with a body of the kind %s is %s', (body, meaning) => {
    expect(classifyRead(reply(200, body))).toBe(meaning)
  })

  it('believes in a user only when 200 shows one, and never learns from an error', () => {
    for (const error of CALL_ERROR_KINDS) {
      for (const reached of ['no', 'maybe'] as const)
        expect(classifyRead({ kind: 'error', error, reached })).toBe('failed')
    }
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.constantFrom(...BODIES), (status, body) => {
        const meaning = classifyRead(reply(status, body))
        expect(meaning === 'present').toBe(status === 200 && body === 'user')
        const gone = status === 404 || status === 410 || (status === 200 && body === 'null')
        expect(meaning === 'absent').toBe(gone)
      }),
      { numRuns: 2000 },
    )
  })
})
