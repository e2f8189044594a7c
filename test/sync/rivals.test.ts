import { expect, it } from 'vitest'
import type { Row } from '../../src/config/config.ts'
import type { Mapped } from '../../src/model/mapped.ts'
import { findRivals } from '../../src/sync/rivals.ts'
import { configOf } from '../support/pure-claims.ts'

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

function rivalsOf(mapped: Mapped, claimants = Object.keys(ROWS)) {
  const reads = {
    config,
    readRow: async (key: string) => ROWS[key] ?? null,
    readClaimants: async () => claimants,
  }
  return findRivals(reads, 'ana', mapped)
}

const user: Mapped = { kind: 'user', user: { userId: 'ANA', status: 2, fields: {} }, issues: [] }

it('finds the others in scope who are the same user, and neither itself nor anybody else', async () => {
  expect(await rivalsOf(user)).toEqual(['Ana'])
  expect(await rivalsOf(user, ['ana', 'ANA', 'gone', 'luis'])).toEqual([])
})

it('spares a user from a revocation whom somebody may still be, though it cannot be told as what', async () => {
  expect(await rivalsOf({ kind: 'removed', userId: 'ANA' })).toEqual(['Ana', 'AnA', 'aNa'])
  expect(await rivalsOf({ kind: 'out-of-scope', userId: 'ANA' }, ['AnA'])).toEqual(['AnA'])
  expect(await rivalsOf({ kind: 'rejected', userId: 'ANA', issues: [] }, ['AnA'])).toEqual([])
})

it('has none for a customer whose user_id cannot be told', async () => {
  expect(await rivalsOf({ kind: 'rejected', userId: null, issues: [] })).toEqual([])
})
