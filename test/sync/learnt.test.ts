// Forms of the service's own: what comes back in another form after each acknowledgement is written no more.
import { expect, test } from 'vitest'
import type { Memory } from '../../src/sync/memory.ts'
import { play, SETTLED, UNKNOWN, user } from '../support/turn-scene.ts'

type Shown = { readonly user: Readonly<Record<string, unknown>> }
const FORM: Shown = { user: { status: 2, email: 'a at x.es' } }
type Then = { readonly shown?: Shown; readonly email?: string; readonly writes: boolean }

/** A claim that looks first, and writes or not; what it remembers at its end is where the next one begins. */
function look(memory: Memory, { shown = FORM, email = 'a@x.es', writes }: Then): Memory {
  const unknown = { ...memory, remote: 'unknown', looked: false } as const
  const { end, turn } = play(user(2, { email }), unknown, writes ? [shown, 200] : [shown])
  expect(end).toEqual(SETTLED)
  return turn.memory
}

function learn(): Memory {
  const shownOnce = look(UNKNOWN, { writes: true })
  const back = look(shownOnce, { writes: true })
  return look(back, { writes: false })
}

test('a form that has come back after two writes is the service’s own, and is not written a third time', () => {
  look(learn(), { writes: false })
})

test('what somebody writes again and again is no form of the service, once a look has shown the value itself', () => {
  const itself: Shown = { user: { status: 2, email: 'a@x.es' } }
  let memory: Memory = look(UNKNOWN, { writes: true })
  for (let n = 0; n < 5; n++) {
    memory = look(memory, { shown: itself, writes: false })
    memory = look(memory, { writes: true })
  }
})

test('nor is what stays as it was after writes that were answered neither yes nor no', () => {
  let memory: Memory = UNKNOWN
  for (let n = 0; n < 4; n++) {
    const { turn } = play(user(2, { email: 'a@x.es' }), { ...memory, remote: 'unknown', looked: false }, [
      FORM,
      'null',
    ])
    memory = turn.memory
  }
  look(memory, { writes: true })
})

test.each<[what: string, Then]>([
  ['another form', { writes: true, shown: { user: { status: 2, email: 'A AT X' } } }],
  ['another value', { writes: true, email: 'b@x.es' }],
])('%s is none of it', (_, then) => {
  look(learn(), then)
})
