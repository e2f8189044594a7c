import { describe, expect, it } from 'vitest'
import { contract, DIMENSIONS, DOCUMENTED, takes } from '../../../src/sandbox/contract/contract.ts'
import { PRESETS } from '../../../src/sandbox/contract/presets.ts'
import { formatContract, parseContract } from '../../../src/sandbox/contract/text.ts'

const ALL = Object.entries(PRESETS)

describe('the presets', () => {
  it.each(ALL)('%s is a contract, and its name a word of the text form', (name, preset) => {
    expect(parseContract(name)).toEqual(preset.contract)
    expect(contract.parse(preset.contract)).toMatchObject(preset.contract)
    expect(preset.about).toMatch(/^[A-Z].+\.$/)
  })

  it('differ from each other', () => {
    const texts = ALL.map(([, preset]) => formatContract(contract.parse(preset.contract)))
    expect(new Set(texts).size).toBe(ALL.length)
    expect(texts[0]).toBe('')
  })

  it.each(DIMENSIONS)('together take every value of %s', (dimension) => {
    const taken = new Set(ALL.map(([, preset]) => contract.parse(preset.contract)[dimension]))
    const what = takes(dimension)
    if (what.kind === 'choice') expect([...taken].sort()).toEqual([...what.values].sort())
    // How long the trial is changes nothing but when it ends.
    else if (dimension !== 'trialMs') expect([...taken]).not.toEqual([DOCUMENTED[dimension]])
  })

  it('that have a name of one thing change one or two dimensions, so that they show what it takes', () => {
    const characters = new Set(['documented', 'terse', 'legacy', 'eventual'])
    for (const [name, preset] of ALL) {
      if (!characters.has(name)) expect(Object.keys(preset.contract).length, name).toBeLessThanOrEqual(2)
    }
  })
})
