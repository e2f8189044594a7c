import { describe, expect, it } from 'vitest'
import { type DifferenceKind, differencesOf, remedyFor, targetChanged } from '../../src/ledger/target.ts'

type Bound = Parameters<typeof differencesOf>[0]

const BOUND: Bound = {
  origin: 'https://service.example',
  apiKeyMac: 'mac of the key',
  systemIdentifier: '7001',
  timeline: 1,
  databaseOid: '16384',
  rewritten: false,
}

describe('differencesOf', () => {
  it('finds none where nothing has changed', () => expect(differencesOf(BOUND, { ...BOUND })).toEqual([]))

  it.each<[string, Partial<Bound>, DifferenceKind, RegExp]>([
    ['another origin', { origin: 'https://demo.example' }, 'service', /^If SERVICE_URL is wrong/],
    ['another key', { apiKeyMac: 'mac of another' }, 'key', /^If SERVICE_API_KEY .*--target same/],
    ['another server', { systemIdentifier: '7002' }, 'database', /^If this is a copy .*moved.*--target same/],
    ['another database of the server', { databaseOid: '16385' }, 'database', /^If this is a copy/],
    ['another timeline', { timeline: 2 }, 'timeline', /^If a standby was promoted .*--target same/],
  ])('names %s, and the likeliest remedy first', (_what, now, kind, remedy) => {
    const differences = differencesOf(BOUND, { ...BOUND, ...now })
    expect(differences).toMatchObject([{ kind }])
    expect(remedyFor(differences)).toMatch(remedy)
    expect(JSON.stringify(differences)).not.toContain('mac of')
  })

  it('names a row that another transaction wrote than it says, which is that of a restore', () => {
    const differences = differencesOf({ ...BOUND, rewritten: true }, BOUND)
    expect(differences).toMatchObject([{ kind: 'restored' }])
    expect(remedyFor(differences)).toMatch(/^Run `rollcall migrate --target new`/)
    expect(targetChanged(differences)).toMatchObject({ code: 'TARGET_CHANGED', todo: remedyFor(differences) })
  })

  it('says of a database that is another one not also that its timeline is, or that it was restored', () => {
    const copied = { ...BOUND, systemIdentifier: '7002', timeline: 2 }
    expect(differencesOf({ ...BOUND, rewritten: true }, copied)).toMatchObject([{ kind: 'database' }])
  })

  it('compares no facts that are not known, or that the role may not read, now or then', () => {
    const blind = { ...BOUND, origin: null, apiKeyMac: null, systemIdentifier: null, timeline: null }
    expect(differencesOf(blind, BOUND)).toEqual([])
    expect(differencesOf(BOUND, blind)).toEqual([])
  })
})
