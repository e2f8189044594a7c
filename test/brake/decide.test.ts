import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BrakeKind, limitOf } from '../../src/brake/brake.ts'
import { decide, type KindState, type WeighedRequest } from '../../src/brake/decide.ts'

const state = (kind: BrakeKind, rest: Partial<KindState> = {}): KindState => ({
  kind,
  taken: 0,
  limit: 2,
  tripped: false,
  expected: 0,
  ...rest,
})
const ask = (
  key: string,
  kinds: readonly BrakeKind[],
  rest: Partial<WeighedRequest> = {},
): WeighedRequest => ({
  key,
  desiredDigest: 'd',
  kinds,
  counted: [],
  repeated: [],
  returning: false,
  released: [],
  ...rest,
})

describe('the decision of the brake', () => {
  it('lets the limit through, and the one who is one too many trips the kind and waits with all who follow', () => {
    const requests = ['a', 'b', 'c', 'd'].map((key) => ask(key, ['revocation']))
    expect(decide({ kinds: [state('revocation')], requests, truncated: false })).toEqual({
      answers: [[], [], ['revocation'], ['revocation']],
      entries: [
        { kind: 'revocation', key: 'a' },
        { kind: 'revocation', key: 'b' },
      ],
      again: [],
      trips: [{ kind: 'revocation', limit: 2 }],
    })
  })

  it('names who goes on, so that the window begins anew for it, and no customer that has to wait', () => {
    const counted = { counted: ['revocation'] as const }
    const requests = [ask('a', ['revocation'], counted), ask('b', ['revocation', 'create'], counted)]
    const kinds = [state('revocation', { taken: 2 }), state('create', { tripped: true })]
    expect(decide({ kinds, requests, truncated: false })).toMatchObject({
      answers: [[], ['create']],
      entries: [],
      again: [{ kind: 'revocation', key: 'a' }],
    })
  })

  it('lets who gets back what was taken pass, without a count that could begin anew', () => {
    const requests = [ask('a', ['status'], { returning: true }), ask('b', ['create'], { returning: true })]
    const kinds = [state('status', { tripped: true }), state('create', { tripped: true })]
    expect(decide({ kinds, requests, truncated: false })).toEqual({
      answers: [[], ['create']],
      entries: [],
      again: [],
      trips: [],
    })
  })

  const TRIPPED = { tripped: true, taken: 2 }
  const counted = ['revocation'] as const
  /** Whether it passes, and how many entries and trips there are then. */
  const OUTCOME = {
    passes: [true, 0, 0],
    'is counted': [true, 1, 0],
    waits: [false, 0, 0],
    trips: [false, 0, 1],
  } as const
  it.each<[string, keyof typeof OUTCOME, Partial<KindState>, Partial<WeighedRequest>]>([
    ['was let through, failed, and repeats', 'passes', TRIPPED, { counted, repeated: counted }],
    ['was let through and changes anew since the kind has tripped', 'waits', TRIPPED, { counted }],
    ['was let through and changes anew at the limit', 'passes', { taken: 2 }, { counted }],
    ['was released for it', 'passes', TRIPPED, { released: ['revocation'] }],
    ['was released for another kind', 'waits', TRIPPED, { released: ['clear:email'] }],
    ['is new to a kind that has tripped, below the limit', 'waits', { tripped: true }, {}],
    ['is new', 'is counted', {}, {}],
    ['is new where no customer may pass', 'trips', { limit: 0 }, {}],
  ])('who %s %s', (_who, outcome, kind, request) => {
    const kinds = [state('revocation', kind)]
    const requests = [ask('a', ['revocation'], request)]
    const { answers, entries, trips } = decide({ kinds, requests, truncated: false })
    expect([answers[0]?.length === 0, entries.length, trips.length]).toEqual(OUTCOME[outcome])
  })

  it('counts a request under all of its kinds or under none, and tells all that hold it', () => {
    const kinds = [
      state('revocation'),
      state('clear:email', { tripped: true }),
      state('clear:gender', { taken: 2 }),
    ]
    const all = ['revocation', 'clear:email', 'clear:gender'] as const
    const decision = decide({ kinds, requests: [ask('a', all), ask('b', ['revocation'])], truncated: false })
    expect(decision).toEqual({
      answers: [['clear:email', 'clear:gender'], []],
      entries: [{ kind: 'revocation', key: 'b' }],
      again: [],
      trips: [{ kind: 'clear:gender', limit: 2 }],
    })
  })

  it('after a TRUNCATE every customer waits who would lose access or be erased, but not a customer that a person released', () => {
    const requests = [
      ask('a', ['revocation']),
      ask('b', ['erase']),
      ask('c', ['revocation'], { counted: ['revocation'] }),
      ask('d', ['revocation'], { released: ['truncated'] }),
      ask('e', ['create']),
    ]
    const kinds = [state('create'), state('erase'), state('revocation')]
    const { answers, entries, trips } = decide({ kinds, requests, truncated: true })
    expect(answers).toEqual([['truncated'], ['truncated'], ['truncated'], [], []])
    expect([entries, trips]).toEqual([[{ kind: 'create', key: 'e' }], []])
  })

  it('lets a released repair go on for all that it sends, and counts it under none of them', () => {
    const requests = [
      ask('a', ['status', 'clear:email'], { released: ['repair'] }),
      ask('b', ['create', 'absence'], { released: ['repair'] }),
      ask('c', ['status'], { released: ['create'] }),
    ]
    const kinds = (['absence', 'clear:email', 'create', 'status'] as const).map((kind) =>
      state(kind, { tripped: true }),
    )
    const { answers, entries } = decide({ kinds, requests, truncated: false })
    expect([answers, entries]).toEqual([[[], [], ['status']], []])
  })

  it('never lets more new customers of a kind through than its limit, in whatever batches they come', () => {
    const kinds = ['revocation', 'status', 'clear:email'] as const
    const request = fc.record({
      key: fc.nat(30).map(String),
      kinds: fc.subarray([...kinds], { minLength: 1 }),
      released: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(fc.array(request, { maxLength: 12 })), fc.nat(6), (batches, limit) => {
        const entries = new Set<string>()
        const tripped = new Set<string>()
        for (const batch of batches) {
          const requests = batch.map((each) =>
            ask(each.key, each.kinds, {
              released: each.released ? each.kinds : [],
              counted: kinds.filter((kind) => entries.has(`${kind} ${each.key}`)),
            }),
          )
          const taken = (kind: string) => [...entries].filter((entry) => entry.startsWith(`${kind} `)).length
          const states = kinds.map((kind) =>
            state(kind, { taken: taken(kind), limit, tripped: tripped.has(kind) }),
          )
          const stopped = new Set(tripped)
          const decision = decide({ kinds: states, requests, truncated: false })
          for (const { kind, key } of decision.entries) {
            expect(entries.has(`${kind} ${key}`)).toBe(false)
            expect(tripped.has(kind)).toBe(false)
            entries.add(`${kind} ${key}`)
          }
          for (const { kind } of decision.trips) tripped.add(kind)
          // A customer who passes is counted under all of its kinds, none of which had tripped, or was released.
          for (const [index, each] of requests.entries()) {
            const passes = decision.answers[index]?.length === 0
            const counted = each.kinds.every((kind) => entries.has(`${kind} ${each.key}`))
            const released = each.released.length > 0
            if (passes && !released)
              expect([counted, each.kinds.some((kind) => stopped.has(kind))]).toEqual([true, false])
            if (released || (counted && !each.kinds.some((kind) => tripped.has(kind))))
              expect(passes).toBe(true)
          }
          for (const kind of kinds) {
            expect(taken(kind)).toBeLessThanOrEqual(limit)
            if (tripped.has(kind)) expect(taken(kind)).toBe(limit)
          }
        }
      }),
    )
  })
})

it.each([
  [100, 0.01, null, 100],
  [100, 0.01, 9_999, 100],
  [100, 0.01, 20_099, 200],
  [0, 0.29, 100, 29],
  [0, 0, 1_000_000, 0],
  [5, 1, 1e12, 2_147_483_647],
])('the limit of %i or %d of %d is %i', (customers, share, base, limit) => {
  expect(limitOf({ customers, share }, base)).toBe(limit)
})
