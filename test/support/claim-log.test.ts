import { expect, test } from 'vitest'
import { type Claimed, type LoggedChange, lapsesOf, twoLive } from './claim-log.ts'

const idle: Claimed = { token: null, callToken: null, dueAt: null }
const leased = (token: string, dueAt: number): Claimed => ({ token, callToken: null, dueAt })
const claimed = (token: string, dueAt: number): Claimed => ({ token, callToken: token, dueAt })

/** The states that a row went through, one after the other. */
function found(...states: readonly (readonly [at: number, state: Claimed])[]): string[] {
  const changes = states.slice(1).map(([at, after], index) => ({
    id: '1',
    at,
    before: states[index]?.[1] ?? idle,
    after,
  }))
  return twoLive(changes).map(({ what }) => what)
}

test('claims that end, and claims whose lifetime has passed, are not two', () => {
  expect(
    found([0, idle], [1, leased('a', 50)], [2, claimed('a', 100)], [9, idle], [10, leased('b', 60)]),
  ).toEqual([])
  expect(
    found([0, claimed('a', 100)], [101, leased('b', 150)], [102, claimed('b', 200)], [110, idle]),
  ).toEqual([])
  expect(found([0, claimed('a', 100)], [5, { ...idle, dueAt: 20 }], [21, leased('b', 70)])).toEqual([])
})

test('a lease or a claim while another one is live is found', () => {
  expect(found([0, claimed('a', 100)], [99, leased('b', 150)])).toEqual(['taken away'])
  expect(found([0, claimed('a', 100)], [101, claimed('b', 150)])).toEqual(['claimed over another'])
})

test('a claim whose end moves nearer, and a token that claims again, are found', () => {
  expect(found([0, claimed('a', 100)], [5, claimed('a', 90)])).toEqual(['cut short'])
  expect(found([0, leased('a', 50)], [1, claimed('a', 100)], [2, idle], [3, claimed('a', 200)])).toEqual([
    'token used twice',
  ])
})

test('a claim that was leased anew without an ending is a lapse, and its late ending one more; nothing else is', () => {
  const change = (at: number, before: Claimed, after: Claimed, lateEnding = false): LoggedChange => ({
    id: '1',
    key: 'c',
    at,
    before,
    after,
    lateEnding,
  })
  const lapse = change(101, claimed('a', 100), leased('b', 150))
  const late = change(130, leased('b', 150), leased('b', 150), true)
  expect(lapsesOf([change(90, claimed('a', 100), idle), change(95, idle, leased('b', 150))])).toEqual([])
  // One whose lease has passed before it was claimed made no call.
  expect(lapsesOf([change(101, leased('a', 100), leased('b', 150))])).toEqual([])
  expect(lapsesOf([late])).toEqual([])
  expect(lapsesOf([lapse, late, late])).toEqual([
    { at: 101, why: 'lapsed' },
    { at: 130, why: 'late ending' },
  ])
  const meanwhile = change(130, claimed('b', 200), claimed('b', 200), true)
  const ended = change(140, claimed('b', 200), idle)
  expect(lapsesOf([lapse, meanwhile, ended, change(150, claimed('c', 300), idle)])).toEqual([
    { at: 101, why: 'lapsed' },
    { at: 130, why: 'late ending' },
    { at: 140, why: 'late ending' },
  ])
})
