import { describe, expect, it } from 'vitest'
import type { Claim } from '../../src/ledger/claim.ts'
import type { Ending } from '../../src/ledger/ending.ts'
import type { SyncContext } from '../../src/sync/context.ts'
import { makeSyncLease, type SyncLeaseOptions } from '../../src/sync/run.ts'
import { configOf, contextOf, KEY, makeCustomer } from '../support/pure-claims.ts'

const LEASE = { id: '1', token: '2', lane: 1 } as const
const CLAIM: Claim = {
  ...LEASE,
  key: KEY,
  version: '3',
  unknown: false,
  hiddenUnknown: false,
  statusUnknown: false,
  mayHaveWritten: false,
  attempts: 0,
  changedAtMs: null,
  nowMs: 0,
  replanInMs: null,
  generation: '1',
}

/** A job over a customer in memory. `lose` is called when the claim is made, and may set the clocks. */
function scene(
  options: Partial<Omit<SyncLeaseOptions, 'context'>> & { readonly context?: Partial<SyncContext> } = {},
) {
  const customer = makeCustomer({ row: { id: KEY, plan: 'premium' } })
  const clocks = { wall: 1_000_000, monotonic: 500 }
  const endings: Ending[] = []
  const stopping = new AbortController()
  const syncLease = makeSyncLease({
    claimLease: async () => CLAIM,
    storeEnding: async (ending) => {
      endings.push(ending)
      return true
    },
    clock: { wall: () => clocks.wall, monotonic: () => clocks.monotonic },
    stopping: stopping.signal,
    abort: new AbortController().signal,
    observe: () => undefined,
    ...options,
    context: { ...contextOf(customer), ...options.context },
  })
  return { customer, clocks, endings, stopping, syncLease }
}

describe('a job', () => {
  it('claims, works and records the ending', async () => {
    const { syncLease, endings, customer } = scene()
    expect(await syncLease(LEASE)).toEqual(endings[0])
    expect(endings).toMatchObject([{ kind: 'settle', claim: { token: '2' } }])
    expect(customer.service.calls.length).toBe(1)
  })

  it('does nothing for a token that is spent, and gives the permit back', async () => {
    const { syncLease, endings, customer } = scene({ claimLease: async () => null })
    expect(await syncLease(LEASE)).toBeNull()
    expect(endings).toEqual([])
    expect(customer.permits).toEqual({ taken: 1, givenBack: 1 })
  })

  it('gives the permit back when the claim cannot be made', async () => {
    const { syncLease, customer } = scene({ claimLease: () => Promise.reject(new Error('connection lost')) })
    await expect(syncLease(LEASE)).rejects.toThrow('connection lost')
    expect(customer.permits).toEqual({ taken: 1, givenBack: 1 })
  })

  it('does not claim when it is stopped while it waits for a permit', async () => {
    let claims = 0
    const permits: SyncContext['permits'] = {
      take: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
      stands: () => true,
      giveBack: () => undefined,
      drop: () => undefined,
    }
    const claim = async () => {
      claims++
      return CLAIM
    }
    const { syncLease, stopping } = scene({ claimLease: claim, context: { permits } })
    const done = syncLease(LEASE)
    stopping.abort()
    expect(await done).toBeNull()
    expect(claims).toBe(0)
  })

  // lifetime 30 s, timeout 10 s and a grace of 1 s: 19 s after the claim was sent the last call may start.
  it.each<[string, number, number, boolean]>([
    ['has run for 19 s', 19_000, 19_000, true],
    ['has run for longer', 19_001, 19_001, false],
    ['was suspended: only the wall clock went on', 3_600_000, 10, false],
    ['has had its wall clock set back', -3_600_000, 19_001, false],
    ['has had its wall clock set back, and is in time', -3_600_000, 10, true],
  ])(
    'that %s calls only while the whole request fits into the claim',
    async (_what, wall, monotonic, calls) => {
      const { syncLease, clocks, customer, endings } = scene({
        claimLease: async () => {
          clocks.wall += wall
          clocks.monotonic += monotonic
          return CLAIM
        },
      })
      await syncLease(LEASE)
      expect(customer.service.calls.length).toBe(calls ? 1 : 0)
      expect(endings).toMatchObject([calls ? { kind: 'settle' } : { kind: 'retry', next: { failed: true } }])
    },
  )

  // At the shortest lifetime that a configuration may have, and with half of its grace spent on other work.
  it.each([
    [100, 300],
    [1000, 3000],
    [10_000, 22_000],
  ])('writes after a GET that took its whole timeout of %i ms, in %i ms', async (timeoutMs, lifetimeMs) => {
    const timing = { lifetimeMs, consistencyDelayMs: 0 }
    const config = configOf([], { service: { timeoutMs }, advanced: { timing } })
    const customer = makeCustomer({ config, row: { id: KEY, plan: 'premium' } })
    const spend = (ms: number) => {
      clocks.wall += ms
      clocks.monotonic += ms
    }
    const { client } = customer.service
    const retrieveUser: typeof client.retrieveUser = async (userId) => {
      spend(timeoutMs)
      return await client.retrieveUser(userId)
    }
    const { syncLease, clocks } = scene({
      claimLease: async () => {
        spend((lifetimeMs - 2 * timeoutMs) / 2)
        return { ...CLAIM, unknown: true }
      },
      context: { ...contextOf(customer), users: { ...client, retrieveUser } },
    })
    expect(await syncLease(LEASE)).toMatchObject({ kind: 'settle' })
    expect(customer.service.calls.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })
})

it('does not end a claim whose ending came too late', async () => {
  const steps: string[] = []
  const { syncLease } = scene({ storeEnding: async () => false, observe: (_, { step }) => steps.push(step) })
  expect(await syncLease(LEASE)).toBeNull()
  expect(steps).toEqual(['mapped', 'planned', 'answered', 'planned'])
})

it('names the customer whose claim broke off', async () => {
  const { syncLease } = scene({ storeEnding: () => Promise.reject(new Error('no')) })
  await expect(syncLease(LEASE)).rejects.toMatchObject({ customer: KEY, cause: { message: 'no' } })
})
