import { expect, it } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { expectCallError, makeClient, pairOfFile } from './pair.ts'

type Action = FaultInput['action']

const pair = pairOfFile()

const patch = () => pair.client.updateUser('u1', { status: 0 })
const strike = (action: Action, times?: number) => {
  pair.sandbox.users.set('u1', { status: 2 })
  pair.sandbox.faults.set([times === undefined ? { action } : { times, action }])
}
const held = () => pair.sandbox.users.get('u1')?.status
const lastEntry = () => pair.sandbox.journal.list().at(-1)

it.each<[string, Action, 'connection-lost' | 'timeout', number, object]>([
  ['cut before it is stored', { kind: 'drop-before' }, 'connection-lost', 2, { status: null, stored: false }],
  ['cut after it is stored', { kind: 'drop-after' }, 'connection-lost', 0, { status: null, stored: true }],
  ['stored and never answered', { kind: 'hang-after' }, 'timeout', 0, { status: null, stored: true }],
  [
    'answered too slowly',
    { kind: 'slow-body', durationMs: 600_000 },
    'timeout',
    0,
    { status: 200, stored: true },
  ],
])('a call that is %s may have reached the service', async (_name, action, kind, status, entry) => {
  strike(action)
  const timeoutMs = kind === 'timeout' ? 1000 : 10_000
  const client = makeClient({ origin: pair.sandbox.url, timeoutMs })
  await expectCallError(client.updateUser('u1', { status: 0 }), kind, 'maybe')
  expect(held()).toBe(status)
  expect(lastEntry()).toMatchObject({ ...entry, faults: [action.kind] })
  await client.close()
})

it('refuse: the call that is struck may have been carried out, the next was surely not sent', async () => {
  strike({ kind: 'refuse', durationMs: 2000 }, 1)
  await expectCallError(patch(), 'connection-lost', 'maybe')
  await expectCallError(patch(), 'refused', 'no')
  expect(pair.sandbox.journal.list()).toHaveLength(1)
  expect(held()).toBe(2)
  await expect.poll(async () => (await patch().catch(() => null))?.status).toBe(200)
})

it('a late request is stored although its caller gave up', async () => {
  strike({ kind: 'latency', minMs: 2000, maxMs: 2000 })
  const hasty = makeClient({ origin: pair.sandbox.url, timeoutMs: 1000 })
  await expectCallError(hasty.updateUser('u1', { status: 0 }), 'timeout', 'maybe')
  expect(held()).toBe(2)
  await expect.poll(held).toBe(0)
  expect(lastEntry()).toMatchObject({ status: null, stored: true })
  await hasty.close()
})

it.each([204, 302, 408, 409, 413, 429, 500, 503])(
  'the status %i arrives as a reply, once, and nothing is followed or sent again',
  async (status) => {
    strike({ kind: 'status', status })
    expect((await patch()).status).toBe(status)
    expect((await pair.client.retrieveUser('u1')).status).toBe(status)
    expect((await pair.client.replaceUser('u1', { status: 0 })).status).toBe(status)
    expect(pair.sandbox.journal.list()).toHaveLength(3)
    expect(held()).toBe(2)
  },
)

it('a 503 although the change was stored', async () => {
  strike({ kind: 'status', status: 503, stored: true })
  expect((await patch()).status).toBe(503)
  expect(held()).toBe(0)
  expect(lastEntry()).toMatchObject({ status: 503, stored: true })
})
