import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'

const AUTHORED: RollcallConfig = {
  customers: { table: 'public.customers', key: 'id' },
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { free: 0, premium: 2 } },
    email: { columns: ['mail'], map: (row) => row.mail as string },
  },
}

const print = (changes: Partial<RollcallConfig> = {}) =>
  resolveConfig({ ...AUTHORED, ...changes }, 'rollcall.config.ts').fingerprint
const mapped = (changes: Partial<RollcallConfig['mapping']>) =>
  print({ mapping: { ...AUTHORED.mapping, ...changes } })

test('the order of keys says nothing, at any depth', () => {
  const { user_id, status, email } = AUTHORED.mapping
  const plan = { values: { premium: 2, free: 0 }, column: 'plan' } as const
  const turned = { mapping: { email, status: plan, user_id }, customers: AUTHORED.customers }
  expect(resolveConfig(turned, 'elsewhere.config.ts').fingerprint).toBe(print())
  expect(status).toEqual(plan)
})

test('a default that is written down is the default', () => {
  expect(
    print({ strict: false, unmanaged: 'keep', onRemove: 'revoke', phonePrefix: 'digits', clearWith: 'null' }),
  ).toBe(print())
  expect(print({ createWithoutAccess: true })).toBe(print())
  expect(print({ clearWith: { email: 'null' } })).toBe(print())
})

test('the text of a function counts, also of one that does the same', () => {
  expect(mapped({ email: { columns: ['mail'], map: (row) => row.mail as string } })).toBe(print())
  expect(mapped({ email: { columns: ['mail'], map: (one) => one.mail as string } })).not.toBe(print())
  expect(print({ scope: { columns: ['plan'], when: () => true } })).not.toBe(
    print({ scope: { columns: ['plan'], when: () => false } }),
  )
})

test('what a function takes from elsewhere does not show, and mappingVersion is there for it', () => {
  const calling = (helper: () => string) => ({ columns: ['mail'], map: () => helper() })
  expect(mapped({ email: calling(() => 'a') })).toBe(mapped({ email: calling(() => 'b') }))
  expect(print({ mappingVersion: 2 })).not.toBe(print())
  expect(print({ mappingVersion: 2 })).not.toBe(print({ mappingVersion: 3 }))
})

test.each<[string, Partial<RollcallConfig>]>([
  ['a field that is set', { mapping: { ...AUTHORED.mapping, first_name: 'name' } }],
  ['a column', { mapping: { ...AUTHORED.mapping, email: 'correo' } }],
  [
    'a value',
    { mapping: { ...AUTHORED.mapping, status: { column: 'plan', values: { free: 0, premium: 4 } } } },
  ],
  ['the scope', { scope: { column: 'plan', in: ['premium'] } }],
  ['what becomes of those who are removed', { onRemove: 'ignore' }],
  ['what becomes of fields that are not set', { unmanaged: 'clear' }],
  ['how a field is cleared', { clearWith: { email: 'empty' } }],
  ['whether customers without access are registered', { createWithoutAccess: false }],
  ['how a prefix is written', { phonePrefix: 'plus' }],
  ['strictness', { strict: true }],
  ['where the customers stand', { customers: { table: 'other.clients', key: 'id' } }],
  ['the key', { customers: { table: 'public.customers', key: ['id', 'plan'] } }],
])('%s changes it', (_, changes) => expect(print(changes)).not.toBe(print()))

test.each<[string, Partial<RollcallConfig>]>([
  ['the pace', { pace: { ceiling: 1, concurrency: 1 } }],
  ['times', { advanced: { timing: { gapMs: 7 } } }],
  ['the service', { service: { timeoutMs: 7 } }],
  ['capture', { advanced: { capture: { outboxLimitMb: 7 } } }],
  ['how often everybody is checked', { reconcile: { period: '1d', mode: 'repair' } }],
  ['what is watched', { watch: [{ table: 'public.customers', key: 'id' }] }],
])('%s does not', (_, changes) => expect(print(changes)).toBe(print()))
