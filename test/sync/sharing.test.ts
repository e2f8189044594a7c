import { expect, it } from 'vitest'
import type { Row } from '../../src/config/config.ts'
import type { Clock } from '../../src/config/define.ts'
import { NO_RECORD } from '../../src/ledger/record.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { findClaimants } from '../../src/sync/sharing.ts'
import { configOf } from '../support/pure-claims.ts'

const GAVE = { ...NO_RECORD, remote: 'present', sentStatus: 2 } as const
const claimant = (key: string) => ({ ...GAVE, key })
const upper = { columns: ['id'], map: (row: Row) => `${row.id}`.toUpperCase() }
const config = configOf([], {
  mapping: { user_id: upper, status: { column: 'plan', values: { free: 0, premium: 2 } } },
  scope: { column: 'kind', in: ['member'] },
})

const ROWS: Readonly<Record<string, Row | 'ambiguous'>> = {
  ana: { id: 'ana', plan: 'premium', kind: 'member' },
  Ana: { id: 'Ana', plan: 'free', kind: 'member' },
  ANA: { id: 'ANA', plan: 'premium', kind: 'guest' },
  AnA: { id: 'AnA', plan: 'gold', kind: 'member' },
  aNa: 'ambiguous',
  luis: { id: 'luis', plan: 'premium', kind: 'member' },
}

const READS = { config, readOther: async (key: string) => ROWS[key] ?? null, now: new Date() }
function meet(mapped: Mapped, claimants = Object.keys(ROWS).filter((key) => key !== 'ana')) {
  return findClaimants(READS, claimants.map(claimant), { mapped, record: NO_RECORD })
}

const claimantsOf = async (...asked: Parameters<typeof meet>) => (await meet(...asked)).claimants

const user: Mapped = { kind: 'user', user: { userId: 'ANA', status: 2, fields: {} }, issues: [] }

it('finds the others in scope who are the same user, and no others', async () => {
  expect(await claimantsOf(user)).toEqual(['Ana'])
  expect(await claimantsOf(user, ['ANA', 'gone', 'luis'])).toEqual([])
})

it('spares a user from a revocation where another customer may claim it, though its row cannot be mapped', async () => {
  expect(await claimantsOf({ kind: 'removed', userId: 'ANA' })).toEqual(['Ana', 'AnA', 'aNa'])
  expect(await claimantsOf({ kind: 'out-of-scope', userId: 'ANA' }, ['AnA'])).toEqual(['AnA'])
  expect(await claimantsOf({ kind: 'rejected', userId: 'ANA', issues: [] }, ['AnA'])).toEqual([])
})

it('takes no access about which a person decided after another customer had given it', async () => {
  const decided = { ...claimant('ANA'), state: 'discarded' as const, writtenAgoMs: 5 }
  const mapped: Mapped = { kind: 'removed', userId: 'ANA' }
  const claimants = async (writtenAgoMs: number) =>
    (await findClaimants(READS, [decided], { mapped, record: { ...GAVE, writtenAgoMs } })).claimants
  expect([await claimants(9), await claimants(3)]).toEqual([['ANA'], []])
})

it('goes by the time that it is given', async () => {
  const ended = new Date('2026-12-01')
  const mapping = { user_id: upper, status: { value: 2 } }
  const when = (_: Row, { now }: Clock) =>
    now < ended ? { value: true, validUntil: ended } : { value: false, validUntil: null }
  const reads = {
    config: configOf([], { mapping, scope: { columns: ['kind'], when } }),
    readOther: async () => ROWS.Ana ?? null,
  }
  const asked = { mapped: user, record: NO_RECORD }
  const claimants = async (now: Date) =>
    (await findClaimants({ ...reads, now }, [claimant('Ana')], asked)).claimants
  expect([await claimants(new Date('2026-11-30')), await claimants(ended)]).toEqual([['Ana'], []])
})
