import { describe, expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'
import { expectCallError, makeClient, pairOfFile, startPair } from './pair.ts'

const pair = pairOfFile()

describe('stopping', () => {
  it('an abort before the call sends nothing', async () => {
    await expectCallError(pair.client.retrieveUser('u1', { signal: AbortSignal.abort() }), 'aborted', 'no')
    expect(pair.sandbox.journal.list()).toEqual([])
  })

  it('an abort during the call may have reached the service', async () => {
    const { client, sandbox } = pair
    sandbox.users.set('u1', { status: 2 })
    sandbox.faults.set([{ action: { kind: 'hang-after' } }])
    const controller = new AbortController()
    const call = expectCallError(
      client.updateUser('u1', { status: 0 }, { signal: controller.signal }),
      'aborted',
      'maybe',
    )
    await expect.poll(() => sandbox.users.get('u1')?.status).toBe(0)
    controller.abort(new Error('the reason of the caller'))
    await call
  })

  it('leaves no listener on a signal that lives long', async () => {
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    await Promise.all(Array.from({ length: 50 }, () => pair.client.retrieveUser('u1', { signal })))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  it('close ends running calls, and later ones are not sent', async () => {
    await using other = await startPair({
      sandbox: { faults: [{ action: { kind: 'hang-after' } }] },
      client: { concurrency: 1 },
    })
    const running = expectCallError(other.client.createUser({ user_id: 'u1', status: 2 }), 'aborted', 'maybe')
    const waiting = expectCallError(other.client.createUser({ user_id: 'u2', status: 2 }), 'aborted', 'no')
    await expect.poll(() => other.sandbox.users.size).toBe(1)
    await other.client.close()
    await Promise.all([running, waiting])
    await expectCallError(other.client.retrieveUser('u1'), 'aborted', 'no')
    expect(other.sandbox.journal.list()).toHaveLength(1)
  })
})

it('a hundred parallel calls are made over as many sockets as the concurrency, all reused', async () => {
  const ports = new Set<unknown>()
  await using server = await startChatServer((_url, { socket }) => {
    ports.add(socket.remotePort)
    return { body: {} }
  })
  const client = makeClient({ origin: server.url, concurrency: 7 })
  const replies = await Promise.all(Array.from({ length: 100 }, () => client.retrieveUser('u1')))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(ports.size).toBe(7)
  await client.close()
})
