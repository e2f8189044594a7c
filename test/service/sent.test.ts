import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { KEYS, pairOfFile } from './pair.ts'

const pair = pairOfFile()

describe('secrets', () => {
  it('no error shows a header, a body or a path, however it is printed', async () => {
    const { sandbox, client } = pair
    sandbox.faults.set([{ action: { kind: 'drop-before' } }])
    const body = { user_id: 'user-of-the-test', status: 2, email: 'ana@correo.example' } as const
    const thrown = [
      await client.createUser(body).catch((error: unknown) => error),
      await client.updateUser(body.user_id, body).catch((error: unknown) => error),
    ]
    for (const error of thrown) {
      expect(error).toBeInstanceOf(Error)
      const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error)
      for (const secret of [KEYS.apiKey, KEYS.secretKey, body.email, body.user_id]) {
        expect(shown).not.toContain(secret)
      }
    }
  })

  it('the journal holds no credentials', async () => {
    await pair.client.createUser({ user_id: 'u1', status: 2 })
    const journal = JSON.stringify(pair.sandbox.journal.list())
    expect(journal).not.toContain(KEYS.apiKey)
    expect(journal).not.toContain(KEYS.secretKey)
  })
})
