import { describe, expect, test } from 'vitest'
import { type Doubt, type Heard, type JournaledCall, unexplained } from './explain.ts'

const OK: Heard = { kind: 'answer', status: 200, body: 'none' }
const LOST: Heard = { kind: 'nothing', reached: 'maybe' }
const NOT_SENT: Heard = { kind: 'nothing', reached: 'no' }
const answer = (status: number, body: 'none' | 'unreadable' | 'null' | 'user' = 'none'): Heard => ({
  kind: 'answer',
  status,
  body,
})

type Given = Partial<JournaledCall>
type Call = Given & Pick<JournaledCall, 'method'>

/** One after the other, unless a call says when it was. */
function calls(...given: readonly Call[]): JournaledCall[] {
  return given.map((call, at) => ({
    body: null,
    from: at * 10,
    to: at * 10 + 5,
    heard: OK,
    shown: null,
    carriedOut: null,
    ...call,
  }))
}

const post = (given: Given = {}) => ({
  method: 'POST' as const,
  body: { user_id: 'c', status: 2, first_name: 'Ana', country_code: 'ES' },
  ...given,
})
const patch = (body: object, heard: Heard = OK) => ({
  method: 'PATCH' as const,
  body: body as Record<string, unknown>,
  heard,
})
const look = (fields: object, status = 2) => ({
  method: 'GET' as const,
  heard: answer(200, 'user'),
  shown: { userId: 'c', status, fields: fields as Record<string, unknown> },
})
const nobody = { method: 'GET' as const, heard: answer(404) }

const kinds = (...given: readonly Call[]) => kindsAfter([], ...given)

/** Calls begin at 0, 10, 20 and so on. */
const kindsAfter = (doubts: readonly Doubt[], ...given: readonly Call[]) =>
  unexplained(calls(...given), doubts).map(({ kind, at }) => `${kind} ${at}`)

describe('finds what cannot be explained', () => {
  test('the same update again after it was acknowledged', () => {
    expect(
      kinds(post(), patch({ status: 2, first_name: 'Eva' }), patch({ status: 2, first_name: 'Eva' })),
    ).toEqual(['repeated 2'])
  })
  test('a create again after it was acknowledged', () => {
    expect(kinds(post(), post())).toEqual(['repeated 1'])
  })
  test('a complete update that changes nothing', () => {
    const whole = { status: 2, first_name: 'Ana', country_code: 'ES', last_name: null }
    expect(kinds(post(), { method: 'PUT', body: whole })).toEqual(['repeated 1'])
  })
  test('a write after an unknown outcome without a look', () => {
    for (const heard of [LOST, answer(500), answer(302), answer(200, 'unreadable'), answer(200, 'null')])
      expect(kinds(post({ heard }), post())).toEqual(['unlooked 1'])
  })
  test('a write after a create or an update that was answered with null, but for an update after a look', () => {
    const [eva, luz] = ['Eva', 'Luz'].map((name) =>
      patch({ status: 2, first_name: name }, answer(200, 'null')),
    )
    const seen = look({ first_name: 'Ana' })
    if (!eva || !luz) throw new Error('there are two names')
    expect(kinds(post(), eva, luz)).toEqual(['unlooked 2'])
    expect(kinds(post(), seen, eva, luz)).toEqual([])
    expect(kinds(post(), seen, patch({ status: 2, first_name: 'Ada' }), eva, luz)).toEqual(['unlooked 4'])
    expect(kinds(nobody, post({ heard: answer(200, 'null') }), eva)).toEqual(['unlooked 2'])
  })
  test('a look that told nothing is no look', () => {
    const failed = { method: 'GET' as const, heard: answer(500) }
    expect(kinds(post({ heard: LOST }), failed, post())).toEqual(['unlooked 2'])
    expect(kinds(post({ heard: LOST }), { method: 'GET', heard: LOST }, post())).toEqual(['unlooked 2'])
  })
  test('a write of what the look has shown', () => {
    const shown = look({ first_name: 'Eva' })
    expect(
      kinds(
        post(),
        patch({ status: 2, first_name: 'Eva' }, LOST),
        shown,
        patch({ status: 2, first_name: 'Eva' }),
      ),
    ).toEqual(['repeated 3'])
  })
  test('the field that no GET shows, sent again though only other fields were in doubt', () => {
    const again = patch({ status: 2, country_code: 'ES' })
    expect(
      kinds(post(), patch({ status: 2, first_name: 'Eva' }, LOST), look({ first_name: 'Eva' }), again),
    ).toEqual(['repeated 3'])
  })
  test('the field that no GET shows, sent again without a doubt, before it, or twice because of one', () => {
    const again = patch({ status: 2, country_code: 'ES' })
    const seen = look({ first_name: 'Ana' })
    expect(kinds(post(), seen, again)).toEqual(['repeated 2'])
    for (const why of ['lapsed', 'late ending'] as const) {
      expect(kindsAfter([{ at: 25, why }], post(), seen, again)).toEqual(['repeated 2'])
      expect(kindsAfter([{ at: 5, why }], post(), seen, again, again)).toEqual(['repeated 3'])
    }
  })
  test('a claim that lapsed excuses no write without a look, and none of what the look has shown', () => {
    const doubts = [{ at: 5, why: 'lapsed' }] as const
    expect(kindsAfter(doubts, post(), patch({ status: 2, country_code: 'ES' }))).toEqual(['unlooked 1'])
    const seen = look({ first_name: 'Ana' })
    expect(kindsAfter(doubts, post(), seen, patch({ status: 2, first_name: 'Ana' }))).toEqual(['repeated 2'])
    expect(kindsAfter(doubts, post(), seen, post())).toEqual(['repeated 2'])
  })
  test('a refusal excuses no write of something else that is there', () => {
    const refused = patch({ status: 2, first_name: 'Eva' }, answer(429))
    expect(kinds(post(), refused, patch({ status: 2, first_name: 'Ana' }))).toEqual(['repeated 2'])
  })
  test('an update after a create was refused, without a look', () => {
    expect(kinds(post({ heard: answer(409) }), patch({ status: 2, first_name: 'Ana' }))).toEqual([
      'unlooked 1',
    ])
  })
  test('two requests at once', () => {
    const first = { ...post(), from: 0, to: 50 }
    expect(kinds(first, { ...look({}), from: 49, to: 60 }, { ...nobody, from: 60, to: 70 })).toEqual([
      'overlap 1',
    ])
    const long = { ...post(), from: 0, to: 100 }
    expect(kinds(long, { ...look({}), from: 10, to: 20 }, { ...nobody, from: 30, to: 40 })).toEqual([
      'overlap 1',
      'overlap 2',
    ])
  })
  test('a service that refuses and does it, or takes it and does not', () => {
    expect(kinds(post({ heard: answer(429), carriedOut: true }))).toEqual(['lie 0'])
    expect(kinds(post({ carriedOut: false }))).toEqual(['lie 0'])
  })
})

describe('explains', () => {
  test('a repetition after each sure refusal', () => {
    for (const status of [400, 401, 403, 409, 413, 414, 422, 429, 431]) {
      const update = patch({ status: 2, first_name: 'Eva' })
      expect(kinds(post(), { ...update, heard: answer(status) }, update), String(status)).toEqual([])
    }
    for (const status of [401, 429]) expect(kinds(post({ heard: answer(status) }), post())).toEqual([])
    for (const status of [400, 403, 409, 422])
      expect(kinds(post({ heard: answer(status) }), nobody, post())).toEqual([])
  })
  test('the status alone after its fields were refused', () => {
    expect(kinds(post(), patch({ status: 2, first_name: 'Eva' }, answer(422)), patch({ status: 2 }))).toEqual(
      [],
    )
  })
  test('a create after an update was told that nobody is there', () => {
    expect(kinds(post(), patch({ status: 0 }, answer(404)), post())).toEqual([])
  })
  test('a repetition where no connection was made', () => {
    expect(kinds(post({ heard: NOT_SENT }), post())).toEqual([])
  })
  test('a repetition after an unknown outcome and a look that shows it missing', () => {
    expect(kinds(post({ heard: LOST, carriedOut: false }), nobody, post())).toEqual([])
    const update = patch({ status: 2, first_name: 'Eva' })
    expect(kinds(post(), { ...update, heard: LOST }, look({ first_name: 'Ana' }), update)).toEqual([])
    expect(kinds(post(), patch({ status: 0 }, LOST), look({}, 2), patch({ status: 0 }))).toEqual([])
  })
  test('the field that no GET shows, sent again after an unknown outcome that carried it', () => {
    const again = patch({ status: 2, country_code: 'ES' })
    expect(kinds(post({ heard: LOST }), look({ first_name: 'Ana' }), again)).toEqual([])
  })
  test('the field that no GET shows, sent again after a claim that did not end in time', () => {
    const again = patch({ status: 2, country_code: 'ES' })
    const seen = look({ first_name: 'Ana' })
    expect(kindsAfter([{ at: 5, why: 'lapsed' }], post(), seen, again)).toEqual([])
    // Its ending comes when somebody else has put everything right.
    const late = [
      { at: 5, why: 'lapsed' },
      { at: 25, why: 'late ending' },
    ] as const
    expect(kindsAfter(late, post(), seen, again, seen, again)).toEqual([])
    // Or between that one's look and its write, which needs no other look.
    expect(kindsAfter([{ at: 15, why: 'late ending' }], post(), seen, again)).toEqual([])
  })
  test('there and back again', () => {
    const [eva, ana] = ['Eva', 'Ana'].map((name) => patch({ status: 2, first_name: name }))
    if (eva && ana) expect(kinds(post(), eva, ana, eva)).toEqual([])
  })
  test('requests that touch in time', () => {
    expect(kinds({ ...nobody, from: 0, to: 10 }, { ...post(), from: 10, to: 20 })).toEqual([])
  })
})
