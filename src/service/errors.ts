// What can go wrong in a call that got no answer, and whether the request can have reached the service.

export const CALL_ERROR_KINDS = [
  'bad-user-id',
  'aborted',
  'dns',
  'refused',
  'unreachable',
  'tls',
  'connect-timeout',
  'timeout',
  'connection-lost',
  'too-large',
  'broken-response',
  'other',
] as const
export type CallErrorKind = (typeof CALL_ERROR_KINDS)[number]

/** `no`: not a byte of the request was sent. `maybe`: it may have been carried out. */
export type Reached = 'no' | 'maybe'

/** Why we ended a call ourselves. */
export type Stop = 'caller' | 'closed' | 'deadline' | 'size' | 'upgrade'

/** The typed facts of a call that failed, as http.ts reads them off got's error. */
export type CallFacts = {
  readonly stop: Stop | null
  /** The error code of Node or got, for example ECONNREFUSED. */
  readonly code: string | null
  /** The phase that ran out of time, in got's words: lookup, connect, secureConnect, send, response, … */
  readonly phase: string | null
  /** A connection (for https: past its handshake) was there to carry the request. */
  readonly connected: boolean
}

const KIND_OF_CODE: Readonly<Record<string, CallErrorKind>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  ETIMEOUT: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EMFILE: 'unreachable',
  ENFILE: 'unreachable',
  EPROTO: 'tls',
  CERT_HAS_EXPIRED: 'tls',
  CERT_NOT_YET_VALID: 'tls',
  CERT_REVOKED: 'tls',
  CERT_REJECTED: 'tls',
  CERT_UNTRUSTED: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  ECONNRESET: 'connection-lost',
  ECONNABORTED: 'connection-lost',
  EPIPE: 'connection-lost',
  ERR_STREAM_PREMATURE_CLOSE: 'connection-lost',
  ERR_READING_RESPONSE_STREAM: 'connection-lost',
  ERR_HTTP_CONTENT_LENGTH_MISMATCH: 'connection-lost',
}

/** Families of codes, where the list is long and open. */
const KIND_OF_PREFIX: readonly (readonly [string, CallErrorKind])[] = [
  ['EAI_', 'dns'],
  ['ERR_TLS_', 'tls'],
  ['ERR_SSL_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['HPE_', 'broken-response'],
]

const KIND_OF_STOP: Readonly<Record<Exclude<Stop, 'deadline'>, CallErrorKind>> = {
  caller: 'aborted',
  closed: 'aborted',
  size: 'too-large',
  upgrade: 'broken-response',
}

/**
 * What a failed call was, and whether the request can have reached the service. `reached` rests on progress
 * alone: until a connection is there (for https: until its handshake is over) nothing of the request can have
 * been written, whatever the error is called; from then on everything is `maybe`, because an unknown outcome
 * that is taken for "not done" loses or repeats a change. The code and the phase only choose the word.
 */
export function classifyFailure({ stop, code, phase, connected }: CallFacts): {
  readonly kind: CallErrorKind
  readonly reached: Reached
} {
  const reached = connected ? 'maybe' : 'no'
  if (stop !== null && stop !== 'deadline') return { kind: KIND_OF_STOP[stop], reached }
  if (stop === 'deadline' || phase !== null || code === 'ETIMEDOUT') {
    return { kind: connected ? 'timeout' : 'connect-timeout', reached }
  }
  return { kind: kindOfCode(code), reached }
}

function kindOfCode(code: string | null): CallErrorKind {
  if (code === null) return 'other'
  const known = Object.hasOwn(KIND_OF_CODE, code) ? KIND_OF_CODE[code] : undefined
  return known ?? KIND_OF_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'other'
}

const WORDS: Readonly<Record<CallErrorKind, string>> = {
  'bad-user-id': 'The user_id cannot stand in an address (empty, "." or "..", or broken text)',
  aborted: 'The call was stopped',
  dns: 'The host name of the service was not found',
  refused: 'The service refused the connection',
  unreachable: 'The service cannot be reached from here',
  tls: 'No secure connection to the service could be made',
  'connect-timeout': 'No connection to the service in time',
  timeout: 'The service did not answer in time',
  'connection-lost': 'The connection to the service was lost',
  'too-large': 'The answer is larger than one may be',
  'broken-response': 'The answer is not HTTP',
  other: 'The call failed',
}

/**
 * No answer was had. It keeps neither got's error nor a cause: both carry the headers, and with them the
 * keys. `code` is Node's error code where there is one.
 */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly kind: CallErrorKind
  readonly reached: Reached
  readonly code: string | null

  constructor(kind: CallErrorKind, reached: Reached, code: string | null = null) {
    super(code === null ? WORDS[kind] : `${WORDS[kind]} (${code})`)
    this.kind = kind
    this.reached = reached
    this.code = code
  }
}
