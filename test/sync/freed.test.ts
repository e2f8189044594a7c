import { expect, it } from 'vitest'
import { NO_RECORD } from '../../src/ledger/record.ts'
import type { Fields } from '../../src/model/user.ts'
import { forCustomer, makeDigester, NO_VALUE, UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import { freedBy } from '../../src/sync/freed.ts'
import type { Mapped } from '../../src/sync/map.ts'
import type { MadeCall, Memory } from '../../src/sync/memory.ts'
import { ABSENT } from '../support/claim-scene.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const digests = forCustomer(digester, '7')
const { exact, normal } = digests
const OLD = exact('email', 'a@x.es')
const SEEN = normal('email', 'a@x.es')

const DONE: MadeCall = {
  ...{ method: 'PATCH', meaning: 'done', trusted: true, fields: ['status'], leavesTrial: true },
}

type Known = { readonly sent?: Memory['sent']; readonly seen?: Memory['seen'] }

function freed(before: Known, after: Known, fields: Fields = { email: 'b@x.es' }, rest = {}) {
  const mapped: Mapped = { kind: 'user', user: { userId: 'u', status: 2, fields }, issues: [] }
  return freedBy({
    record: { ...NO_RECORD, digestKeyId: digester.id, ...before },
    memory: { ...ABSENT, made: [DONE], remote: 'present', ...after },
    ...{ mapped, digests, ...rest },
  })
}

const NEW = { sent: { email: exact('email', 'b@x.es') } }

it('is what was sent or seen, and is another value now, or none', () => {
  expect(freed({ sent: { email: OLD } }, NEW)).toEqual([{ field: 'email', sent: OLD, seen: null }])
  expect(freed({ seen: { email: SEEN } }, NEW)).toEqual([{ field: 'email', sent: null, seen: SEEN }])
  const both = { sent: { email: OLD }, seen: { email: SEEN } }
  const cleared = { sent: { email: NO_VALUE } }
  expect(freed(both, cleared, { email: null })).toEqual([{ field: 'email', sent: OLD, seen: SEEN }])
  const erased = { mapped: { kind: 'removed', userId: 'u' } }
  expect(freed(both, {}, {}, erased)).toEqual([{ field: 'email', sent: OLD, seen: SEEN }])
})

it('is nothing that is still there, that was not known, or that was no value', () => {
  const same = { email: 'a@x.es' }
  expect(freed({ sent: { email: OLD } }, { sent: { email: OLD } }, same)).toEqual([])
  expect(freed({ seen: { email: SEEN } }, { seen: { email: SEEN } }, same)).toEqual([])
  // Sent for the first time, and it is what a GET had shown.
  expect(freed({ seen: { email: SEEN } }, { sent: { email: OLD } }, same)).toEqual([])
  expect(freed({}, NEW)).toEqual([])
  expect(freed({ sent: { email: NO_VALUE, country_code: UNKNOWN_VALUE } }, NEW)).toEqual([])
})

it('is known by a lookup too, where the answer to the write was lost', () => {
  const seen = { email: normal('email', 'b@x.es') }
  const memory = { ...ABSENT, made: [{ ...DONE, method: 'GET' }], seen }
  expect(freed({ sent: { email: OLD } }, {}, {}, { memory })).toEqual([
    { field: 'email', sent: OLD, seen: null },
  ])
})

it('is nothing without an acknowledged write or a lookup, or with digests of another key', () => {
  const memory = { ...ABSENT, ...NEW }
  expect(freed({ sent: { email: OLD } }, NEW, {}, { memory })).toEqual([])
  const record = { ...NO_RECORD, digestKeyId: 'other', sent: { email: OLD } }
  expect(freed({}, NEW, {}, { record })).toEqual([])
})
