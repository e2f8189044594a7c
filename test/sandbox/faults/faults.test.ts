import { describe, expect, it } from 'vitest'
import { type FaultedCall, makeFaults, seededRandom } from '../../../src/sandbox/faults/faults.ts'

const patch: FaultedCall = {
  method: 'PATCH',
  path: '/s2s/v1/users/u1',
  userId: 'u1',
  body: { status: 0, email: null },
}
const drop = { kind: 'drop-before' } as const
const struckBy = (rules: Parameters<ReturnType<typeof makeFaults>['set']>[0], call = patch) => {
  const faults = makeFaults(seededRandom(1))
  faults.set(rules)
  return faults.strike(call)
}

it.each([
  [{}, true],
  [{ method: 'PATCH' }, true],
  [{ method: 'PUT' }, false],
  [{ path: '/s2s/v1/users/u1' }, true],
  [{ path: '/s2s/v1/users/u12' }, false],
  [{ path: '/chat' }, false],
  [{ userId: 'u1' }, true],
  [{ userId: 'u2' }, false],
  [{ status: 0 }, true],
  [{ status: 2 }, false],
  [{ field: 'email' }, true],
  [{ field: 'gender' }, false],
  [{ method: 'PATCH', userId: 'u1', status: 0, field: 'email' }, true],
  [{ method: 'PATCH', path: '/chat', userId: 'u1' }, false],
] as const)('which calls a rule strikes: %j: %s', (match, struck) => {
  expect(struckBy([{ match, action: drop }]).ending).toEqual(struck ? drop : null)
})

describe('rules together', () => {
  it('waits add up, the first other action decides', () => {
    const wait = (ms: number) => ({ action: { kind: 'latency', minMs: ms, maxMs: ms } }) as const
    expect(
      struckBy([wait(5), wait(7), { action: drop }, { action: { kind: 'drop-after' } }, wait(90)]),
    ).toEqual({ latencyMs: 12, ending: drop, kinds: ['latency', 'latency', 'drop-before'] })
  })

  it('a rule is spent after its times', () => {
    const faults = makeFaults(seededRandom(1))
    faults.set([{ times: 2, action: drop }])
    expect([1, 2, 3].map(() => faults.strike(patch).ending)).toEqual([drop, drop, null])
    expect(faults.list()).toMatchObject([{ struck: 2, spent: true }])
  })

  it('a rule is spent after its time, counted from when it was set', () => {
    let now = 5000
    const faults = makeFaults(seededRandom(1), () => now)
    faults.set([
      { forMs: 1000, action: drop },
      { forMs: 1400, action: { kind: 'drop-after' } },
    ])
    now += 999
    expect(faults.strike(patch).kinds).toEqual(['drop-before'])
    expect(faults.list()).toMatchObject([{ spent: false }, { spent: false }])
    now += 1
    expect(faults.strike(patch).kinds).toEqual(['drop-after'])
    expect(faults.list()).toMatchObject([
      { struck: 1, spent: true },
      { struck: 1, spent: false },
    ])
    now += 400
    expect(faults.strike(patch).kinds).toEqual([])
    faults.set(faults.list().map(({ struck: _struck, spent: _spent, ...rule }) => rule))
    expect(faults.strike(patch).kinds).toEqual(['drop-before'])
  })

  it('strikes at its rate, and the same calls for the same seed', () => {
    const run = (seed: number) => {
      const faults = makeFaults(seededRandom(seed))
      faults.set([{ rate: 0.3, action: drop }])
      return Array.from({ length: 2000 }, () => (faults.strike(patch).ending === null ? 0 : 1))
    }
    expect(run(7)).toEqual(run(7))
    expect(run(7)).not.toEqual(run(8))
    const share = run(7).reduce<number>((sum, struck) => sum + struck, 0) / 2000
    expect(share).toBeGreaterThan(0.25)
    expect(share).toBeLessThan(0.35)
  })
})
