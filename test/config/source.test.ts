import { describe, expect, it } from 'vitest'
import { callPure, functionSource, NotListed, valueMapSource } from '../../src/config/source.ts'

describe('valueMapSource', () => {
  const values = { free: 0, premium: 2, '1': 4, true: 2 }

  it.each<[unknown, unknown]>([
    ['free', 0],
    ['premium   ', 2],
    [1, 4],
    [1n, 4],
    ['1', 4],
    [true, 2],
    [null, null],
    [undefined, null],
  ])('%s is looked up by its text: %s', (given, target) => {
    expect(valueMapSource({ column: 'plan', values }).value({ plan: given })).toBe(target)
  })

  it.each(['gold', '', 'Free', 'toString', '__proto__', false, 2, { free: 1 }, ['free']])(
    'does not list %j',
    (given) => {
      const answer = valueMapSource({ column: 'plan', values: { free: 0 } }).value({ plan: given })
      expect(answer).toEqual(new NotListed(['free']))
    },
  )

  it.each<[string, object, unknown, unknown]>([
    ['otherwise stands for what is not listed', { otherwise: 0 }, 'gold', 0],
    ['otherwise stands for an empty column', { otherwise: 0 }, null, 0],
    ['whenNull stands for an empty column', { whenNull: 4 }, null, 4],
    ['whenNull goes before otherwise', { whenNull: 4, otherwise: 0 }, null, 4],
    ['whenNull may be nothing', { whenNull: null, otherwise: 0 }, null, null],
    ['otherwise may be nothing', { otherwise: null }, 'gold', null],
  ])('%s', (_, extra, given, answer) => {
    expect(valueMapSource({ column: 'plan', values, ...extra }).value({ plan: given })).toBe(answer)
  })

  it('leaves whatever whenNull does not cover unlisted', () => {
    const { value } = valueMapSource({ column: 'plan', values: { free: 0 }, whenNull: 0 })
    expect(value({ plan: 'gold' })).toBeInstanceOf(NotListed)
  })
})

describe('functionSource', () => {
  const row = { plan: 'premium', zona: null, secreto: 'x' }

  it('gives the function its columns and nothing else', () => {
    const { value } = functionSource(['plan', 'zona'], (columns) => JSON.stringify({ ...columns }))
    expect(value(row)).toBe('{"plan":"premium","zona":null}')
  })

  it('fails when the function reads a column that it does not name', () => {
    const { value } = functionSource(['plan'], ({ plan, secreto }) => `${plan}${secreto}`)
    expect(() => value(row)).toThrow('does not name')
  })

  it('fails when the function changes what it was given', () => {
    const { value } = functionSource(['plan'], (columns) => {
      Object.assign(columns, { plan: 'free' })
    })
    expect(() => value(row)).toThrow()
  })

  it.each<[string, () => unknown]>([
    ['a promise', () => Promise.resolve('x')],
    ['a promise that fails', () => Promise.reject(new Error('no'))],
    // biome-ignore lint/suspicious/noThenProperty: it is what the test is about
    ['something to wait for', () => ({ then: () => {} })],
  ])('fails when the function answers with %s', (_, call) => {
    expect(() => callPure(call, [], {})).toThrow('promise')
  })
})
