import { describe, expect, it } from 'vitest'
import { contract } from '../../../src/sandbox/contract/contract.ts'
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
})
