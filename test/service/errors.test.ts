import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { CALL_ERROR_KINDS, CallError, type CallFacts, classifyFailure } from '../../src/service/errors.ts'

const nothing: CallFacts = { stop: null, code: null, connected: false }

describe('classifyFailure', () => {
  it.each<[string, Partial<CallFacts>, string, string]>([
    ['a name that does not resolve', { code: 'ENOTFOUND' }, 'dns', 'no'],
    ['a resolver that does not answer', { code: 'EAI_AGAIN' }, 'dns', 'no'],
    ['a closed port', { code: 'ECONNREFUSED' }, 'refused', 'no'],
    ['no route', { code: 'EHOSTUNREACH' }, 'unreachable', 'no'],
    ['a certificate for another name', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'tls', 'no'],
    ['a self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'tls', 'no'],
    ['a server that speaks no TLS', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'tls', 'no'],
    ['a reset in the handshake', { code: 'ECONNRESET' }, 'connection-lost', 'no'],
    ['a timeout in connect', { code: 'UND_ERR_CONNECT_TIMEOUT' }, 'connect-timeout', 'no'],
    ['the kernel gave up connecting', { code: 'ETIMEDOUT' }, 'connect-timeout', 'no'],
    ['the whole time spent waiting for a socket', { stop: 'timeout' }, 'connect-timeout', 'no'],
    ['the kernel gave up waiting', { code: 'ETIMEDOUT', connected: true }, 'timeout', 'maybe'],
    ['the whole time, connected', { stop: 'timeout', connected: true }, 'timeout', 'maybe'],
    ['a reset after connecting', { code: 'ECONNRESET', connected: true }, 'connection-lost', 'maybe'],
    ['a broken pipe', { code: 'EPIPE', connected: true }, 'connection-lost', 'maybe'],
    ['a TLS alert after the handshake', { code: 'ERR_SSL_TLSV13_ALERT', connected: true }, 'tls', 'maybe'],
    ['an answer cut short', { code: 'UND_ERR_SOCKET', connected: true }, 'connection-lost', 'maybe'],
    ['no HTTP', { code: 'HPE_INVALID_CONSTANT', connected: true }, 'broken-response', 'maybe'],
    ['a head too large', { code: 'UND_ERR_HEADERS_OVERFLOW', connected: true }, 'broken-response', 'maybe'],
    ['too large an answer', { stop: 'too-large', connected: true }, 'too-large', 'maybe'],
    ['the caller before connecting', { stop: 'aborted' }, 'aborted', 'no'],
    ['the caller after connecting', { stop: 'aborted', connected: true }, 'aborted', 'maybe'],
    ['our own stop', { stop: 'aborted', code: 'UND_ERR_SOCKET', connected: true }, 'aborted', 'maybe'],
    ['a code that nobody knows', { code: 'EWHATEVER', connected: true }, 'other', 'maybe'],
    ['no code at all', { connected: true }, 'other', 'maybe'],
  ])('%s', (_name, facts, kind, reached) => {
    expect(classifyFailure({ ...nothing, ...facts })).toEqual({ kind, reached })
  })

  it('never says "no" once there was a connection, whatever the code', () => {
    for (const code of ['ENOTFOUND', 'ECONNREFUSED', 'ERR_TLS_X', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'])
      expect(classifyFailure({ ...nothing, code, connected: true }).reached, code).toBe('maybe')
  })
})

it('CallError has a sentence for every kind and keeps no cause', () => {
  for (const kind of CALL_ERROR_KINDS) {
    const error = new CallError(kind, 'maybe', 'ECODE')
    expect(error.message).toMatch(/^[A-Z].+ \(ECODE\)$/)
    expect(error.cause).toBeUndefined()
    expect(inspect(error)).not.toContain('headers')
  }
})
