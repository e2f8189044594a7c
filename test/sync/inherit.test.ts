import { describe, expect, it } from 'vitest'
import { type KnownRecord, NEVER_SETTLED } from '../../src/ledger/record.ts'
import type { Mapped } from '../../src/model/mapped.ts'
import { DOUBTED, forCustomer, makeDigester, NO_VALUE } from '../../src/sync/digest.ts'
import { inherit, latestOf } from '../../src/sync/inherit.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const theirs = forCustomer(digester, 'old')
const ours = forCustomer(digester, 'new')

const MAPPED: Extract<Mapped, { kind: 'user' }> = {
  kind: 'user',
  user: { userId: 'u7', status: 4, fields: { email: 'a@x.es', country_code: 'ES', gender: null } },
  issues: [],
}
const OLD: KnownRecord = {
  ...NEVER_SETTLED,
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
  digestKey: digester.id,
  writtenAgoMs: 9000,
}
const own = { key: 'new', record: NEVER_SETTLED, doubted: false }
const old = { key: 'old', record: OLD, doubted: false }

describe('whose record counts', () => {
  const written = (key: string, writtenAgoMs: number | null) => ({
    key,
    record: { ...OLD, writtenAgoMs },
    doubted: false,
  })

  it("is our own when nobody's write came after ours", () => {
    expect(latestOf(own, [])).toBe(own)
    expect(latestOf(own, [written('x', null)])).toBe(own)
    const latest = written('new', 1000)
    expect(latestOf(latest, [written('x', 1000), written('y', 2000)])).toBe(latest)
  })

  it('is our own when we have looked since', () => {
    const looked = { key: 'new', record: { ...OLD, writtenAgoMs: null, verifiedAgoMs: 2000 }, doubted: false }
    expect(latestOf(looked, [written('x', 2000)])).toBe(looked)
    expect(latestOf(looked, [written('x', 1999)]).key).toBe('x')
  })

  it('is that of whoever wrote last', () => {
    expect(latestOf(own, [written('x', 3000), written('y', 2000)]).key).toBe('y')
    expect(latestOf(written('new', 2001), [written('y', 2000)]).key).toBe('y')
  })
})

describe('a record under another key', () => {
  it('tells what was agreed on, of a user who is looked at before anything is sent', () => {
    expect(inherit(old, { own, mapped: MAPPED, digester })).toMatchObject({
      userId: 'u7',
      remote: 'unknown',
      sentStatus: 4,
      seenStatus: 0,
      refused: {},
      writtenAgoMs: 9000,
    })
  })

  it('tells nothing of a status that is in doubt', () => {
    expect(inherit({ ...old, doubted: true }, { own, mapped: MAPPED, digester }).sentStatus).toBeNull()
  })

  it('tells of fields only what is desired now, in digests of our own', () => {
    expect(inherit(old, { own, mapped: MAPPED, digester }).sent).toEqual({
      country_code: ours.exact('country_code', 'ES'),
      gender: ours.exact('gender', null),
    })
    expect(inherit(old, { own, mapped: { kind: 'removed', userId: 'u7' }, digester }).sent).toEqual({})
  })

  it('tells nothing of fields when its digests were made with another key', () => {
    const foreign = { key: 'old', record: { ...OLD, digestKey: 'other' }, doubted: false }
    expect(inherit(foreign, { own, mapped: MAPPED, digester }).sent).toEqual({ country_code: DOUBTED })
  })

  it('tells of the country, which no GET shows, that there was one', () => {
    const country = (country_code: string | null) =>
      ({ ...MAPPED, user: { ...MAPPED.user, fields: { country_code } } }) as Mapped
    expect(inherit(old, { own, mapped: country(null), digester }).sent).toEqual({ country_code: DOUBTED })
    expect(inherit(old, { own, mapped: country('FR'), digester }).sent).toEqual({ country_code: DOUBTED })
    const without = { ...old, record: { ...OLD, sent: { country_code: NO_VALUE } } }
    expect(inherit(without, { own, mapped: country('FR'), digester }).sent).toEqual({
      country_code: NO_VALUE,
    })
  })

  it('is left as it is when it is our own', () => {
    expect(inherit(own, { own, mapped: MAPPED, digester })).toBe(NEVER_SETTLED)
  })

  it('of somebody whom that customer has erased is an erasure here too, until it is looked at', () => {
    const erased = {
      ...OLD,
      sent: { email: 'null' },
      refused: {},
      erased: 'sent',
      digestKey: 'other.1',
    } as const
    const known = inherit(
      { ...old, record: erased },
      { own, mapped: { kind: 'removed', userId: 'u7' }, digester },
    )
    expect(known).toMatchObject({ remote: 'unknown', erased: 'sent', sent: { email: 'null' }, refused: {} })
    const mine = { ...own, record: { ...NEVER_SETTLED, erased: 'verified' } } as const
    expect(inherit(old, { own: mine, mapped: MAPPED, digester }).erased).toBe(null)
  })
})
