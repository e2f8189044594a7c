import { describe, expect, it } from 'vitest'
import {
  type ContractInput,
  contract,
  DIMENSIONS,
  DOCUMENTED,
  formatContract,
  listContracts,
  PRESETS,
  parseContract,
  renderContracts,
} from '../../../src/sandbox/contract/contract.ts'
import { detailsOf } from '../../support/details.ts'

describe('parseContract', () => {
  it.each<[string, ContractInput]>([
    ['', {}],
    ['createStatus=204', { createStatus: 204 }],
    ['  duplicate=upsert   unknownUser=null ', { duplicate: 'upsert', unknownUser: 'null' }],
    ['trialMs=14d', { trialMs: 1_209_600_000 }],
    ['forbidden=a=b', { forbidden: 'a=b' }],
    ['eventual createStatus=200', { ...PRESETS.eventual.contract, createStatus: 200 }],
    ['createStatus=200 eventual', PRESETS.eventual.contract],
    ['legacy documented nulls=absent', { nulls: 'absent' }],
  ])('%s', (text, expected) => expect(parseContract(text)).toEqual(contract.parse(expected)))

  it.each([
    ['legasy', 'legasy: not known; `rollcall sandbox --contracts` lists the words'],
    ['__proto__=1', '__proto__: not known'],
    ['createStatus', 'createStatus: '],
    ['createStatus=205', '201, 200, 202, 204'],
    ['legacy=3', 'legacy: not known'],
    ['visibleAfterMs=1h', 'visibleAfterMs: expected 0 to 600000 milliseconds (at most 10m)'],
  ])('"%s" is refused', (text, reported) => {
    const details = [expect.stringContaining(reported)]
    expect(() => parseContract(text)).toThrow(expect.objectContaining({ code: 'USAGE', details }))
  })

  it('tells everything that is wrong at once', () => {
    const parse = () => parseContract('lagging nulls=none legacie trialMs=soon')
    expect(detailsOf('USAGE', parse)).toHaveLength(3)
  })
})

it('says nothing of what is as documented, and is read back as the same contract', () => {
  expect(formatContract(DOCUMENTED)).toBe('')
  for (const preset of Object.values(PRESETS)) {
    const live = contract.parse({ ...preset.contract, forbidden: 'a', trialMs: 120_000 })
    expect(parseContract(formatContract(live))).toEqual(live)
  }
})

it('the list for a person has every preset, and every dimension with what it takes', () => {
  const list = listContracts()
  const text = renderContracts(list).join('\n')
  expect(list.dimensions.map(({ name }) => name)).toEqual(DIMENSIONS)
  for (const [name, { about }] of Object.entries(PRESETS)) {
    expect(text).toContain(`  ${name} `)
    expect(text).toContain(about)
  }
  expect(text).toContain('createStatus=201|200|202|204 (201)')
  expect(text).toContain('trialMs=DURATION')
})
