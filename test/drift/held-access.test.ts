// Held customers whose access is wrong meanwhile, by a release's plan and by the record alone.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accessWhileHeld, thereWhenHeld, wantedWhenHeld } from '../../src/drift/held-access.ts'
import { NO_RECORD } from '../../src/ledger/record.ts'
import type { Status } from '../../src/model/user.ts'
import { braked } from '../../src/sync/brake-plan.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { nextPlan } from '../../src/sync/next-plan.ts'
import { accessAfter, type Situation } from '../../src/sync/plan.ts'
import type { Policy } from '../../src/sync/write.ts'
import { ABSENT, digests, KEEP, user } from '../support/plan-scene.ts'
import { runs } from '../support/size.ts'

type There = Pick<Memory, 'remote' | 'sentStatus' | 'seenStatus'>
const there = (sentStatus: number | null, rest: Partial<There> = {}): There => ({
  ...{ remote: 'present', sentStatus, seenStatus: null },
  ...rest,
})

test.each<[string | null, string, boolean | null, There]>([
  ['undue', 'who is to lose full access', false, there(2)],
  ['lost', 'who is to get access back', true, there(0)],
  ['lost', 'who is not there', true, there(null, { remote: 'absent' })],
  ['lost', 'who was seen without access since', true, there(2, { seenStatus: 0 })],
  [null, 'who is to lose what a check has shown to be gone', false, there(2, { seenStatus: 0 })],
  [null, 'whose due access is not known', null, there(2)],
  [null, 'without any call yet', true, there(null, { remote: 'unasked' })],
  [null, 'a call whose outcome is unknown', false, there(2, { remote: 'unknown' })],
  [null, 'an unknown status', false, there(null)],
  [null, 'a status that the interface does not have', true, there(2, { seenStatus: -1 })],
])('%s: %s', (access, _, wanted, known) => expect(accessWhileHeld(wanted, known)).toBe(access))

test('who is held for its absence is not there, whatever is to be asked again', () => {
  const known = there(2, { remote: 'unknown' })
  expect(accessWhileHeld(true, thereWhenHeld({ kinds: ['absence'] }, known))).toBe('lost')
  expect(accessWhileHeld(true, thereWhenHeld({ kinds: ['status'] }, known))).toBe(null)
})

test('the record alone tells what a plan does that is held, and the kinds tell nothing else', async () => {
  const status = fc.constantFrom<Status>(0, 2, 4)
  const given = fc.record({
    mapped: fc.oneof(
      status.map((here) => user(here, { email: null })),
      fc.constantFrom(
        { kind: 'removed', userId: 'u7' } as const,
        { kind: 'out-of-scope', userId: 'u7' } as const,
      ),
    ),
    remote: fc.constantFrom<Memory['remote']>('unasked', 'unknown', 'absent', 'present'),
    sentStatus: fc.option(status),
    seenStatus: fc.option(status),
    lookedUp: fc.boolean(),
    onRemove: fc.constantFrom<Policy['onRemove']>('revoke', 'erase'),
    existed: fc.boolean(),
  })
  const directions = new Set<string | null>()
  const plans = new Set<string>()
  const run = fc.asyncProperty(given, async ({ mapped, onRemove, existed, ...known }) => {
    const memory: Memory = { ...ABSENT, sent: { email: digests.exact('email', 'a@b.es') }, ...known }
    const { plan, reason } = await allHeld({ mapped, memory, onRemove, existed })
    if (reason === null) return
    plans.add(plan.kind)
    const access = accessWhileHeld(accessAfter(plan), memory)
    directions.add(access)
    expect(accessWhileHeld(wantedWhenHeld(reason), memory)).toBe(access)
    const { kinds = [] } = reason
    expect([access, null]).toContain(accessWhileHeld(wantedWhenHeld({ kinds }), memory))
  })
  await fc.assert(run, { numRuns: runs(2000), seed: 7 })
  expect(plans).toEqual(new Set(['create', 'patch', 'revoke', 'erase']))
  expect(directions).toEqual(new Set(['lost', 'undue', null]))
})

type Held = Pick<Situation, 'mapped' | 'memory'> & Pick<Policy, 'onRemove'> & { readonly existed: boolean }

/** The first step of a claim, and with which reason it ends where all kinds are held; null: it does not end so. */
async function allHeld({ mapped, memory, onRemove, existed }: Held) {
  const policy = { ...KEEP, onRemove }
  const next = nextPlan(memory, {
    ...{ mapped, policy, digests, claimants: [], lookupAfterMs: 0, consistencyDelayMs: 0 },
  })
  const after = await braked(
    {
      ...{ key: '7', desiredDigest: 'now', digests, brake: async ({ kinds }) => kinds },
      before: { existed, erases: onRemove === 'erase', hadAccess: false },
      ...{ record: NO_RECORD, discard: [], discarded: [], left: [] },
    },
    next,
    memory,
  )
  const held = 'end' in after && after.end.kind === 'settle' && after.end.state === 'held'
  return { plan: next.plan, reason: held ? after.end.reason : null }
}
