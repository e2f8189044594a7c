// The failures of a call without an answer, and whether the request can have reached the service.
import { words } from '../model/values.ts'

const MESSAGES = {
  'bad-user-id': 'The user_id cannot be part of a URL: it is empty, ".", ".." or not valid Unicode',
  aborted: 'The call was stopped',
  dns: 'The host name of the service was not found',
  refused: 'The service refused the connection',
  unreachable: 'The service cannot be reached from here',
  tls: 'No secure connection to the service could be made',
  'connect-timeout': 'No connection to the service in time',
  timeout: 'The service did not answer in time',
  'connection-lost': 'The connection to the service was lost',
  'too-large': 'The answer is too large',
  'broken-response': 'The answer is not HTTP',
  other: 'The call failed',
}
export type CallErrorKind = keyof typeof MESSAGES
export const CALL_ERROR_KINDS = Object.keys(MESSAGES) as CallErrorKind[]

/** `no`: not a byte of the request was sent. `maybe`: it may have been carried out. */
export type Reached = 'no' | 'maybe'

/** The kind of a call that we ended ourselves; without a connection, `timeout` becomes `connect-timeout`. */
export type Stop = Extract<CallErrorKind, 'aborted' | 'timeout' | 'too-large'>

/** The typed facts of a call that failed. */
export type CallFacts = {
  readonly stop: Stop | null
  /** The error code of Node or undici, for example ECONNREFUSED. */
  readonly code: string | null
  /** A connection (for https: past its handshake) was there to carry the request. */
  readonly connected: boolean
}

/** By kind; a code that ends in `_` stands for all that begin so, where the list is long and open. */
const CODES: Readonly<Partial<Record<CallErrorKind, string>>> = {
  dns: 'ENOTFOUND ENODATA ESERVFAIL ETIMEOUT EAI_',
  refused: 'ECONNREFUSED',
  unreachable: 'EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN EADDRNOTAVAIL EMFILE ENFILE',
  tls: `EPROTO CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_REJECTED CERT_UNTRUSTED
    DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN HOSTNAME_MISMATCH ERR_TLS_ ERR_SSL_ UNABLE_TO_`,
  'connect-timeout': 'ETIMEDOUT UND_ERR_CONNECT_TIMEOUT',
  'connection-lost': 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'broken-response': 'HPE_ HTTPParserError ERR_ASSERTION UND_ERR_HEADERS_OVERFLOW',
}

/**
 * Classifies a failed call, and says whether the request can have reached the service. `reached` rests on progress
 * alone: until a connection is there (for https: until its handshake is over) nothing of the request can have been
 * written, whatever the error is called; from then on everything is `maybe`, because an unknown outcome that is taken
 * for "not done" loses or repeats a change. The code only chooses the word.
 */
export function classifyFailure({ stop, code, connected }: CallFacts): {
  readonly kind: CallErrorKind
  readonly reached: Reached
} {
  const reached = connected ? 'maybe' : 'no'
  const kind = stop ?? kindOfCode(code)
  const isTimeout = kind === 'timeout' || kind === 'connect-timeout'
  return { kind: isTimeout ? (connected ? 'timeout' : 'connect-timeout') : kind, reached }
}

function kindOfCode(code: string | null): CallErrorKind {
  const isIt = (known: string) => (known.endsWith('_') ? code?.startsWith(known) : code === known)
  return CALL_ERROR_KINDS.find((kind) => words(CODES[kind] ?? '').some(isIt)) ?? 'other'
}

/** No answer came. It keeps no cause, which may hold addresses or headers, and with them the keys. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly kind: CallErrorKind
  readonly reached: Reached
  readonly code: string | null

  constructor(kind: CallErrorKind, reached: Reached, code: string | null = null) {
    super(code === null ? MESSAGES[kind] : `${MESSAGES[kind]} (${code})`)
    this.kind = kind
    this.reached = reached
    this.code = code
  }
}
