// Which looks count in the share of drift, and which owe a repair.
import { expect, test } from 'vitest'
import type { Looked, Open, Step } from '../../src/drift/findings.ts'
import { letterOf, type Repair, repairFor } from '../../src/drift/repairs.ts'
import type { DriftKind } from '../../src/drift/words.ts'

const OPEN: Open = {
  ...{ id: '7', kind: 'differs', fields: ['email'], pending: [], cause: 'edited-at-service', access: null },
  ...{ looks: 2, nextInMs: null, forms: {}, repairs: 0, ofTurn: false, released: false },
  ...{ writtenSinceRepair: false, writtenSinceSeen: false, desired: 'd' },
}
const led = (how: 'confirm' | 'keep', kind: DriftKind = 'differs'): Step => ({
  ...{ do: how, learnt: {} },
  told: { kind, fields: ['email'], pending: [], cause: 'edited-at-service', access: null, forms: {} },
})
const TURN = { again: false }
const AGAIN = { again: true }
const FEW = { over: false }
const MASS = { over: true }
const OF_TURN = { ofTurn: true }

test.each<[what: string, Repair, Step, typeof TURN, typeof FEW | null, Partial<Open>?]>([
  ['found by a second look', 'now', led('confirm'), AGAIN, FEW, OF_TURN],
  ['found by a second look, one of a mass', 'waits', led('confirm'), AGAIN, MASS, OF_TURN],
  ['found by others, and looked at for its turn', 'now', led('keep'), AGAIN, FEW, OF_TURN],
  ['one of a mass that is released', 'now', led('keep'), AGAIN, MASS, { released: true }],
  ['at its turn', 'now', led('keep'), TURN, FEW],
  ['at its turn, one of a mass', 'waits', led('keep'), TURN, MASS],
  ['between two turns', 'none', led('keep'), AGAIN, FEW],
  ['between two turns, and repaired before', 'now', led('keep'), AGAIN, FEW, { repairs: 1 }],
  ['repaired often enough', 'none', led('keep'), TURN, FEW, { repairs: 3 }],
  ['suspected by a run, and found by a worker', 'none', led('confirm'), AGAIN, FEW],
  ['suspected by a run, and found at its turn', 'now', led('confirm'), TURN, FEW],
  ['a trial that ended', 'none', led('keep', 'trial-ended'), TURN, FEW],
  ['what cannot be read', 'none', led('keep', 'unreadable'), TURN, FEW, { released: true }],
  ['right again', 'none', { do: 'resolve', how: 'by-itself', learnt: {} }, TURN, FEW],
  ['a share that nobody has asked for', 'none', led('keep'), TURN, null],
])('%s: %s', (_, repair, step, looker, share, open = {}) => {
  expect(repairFor({ step, open: { ...OPEN, ...open } }, { ...looker, share })).toBe(repair)
})

const differs: Looked = {
  ...{ kind: 'seen', seen: {}, desired: 'd' },
  compared: { kind: 'differs', fields: ['email'], cause: 'edited-at-service', access: null },
}
const agrees: Looked = { ...differs, compared: { kind: 'agrees' } }
const ended = (how: 'by-itself' | 'normalised'): Step => ({ do: 'resolve', how, learnt: {} })

test.each<[what: string, letter: string, Step, Looked, typeof TURN, Partial<Open>?]>([
  ['who agrees', 'a', { do: 'nothing' }, agrees, TURN],
  ['who agrees again, also between two turns', 'a', ended('by-itself'), agrees, AGAIN],
  ["the service's own form", 'a', ended('normalised'), differs, TURN],
  ['a trial that ended', 'a', led('keep', 'trial-ended'), differs, TURN],
  ['found by a second look', 'd', led('confirm'), differs, AGAIN, OF_TURN],
  ['still found at its turn', 'd', led('keep'), differs, TURN],
  ['still found between two turns', '', led('keep'), differs, AGAIN],
  ['suspected by a run, and found by a worker', '', led('confirm'), differs, AGAIN],
  ['who could not be looked at', '', { do: 'postpone' }, { kind: 'left', why: 'owed' }, TURN],
])('%s counts as "%s"', (_, letter, step, looked, looker, open = {}) => {
  const stepped = { step, looked, moved: false, open: { ...OPEN, ...open } }
  expect(letterOf(stepped, looker)).toBe(letter)
  expect(letterOf({ ...stepped, moved: true }, looker)).toBe('')
})
