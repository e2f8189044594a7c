import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeCertificate } from './certificate.ts'
import { expectCallError, makeClient } from './pair.ts'

const certificate = makeCertificate()
const trusted = tls.getCACertificates('default')

type Handle = (path: string, response: { end(text?: string): void; cut(): void }) => void

let server: https.Server
let url: string
let handle: Handle
let requests: string[]

beforeEach(async () => {
  requests = []
  handle = (_path, response) => response.end('{}')
  server = https.createServer(certificate, (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handle(request.url ?? '', {
      end: (text) => void response.end(text),
      cut: () => void request.socket.destroy(),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  tls.setDefaultCACertificates(trusted)
  server.closeAllConnections()
  server.close()
})

describe('over TLS', () => {
  it('a certificate that is not signed: tls, and not a byte of the request was sent', async () => {
    const client = makeClient({ origin: url })
    await expectCallError(client.updateUser('u', { status: 0 }), 'tls', 'no')
    expect(requests).toEqual([])
    await client.close()
  })

  it('a certificate for another name: tls, nothing sent', async () => {
    tls.setDefaultCACertificates([certificate.cert])
    const client = makeClient({ origin: url.replace('127.0.0.1', 'localhost') })
    await expectCallError(client.updateUser('u', { status: 0 }), 'tls', 'no')
    expect(requests).toEqual([])
    await client.close()
  })

  it('a connection that is cut after the handshake may have carried the request, new or kept', async () => {
    tls.setDefaultCACertificates([certificate.cert])
    handle = (path, response) => (path.endsWith('/kept') ? response.end('{}') : response.cut())
    const client = makeClient({ origin: url })
    await expectCallError(client.updateUser('new', { status: 0 }), 'connection-lost', 'maybe')
    expect((await client.updateUser('kept', { status: 0 })).status).toBe(200)
    await expectCallError(client.updateUser('u', { status: 0 }), 'connection-lost', 'maybe')
    expect(requests).toHaveLength(3)
    await client.close()
  })
})
