import { describe, expect, it } from 'vitest'
import { type KnownRecord, NO_RECORD } from '../../src/ledger/record.ts'
import { forCustomer, makeDigester, NO_VALUE, UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { inherit, latestOf } from '../../src/sync/sharing.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const theirs = forCustomer(digester, 'old')
const ours = forCustomer(digester, 'new')

const MAPPED: Extract<Mapped, { kind: 'user' }> = {
  kind: 'user',
  user: { userId: 'u7', status: 4, fields: { email: 'a@x.es', country_code: 'ES', gender: null } },
  issues: [],
}
const OLD: KnownRecord = {
  ...NO_RECORD,
  userId: 'u7',
  remote: 'present',
  sentStatus: 4,
  seenStatus: 0,
  sent: {
    email: theirs.exact('email', 'b@x.es'),
    country_code: theirs.exact('country_code', 'ES'),
    gender: theirs.exact('gender', null),
  },
  refused: { email: theirs.exact('email', 'bad') },
  digestKeyId: digester.id,
  writtenAgoMs: 9000,
}
const own = { key: 'new', record: NO_RECORD, statusUnknown: false }
const old = { key: 'old', record: OLD, statusUnknown: false }

describe('whose record counts', () => {
  const written = (key: string, writtenAgoMs: number | null) => ({
    key,
    record: { ...OLD, writtenAgoMs },
    statusUnknown: false,
  })

  it('is our own when no other write came after ours', () => {
    expect(latestOf(own, [])).toBe(own)
    expect(latestOf(own, [written('x', null)]).key, 'we know nothing').toBe('x')
    const latest = written('new', 1000)
    expect(latestOf(latest, [written('x', 1000), written('y', 2000)])).toBe(latest)
  })

  it('is our own when we have looked up since', () => {
    const recent = { ...own, record: { ...OLD, writtenAgoMs: null, verifiedAgoMs: 2000 } }
    expect(latestOf(recent, [written('x', 2000)])).toBe(recent)
    expect(latestOf(recent, [written('x', 1999)]).key).toBe('x')
  })

  it('is that of the last writer', () => {
    expect(latestOf(own, [written('x', 3000), written('y', 2000)]).key).toBe('y')
    expect(latestOf(written('new', 2001), [written('y', 2000)]).key).toBe('y')
  })
})

describe('a record under another key', () => {
  it('tells what was agreed on, of a user who is looked up before anything is sent', () => {
    expect(inherit(old, { own, mapped: MAPPED, digester })).toMatchObject({
      userId: 'u7',
      remote: 'unknown',
      sentStatus: 4,
      seenStatus: null,
      seen: {},
      refused: {},
      existed: true,
      writtenAgoMs: 9000,
    })
  })

  it('tells nothing of an unknown status', () => {
    expect(inherit({ ...old, statusUnknown: true }, { own, mapped: MAPPED, digester }).sentStatus).toBeNull()
  })

  it('tells of fields only the country, which no GET shows: itself, or that there was one', () => {
    const sent = (country_code: string | null, record: Partial<KnownRecord> = {}) => {
      const mapped = { ...MAPPED, user: { ...MAPPED.user, fields: { country_code } } }
      return inherit({ ...old, record: { ...OLD, ...record } }, { own, mapped, digester }).sent
    }
    expect(sent('ES')).toEqual({ country_code: ours.exact('country_code', 'ES') })
    const mark = { country_code: UNKNOWN_VALUE }
    expect([sent(null), sent('FR'), sent('ES', { digestKeyId: 'other' })]).toEqual([mark, mark, mark])
    const none = { country_code: NO_VALUE }
    expect(sent('FR', { sent: none })).toEqual(none)
  })

  it('tells nothing of an erasure: each customer has its own, and clears what has come since', () => {
    const removed: Mapped = { kind: 'removed', userId: 'u7' }
    const theirs = { ...old, record: { ...OLD, sent: { email: 'null' }, erased: 'sent' } } as const
    expect(inherit(theirs, { own, mapped: removed, digester })).toMatchObject({ erased: null, sent: {} })
    const record = { ...NO_RECORD, sent: { email: 'null' }, erased: 'verified' } as const
    expect(inherit(old, { own: { ...own, record }, mapped: removed, digester })).toMatchObject({
      erased: 'verified',
      sent: { country_code: UNKNOWN_VALUE },
    })
  })
})
