import { describe, expect, it, onTestFinished } from 'vitest'
import { INTERFACE_VERSION, makeOpenApi, OPENAPI_PATH } from '../../../src/sandbox/openapi.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'

describe('GET /openapi.json', () => {
  it('is the document with the address under which it was asked for as its server, for anybody, and not in the journal', async () => {
    const sandbox = await startSandbox({ apiKey: 'api', secretKey: 'secret' })
    onTestFinished(() => sandbox.stop())
    const answer = await fetch(sandbox.url + OPENAPI_PATH)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await answer.json()).toEqual(makeOpenApi({ version: INTERFACE_VERSION, serverUrl: sandbox.url }))
    expect(sandbox.journal.list()).toEqual([])
  })
})
