import { expect, test } from 'vitest'
import { makeSample } from '../../src/cli/sample.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'

test('keeps as many as it may, all of them where they are fewer, and makes only those that it keeps', () => {
  const sample = makeSample<number>(3, () => 0.999_999)
  const made: number[] = []
  for (let n = 0; n < 100; n++)
    sample.add(() => {
      made.push(n)
      return n
    })
  expect(sample.all()).toEqual([0, 1, 2])
  expect(made).toEqual([0, 1, 2])
  const few = makeSample<string>(3, Math.random)
  few.add(() => 'a')
  expect(few.all()).toEqual(['a'])
})

test('each is as likely as any other', () => {
  const hits = new Array<number>(20).fill(0)
  const rounds = 4000
  const random = seededRandom(7)
  for (let round = 0; round < rounds; round++) {
    const sample = makeSample<number>(5, random)
    for (let n = 0; n < 20; n++) sample.add(() => n)
    for (const n of sample.all()) hits[n] = (hits[n] ?? 0) + 1
  }
  for (const hit of hits) expect(Math.abs(hit / rounds - 0.25)).toBeLessThan(0.05)
})

test('of none, none is kept', () => {
  const sample = makeSample<number>(0, Math.random)
  sample.add(() => 1)
  expect(sample.all()).toEqual([])
})
