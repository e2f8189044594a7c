import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { KEYS } from './talk.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox(KEYS)
})
afterAll(() => sandbox.stop())

describe('what it is started with', () => {
  it('professionals, contract and the machine’s clock are the caller’s where they are given', async () => {
    const other = await startSandbox({
      ...KEYS,
      professionals: [],
      contract: { createStatus: 200 },
      now: () => 1_000_000,
    })
    expect(other.professionals.all()).toEqual([])
    expect(other.contract.now.createStatus).toBe(200)
    expect(other.clock.now()).toBe(1_000_000)
    await fetch(other.url)
    expect(other.journal.list()).toMatchObject([{ arrivedAt: 1_000_000, answeredAt: 1_000_000 }])
    await other.stop()
  })

  it('malformed professionals or contracts are refused at once', async () => {
    const twice = sandbox.professionals.all().slice(0, 1)
    await expect(startSandbox({ ...KEYS, professionals: [...twice, ...twice] })).rejects.toThrow(
      'used before',
    )
    await expect(startSandbox({ ...KEYS, contract: { trialMs: 0 } })).rejects.toThrow('trialMs')
  })
})
