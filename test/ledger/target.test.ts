import { describe, expect, it } from 'vitest'
import { differencesOf } from '../../src/ledger/target.ts'

type Bound = Parameters<typeof differencesOf>[0]

const BOUND: Bound = {
  origin: 'https://service.example',
  apiKeyMac: 'mac of the key',
  systemIdentifier: '7001',
  timeline: 1,
  databaseOid: '16384',
}

describe('differencesOf', () => {
  it('finds none where nothing has changed', () => {
    expect(differencesOf(BOUND, { ...BOUND })).toEqual([])
  })

  it.each<[string, Partial<Bound>, RegExp]>([
    [
      'another origin',
      { origin: 'https://demo.example' },
      /^SERVICE_URL was https:\/\/service\.example, is https:\/\/demo\.example$/,
    ],
    ['another key', { apiKeyMac: 'mac of another' }, /^SERVICE_API_KEY .* another$/],
    ['another server', { systemIdentifier: '7002' }, /^the database is another one/],
    ['another database of the server', { databaseOid: '16385' }, /^the database is another one/],
    ['another timeline', { timeline: 2 }, /^the database server was promoted/],
  ])('names %s', (_what, now, words) => {
    const differences = differencesOf(BOUND, { ...BOUND, ...now })
    expect(differences).toHaveLength(1)
    expect(differences[0]).toMatch(words)
    expect(differences.join()).not.toContain('mac of')
  })

  it('says of a database that is another one not also that its timeline is', () => {
    const copied = { ...BOUND, systemIdentifier: '7002', timeline: 2 }
    expect(differencesOf(BOUND, copied)).toHaveLength(1)
  })

  it('names several differences at once', () => {
    const now = { ...BOUND, origin: 'https://demo.example', apiKeyMac: 'x', timeline: 2 }
    expect(differencesOf(BOUND, now)).toHaveLength(3)
  })

  it('compares no facts that the role may not read, now or then', () => {
    const blind = { ...BOUND, systemIdentifier: null, timeline: null }
    expect(differencesOf(blind, BOUND)).toEqual([])
    expect(differencesOf(BOUND, blind)).toEqual([])
  })
})
