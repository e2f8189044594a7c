import { expect, test } from 'vitest'
import { claimLastsMs, timeNeededMs } from '../../src/sync/time-needed.ts'
import { configOf } from '../support/pure-claims.ts'

const { service, timing } = configOf()

test('nobody else looks before the calls of a claim are over and what the last of them did is shown', () => {
  expect(claimLastsMs({ timing: { ...timing, lifetimeMs: 30_000, consistencyDelayMs: 5000 } })).toBe(35_000)
})

test('a call needs its whole timeout and a second to spare, or half of what a lifetime has beyond two calls', () => {
  const of = (timeoutMs: number, lifetimeMs: number) =>
    timeNeededMs({ service: { ...service, timeoutMs }, timing: { ...timing, lifetimeMs } })
  expect(of(10_000, 30_000)).toBe(11_000)
  expect(of(300, 900)).toBe(450)
})
