import { describe, expect, it } from 'vitest'
import { type LedgerRecord, NO_RECORD } from '../../src/ledger/record.ts'
import type { DesiredUser, Fields } from '../../src/model/user.ts'
import type { RemoteUser } from '../../src/service/body.ts'
import { rememberSent } from '../../src/sync/absorb.ts'
import { ASSUMED_VALUE } from '../../src/sync/country.ts'
import { forCustomer, makeDigester, NO_VALUE, UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { fromRecord, inViewOf, type Memory, toRecord } from '../../src/sync/memory.ts'
import { rememberAbsent, rememberSeen } from '../../src/sync/remember.ts'
import { EMPTY_RECORD } from '../support/ending.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const digests = forCustomer(digester, '7')
const { exact, normal } = digests

const RECORD: LedgerRecord = {
  ...EMPTY_RECORD,
  userId: 'u7',
  remote: 'present',
  sentStatus: 2,
  seenStatus: 2,
  sent: { email: exact('email', 'a@x.es'), country_code: exact('country_code', 'ES') },
  seen: { last_name: normal('last_name', 'Gil') },
  refused: { description: exact('description', 'bad') },
  digestKeyId: digester.id,
}

const SURE = { unknown: false, hiddenUnknown: false, statusUnknown: false }
const ASIDE = { ...SURE, replanInMs: null, digests: { keyId: 'k' } }

function start(record: Partial<LedgerRecord> = {}, unsure: Partial<typeof SURE> = {}): Memory {
  return fromRecord({ ...SURE, ...unsure, record: { ...RECORD, ...record }, replanInMs: null, digests })
}

function desired(fields: Fields, status: 0 | 2 | 4 = 2): DesiredUser {
  return { userId: 'u7', status, fields }
}

function asUser(fields: Fields, status: 0 | 2 | 4 = 2): Mapped {
  return { kind: 'user', user: desired(fields, status), issues: [] }
}

function remote(status: number, fields: RemoteUser['fields'] = {}): RemoteUser {
  return { userId: 'u7', status, fields }
}

it('has another digest for no value than for the text "null", and for a number than for its text', () => {
  expect([digests.ofForm('email', null), digests.normal('email', '')]).toEqual([NO_VALUE, NO_VALUE])
  const made = [digests.ofForm('email', 'null'), digests.exact('gender', 1), digests.exact('gender', '1')]
  expect(new Set([NO_VALUE, ...made]).size).toBe(4)
})

describe('fromRecord', () => {
  it('after a crash, what no GET shows is unknown', () => {
    expect(start({}, { hiddenUnknown: true }).sent).toEqual({ ...RECORD.sent, country_code: UNKNOWN_VALUE })
    // Also where none was ever acknowledged: the create that the crash hides may have carried one.
    const { country_code: _never, ...sent } = RECORD.sent
    expect(start({ sent }, { hiddenUnknown: true }).sent).toEqual({ ...sent, country_code: UNKNOWN_VALUE })
  })

  describe('with an unknown status', () => {
    const statusOf = (record: Partial<LedgerRecord>) => start(record, { statusUnknown: true }).sentStatus

    it('agrees on none: 0 that a GET shows may be the work of a call without an answer', () => {
      expect(start({ sentStatus: 4 }, { unknown: true }).sentStatus).toBe(4)
      for (const seenStatus of [null, 4, 2, -1]) expect(statusOf({ sentStatus: 4, seenStatus })).toBe(null)
      for (const sentStatus of [0, 2]) expect(statusOf({ sentStatus, seenStatus: 0 })).toBe(null)
    })

    it('leaves a trial ended that had ended before', () => {
      expect(statusOf({ sentStatus: 4, seenStatus: 0 })).toBe(4)
    })
  })

  describe('with digests of another key', () => {
    it('drops them and makes a lookup, but does not write what a GET cannot show', () => {
      const memory = start({ digestKeyId: 'other.1' })
      const sent = { country_code: ASSUMED_VALUE }
      expect(memory).toEqual({ ...start(), remote: 'unknown', sent, seen: {}, refused: {} })
      expect(start({ digestKeyId: 'other.1', remote: 'absent' }).remote).toBe('absent')
      const refused = { refused: { country_code: 'x' } }
      for (const left of [
        { state: 'held' as const },
        refused,
        { conflict: { values: refused.refused, tries: 1 } },
      ])
        expect(start({ digestKeyId: 'other.1', ...left }).sent).toEqual({ country_code: UNKNOWN_VALUE })
    })

    it.each([NO_VALUE, UNKNOWN_VALUE])('keeps what needs no key: %s', (digest) => {
      const sent = { email: exact('email', 'a@x.es'), country_code: digest }
      expect(start({ digestKeyId: 'other.1', sent }).sent).toEqual({ country_code: digest })
    })
  })
})

describe('of a customer that was erased', () => {
  const marks = { email: NO_VALUE, gender: NO_VALUE }
  const ERASED = {
    sentStatus: 0,
    seenStatus: null,
    sent: marks,
    seen: {},
    refused: { description: NO_VALUE },
    erased: 'sent',
  } as const

  it('the marks need no digest key, and status 0 is not unknown: it was acknowledged with the fields', () => {
    const memory = start({ ...ERASED, digestKeyId: 'other.1' }, { statusUnknown: true })
    const { sentStatus, sent, refused, erased } = ERASED
    expect(memory).toMatchObject({ remote: 'present', sentStatus, sent, refused, erased })
  })

  it('a lookup keeps the marks, and is stored as one without a digest of what it showed', () => {
    const memory = rememberSeen(start(ERASED), remote(0, { email: 'a@x.es' }), null, digests)
    expect(memory).toMatchObject({ erased: 'verified', sent: marks, seen: { gender: NO_VALUE } })
    const own = { userId: 'u7', state: 'idle', reason: null, discard: null } as const
    const kept = { ...own, issues: [], existed: null }
    const record = toRecord(memory, digester.id, kept)
    expect([record.erased, record.sent, record.seen]).toEqual(['verified', marks, {}])
    expect(rememberAbsent(start(ERASED)).erased).toBe('verified')
  })

  it('nothing but the status is left once the row has come back, and all of it while it is out of scope', () => {
    const about = { record: { userId: 'u7', remote: 'present' }, digests } as const
    const back = inViewOf(start(ERASED), { ...about, mapped: asUser({ email: null }) })
    expect(back).toEqual({ ...start(ERASED), sent: {}, refused: {}, erased: null })
    const mapped: Mapped = { kind: 'out-of-scope', userId: 'u7' }
    expect(inViewOf(start(ERASED), { ...about, mapped })).toEqual(start(ERASED))
  })
})

describe('inViewOf', () => {
  const view = (memory: Memory, mapped: Mapped, recordedAs: string | null = 'u7') =>
    inViewOf(memory, { mapped, record: { userId: recordedAs, remote: 'present' }, digests })

  describe('with a value that another user has', () => {
    const conflict = { values: { email: normal('email', 'A@x.es') }, tries: 2 }
    const known = (record: Partial<LedgerRecord>, replanInMs: number | null) =>
      fromRecord({ ...ASIDE, record: { ...RECORD, conflict, ...record }, replanInMs, digests })

    it.each<[string, Partial<LedgerRecord>, number | null]>([
      ['waiting', {}, 1],
      ['due', {}, 0],
      ['due', {}, null],
      ['creating', { remote: 'absent' }, null],
      ['creating', { remote: 'unknown' }, 1],
    ])('is %s', (phase, record, replanInMs) => {
      expect(known(record, replanInMs).conflict).toEqual({ ...conflict, phase })
    })
  })

  it('assumes the value that is desired, once there is one', () => {
    const memory = start({ digestKeyId: 'other.1' })
    expect(view(memory, asUser({ country_code: 'PT' })).sent).toEqual({
      country_code: exact('country_code', 'PT'),
    })
    expect(view(memory, asUser({ country_code: null })).sent).toEqual({ country_code: ASSUMED_VALUE })
    expect(view(memory, asUser({})).sent).toEqual({ country_code: ASSUMED_VALUE })
  })

  it('assumes for one claim: a value that is desired later is sent', () => {
    const after = view(start({ digestKeyId: 'other.1' }), { kind: 'out-of-scope', userId: 'u7' })
    const kept = { ...EMPTY_RECORD, userId: 'u7' }
    expect(toRecord(after, 'new.1', kept).sent).toEqual({ country_code: UNKNOWN_VALUE })
  })

  it('knows nothing of a user with another user_id', () => {
    const memory = view(start(), asUser({ email: 'a@x.es' }), 'u6')
    expect(memory).toEqual(fromRecord({ ...ASIDE, record: NO_RECORD }))
    expect(view(start(), { kind: 'removed', userId: 'u7' }, 'u6').remote).toBe('unasked')
    expect(view(start(), asUser({}), null).remote).toBe('present')
    expect(view(start(), { kind: 'rejected', userId: null, issues: [] }, 'u6')).toEqual(start())
  })

  it('takes a status that was seen and is desired for agreed on', () => {
    const seen = start({ sentStatus: 4, seenStatus: 0 })
    expect(view(seen, asUser({}, 0)).sentStatus).toBe(0)
    expect(view(seen, asUser({}, 4)).sentStatus).toBe(4)
    expect(view({ ...seen, remote: 'unknown' }, asUser({}, 0)).sentStatus).toBe(4)
  })
})

describe('rememberSeen', () => {
  const see = (memory: Memory, user: RemoteUser, fields: Fields, status: 0 | 2 | 4 = 2) =>
    rememberSeen(memory, user, desired(fields, status), digests)

  it('replaces what is remembered by what the service shows', () => {
    const memory = see(start(), remote(2, { email: 'other@x.es', last_name: 'Soto' }), { email: 'a@x.es' })
    expect(memory).toMatchObject({ remote: 'present', seenStatus: 2, lookedUp: true })
    expect(memory.sent.email).toBeUndefined()
    expect(memory.seen).toMatchObject({
      email: normal('email', 'other@x.es'),
      last_name: normal('last_name', 'Soto'),
      first_name: NO_VALUE,
    })
  })

  it('keeps an acknowledged value where the GET agrees with it, in whatever spelling', () => {
    const memory = see(start(), remote(2, { email: 'A@X.ES' }), { email: 'a@x.es' })
    expect(memory.sent.email).toBe(exact('email', 'a@x.es'))
  })

  it.each([2.5, -3, 1e9, 40_000])('has a place in the ledger for any status: %d', (status) => {
    expect(see(start(), remote(status), {}).seenStatus).toBe(-1)
  })
})

describe('rememberSent', () => {
  const fields = { email: 'b@x.es', last_name: null }
  const body = { status: 2 } as const
  const patch = { kind: 'patch', body, fields: ['email', 'last_name'], keepsStatus: false } as const
  const sending = { desired: desired(fields), digests }

  it('knows after an update what it carried, and of the rest what was known before', () => {
    const memory = rememberSent(start(), patch, sending)
    expect(memory).toMatchObject({ remote: 'present', sentStatus: 2, seenStatus: null, seen: {} })
    expect(memory.sent).toEqual({ ...RECORD.sent, email: exact('email', 'b@x.es'), last_name: NO_VALUE })
  })

  it('does not take a status for ours that was carried', () => {
    const memory = start({ sentStatus: 4, seenStatus: 0 })
    const plan = { ...patch, body: { status: 0 }, keepsStatus: true } as const
    expect(rememberSent(memory, plan, sending)).toMatchObject({ sentStatus: 4, seenStatus: 0 })
  })

  it('knows after an erasure nothing, and after a second one what was cleared twice', () => {
    const plan = { kind: 'erase', body: { status: 0 }, fields: ['email', 'gender'] } as const
    const first = rememberSent({ ...start(), lookedUp: true }, plan, sending)
    const none = { sent: {}, seen: {}, refused: {} }
    expect(first).toEqual({ ...start(), ...none, sentStatus: 0, seenStatus: null, erased: 'sent' })
    const again = rememberSent({ ...first, erased: 'verified', refused: { gender: NO_VALUE } }, plan, sending)
    expect(again).toEqual({ ...first, sent: { email: NO_VALUE } })
  })

  it('forgets what a GET showed of one half of a phone when the other is written', () => {
    const memory = start({ sent: {}, seen: { mobile_phone: normal('mobile_phone', '34600111222') } })
    const half = desired({ mobile_phone_prefix: null })
    const plan = { ...patch, fields: ['mobile_phone_prefix'] } as const
    expect(rememberSent(memory, plan, { desired: half, digests }).seen).toEqual({})
  })
})

describe('a customer out of scope about which no call was ever made', () => {
  const mapped = { kind: 'out-of-scope', userId: 'u7' } as const
  const of = (remote: LedgerRecord['remote']) =>
    inViewOf(start({ remote }, { unknown: true, hiddenUnknown: true }), {
      mapped,
      record: { userId: 'u7', remote },
      digests,
    })

  it('stays unasked, although a crash or a wanted lookup makes the user unknown', () => {
    expect(of('unasked').remote).toBe('unasked')
  })

  it.each(['unknown', 'absent', 'present'] as const)('is looked up where the record says %s', (remote) => {
    expect(of(remote).remote).toBe('unknown')
  })
})
