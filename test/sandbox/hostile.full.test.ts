import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../src/sandbox/chat/professionals.ts'
import { runs } from '../support/size.ts'
import { BODIES, hostileJson, READS, spoilt } from './hostile-input.ts'
import { sandboxOfFile } from './talk.ts'

const BODY_LIMIT = 64 * 1024
const professionalId = PEOPLE[0]?.professional_id ?? ''

const sandbox = sandboxOfFile()
let headers: Record<string, string>
let before: unknown
beforeAll(async () => {
  sandbox.users.set('kept', { status: 2, email: 'kept@correo.example' })
  sandbox.users.set('u', { status: 2 })
  for (const userId of ['kept', 'u']) {
    const content = { type: 'text' as const, text: 'hello' }
    const drafts = Array.from({ length: 30 }, () => ({ from: 'professional' as const, content }))
    sandbox.conversations.add({ userId, professionalId }, drafts)
  }
  const token = await sandbox.issueToken('u')
  headers = { 'api-key': 'api', 'secret-key': 'secret', authorization: `Bearer ${token}` }
  before = held()
})
afterEach(async () => {
  reset()
  expect(held()).toEqual(before)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  for (const path of READS)
    expect((await fetch(sandbox.url + path, { headers })).status, path).toBeLessThan(300)
})

function held(): unknown {
  const room = sandbox.conversations.between({ userId: 'kept', professionalId })
  return structuredClone([sandbox.users.get('kept'), room])
}

/** Takes back what control endpoints were asked for in good form. */
function reset(): void {
  sandbox.faults.clear()
  sandbox.contract.set({})
  sandbox.clock.clear()
  sandbox.professionals.clear()
  sandbox.users.set('u', { status: 2 })
}

async function send(endpoint: string, body: string, contentType = 'application/json'): Promise<number> {
  const [method = '', path = ''] = endpoint.split(' ')
  const sent = { method, headers: { ...headers, 'content-type': contentType }, body }
  const response = await fetch(sandbox.url + path, sent).catch((error: unknown) => {
    // A body that is refused for its size may be cut off while it is being sent.
    if (Buffer.byteLength(body) > BODY_LIMIT) return null
    throw error
  })
  await response?.text()
  return response?.status ?? 413
}

describe('any JSON', () => {
  it.each(BODIES)('%s takes such a body', async (endpoint, sample) => {
    expect([200, 201, 404, 409]).toContain(await send(endpoint, JSON.stringify(sample)))
    // 404 and 409 are about who is there, not about the endpoint.
    sandbox.users.delete('new')
  })

  it.each(BODIES)('%s survives whatever it is sent', async (endpoint, sample) => {
    const types = fc.constantFrom(...['application/json', 'application/json', 'text/plain', 'a/b;;;='])
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoilt(sample), hostileJson), types, async (body, type) => {
        expect(await send(endpoint, body, type)).toBeLessThan(500)
        reset()
      }),
      { numRuns: runs(60) },
    )
  })
})
