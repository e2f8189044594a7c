// Forms of the service's own: what comes back in another form after each acknowledgement is written no more.
import { expect, test } from 'vitest'
import type { Memory } from '../../src/sync/memory.ts'
import { play, SETTLED, UNKNOWN, user } from '../support/claim-scene.ts'

type Shown = { readonly user: Readonly<Record<string, unknown>> }
const FORM: Shown = { user: { status: 2, email: 'a at x.es' } }
type Then = { readonly shown?: Shown; readonly email?: string; readonly writes: boolean }

/** A claim that lookups first, and writes or not; what it remembers at its end is where the next one begins. */
function claimOnce(memory: Memory, { shown = FORM, email = 'a@x.es', writes }: Then): Memory {
  const unknown = { ...memory, remote: 'unknown', lookedUp: false } as const
  const { end, after } = play(user(2, { email }), unknown, writes ? [shown, 200] : [shown])
  expect(end).toEqual(SETTLED)
  return after.memory
}

function learn(): Memory {
  const shownOnce = claimOnce(UNKNOWN, { writes: true })
  const back = claimOnce(shownOnce, { writes: true })
  return claimOnce(back, { writes: false })
}

test('a form that has come back after two writes is the service’s own, and is not written a third time', () => {
  claimOnce(learn(), { writes: false })
})

test('what another system writes again and again is no form of the service, once a lookup has shown the value itself', () => {
  const itself: Shown = { user: { status: 2, email: 'a@x.es' } }
  let memory: Memory = claimOnce(UNKNOWN, { writes: true })
  for (let n = 0; n < 5; n++) {
    memory = claimOnce(memory, { shown: itself, writes: false })
    memory = claimOnce(memory, { writes: true })
  }
})

test('nor is what stays as it was after writes that were answered neither yes nor no', () => {
  let memory: Memory = UNKNOWN
  for (let n = 0; n < 4; n++) {
    const { after } = play(user(2, { email: 'a@x.es' }), { ...memory, remote: 'unknown', lookedUp: false }, [
      FORM,
      'null',
    ])
    memory = after.memory
  }
  claimOnce(memory, { writes: true })
})

test.each<[what: string, Then]>([
  ['another form', { writes: true, shown: { user: { status: 2, email: 'A AT X' } } }],
  ['another value', { writes: true, email: 'b@x.es' }],
])('%s is none of it', (_, then) => {
  claimOnce(learn(), then)
})
