import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RollcallError } from '../../../src/model/errors.ts'
import {
  type Contract,
  type ContractInput,
  choicesOf,
  contract,
  DIMENSIONS,
  DOCUMENTED,
} from '../../../src/sandbox/contract/contract.ts'
import { PRESETS } from '../../../src/sandbox/contract/presets.ts'
import {
  formatContract,
  kebab,
  listContracts,
  parseContract,
  renderContracts,
} from '../../../src/sandbox/contract/text.ts'

const anyContract: fc.Arbitrary<Contract> = fc
  .record(
    Object.fromEntries(
      DIMENSIONS.map((dimension): [string, fc.Arbitrary<unknown>] => {
        const choices = choicesOf(dimension)
        if (choices !== null) return [dimension, fc.constantFrom(...choices)]
        if (dimension === 'forbidden')
          return [dimension, fc.option(fc.string({ minLength: 1, unit: 'binary' }))]
        return [dimension, fc.integer({ min: 1, max: 600_000 })]
      }),
    ),
  )
  .map((value) => contract.parse(value))

describe('parseContract', () => {
  it.each<[string, ContractInput]>([
    ['create-status=204', { createStatus: 204 }],
    ['  duplicate=upsert   unknown-user=null ', { duplicate: 'upsert', unknownUser: 'null' }],
    ['duplicate=422', { duplicate: 422 }],
    ['visible-after-ms=250', { visibleAfterMs: 250 }],
    ['visible-after-ms=250ms', { visibleAfterMs: 250 }],
    ['visible-after-ms=2s', { visibleAfterMs: 2000 }],
    ['trial-ms=5m', { trialMs: 300_000 }],
    ['trial-ms=3h', { trialMs: 10_800_000 }],
    ['trial-ms=14d', { trialMs: 1_209_600_000 }],
    ['forbidden=a%20b', { forbidden: 'a b' }],
    ['forbidden=a=b', { forbidden: 'a=b' }],
    ['forbidden=x forbidden=', { forbidden: null }],
    ['create-202-empty create-status=200', { createStatus: 200, createBody: 'none' }],
    ['create-status=200 create-202-empty', { createStatus: 202, createBody: 'none' }],
    ['lagging create-ok', { visibleAfterMs: 2000, createBody: 'ok' }],
    ['legacy documented nulls=absent', { ...DOCUMENTED, nulls: 'absent' }],
  ])('%s', (text, expected) => {
    expect(parseContract(text)).toEqual(expected)
  })

  it.each([
    ['', 'presets and dimension=value'],
    ['creat-204', 'did you mean create-204?'],
    ['createStatus=204', '"createStatus": not known; did you mean create-status?'],
    ['shoe-size=43', '"shoe-size": not known; one of create-status'],
    ['something-else', 'not known; one of documented'],
    ['constructor', 'not known'],
    ['__proto__=1', 'not known'],
    ['create-status', '"create-status": expected 200, 201, 202, 204'],
    ['create-status=', '"create-status": expected 200, 201, 202, 204'],
    ['create-status=205', '"create-status": expected 200, 201, 202, 204'],
    ['legacy=3', '"legacy": a preset takes no value'],
    ['visible-after-ms=2w', 'expected 0ms to 10m: milliseconds, or like 500ms, 2s, 5m, 3h, 14d'],
    ['visible-after-ms=1h', 'expected 0ms to 10m'],
    ['visible-after-ms=-1', 'expected 0ms to 10m'],
    ['trial-ms=0', 'expected 1ms to 3650d'],
    ['trial-ms=1.5', 'expected 1ms to 3650d'],
    ['trial-ms=999999999999999d', 'expected 1ms to 3650d'],
    ['forbidden=%zz', 'percent-encoded'],
  ])('"%s" is refused', (text, told) => {
    expect(() => parseContract(text)).toThrow(RollcallError)
    try {
      parseContract(text)
    } catch (error) {
      expect(error).toMatchObject({ code: 'USAGE', details: [expect.stringContaining(told)] })
    }
  })

  it('tells everything that is wrong at once', () => {
    try {
      parseContract('lagging nulls=none legacie trial-ms=soon')
      expect.unreachable()
    } catch (error) {
      expect((error as RollcallError).details.map((line) => line.split(':')[0])).toEqual([
        'contract "nulls"',
        'contract "legacie"',
        'contract "trial-ms"',
      ])
    }
  })

  it('throws nothing but RollcallErrors, whatever the text', () => {
    const word = fc.constantFrom(
      ...Object.keys(PRESETS),
      ...DIMENSIONS.flatMap((each) => [kebab(each), `${kebab(each)}=`, `${kebab(each)}=4`]),
      '=',
      '%',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(word, fc.string())).map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(text, (any) => {
        try {
          contract.parse(parseContract(any))
        } catch (error) {
          expect(error).toBeInstanceOf(RollcallError)
        }
      }),
    )
  })
})

describe('formatContract', () => {
  it('says nothing of what is as documented', () => {
    expect(formatContract(DOCUMENTED)).toBe('')
    const changed = contract.parse({
      createStatus: 204,
      visibleAfterMs: 1500,
      forbidden: 'a b',
      trialMs: 120_000,
    })
    expect(formatContract(changed)).toBe(
      'create-status=204 visible-after-ms=1500ms forbidden=a%20b trial-ms=2m',
    )
  })

  it('is read back as the same contract', () => {
    fc.assert(
      fc.property(anyContract, (any) => {
        const text = formatContract(any)
        expect(text === '' ? DOCUMENTED : contract.parse(parseContract(text))).toEqual(any)
      }),
    )
  })
})

describe('the list for a person', () => {
  it('has every preset with its sentence, and every dimension with what it takes', () => {
    const list = listContracts()
    const text = renderContracts(list).join('\n')
    expect(list.presets.map(({ name }) => name)).toEqual(Object.keys(PRESETS))
    expect(list.dimensions.map(({ name }) => name)).toEqual(
      Object.keys(contract.shape).map((each) => kebab(each as never)),
    )
    for (const { about } of Object.values(PRESETS)) expect(text).toContain(about)
    for (const dimension of Object.keys(contract.shape))
      expect(text).toContain(`${kebab(dimension as never)}=`)
    expect(text).toContain('create-status=200|201|202|204 (201)')
    expect(text).toContain('trial-ms=DURATION (14d)')
  })
})
