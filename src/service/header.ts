// Values of the headers of section 5. What no header may carry is said at once, by the variable's name and never
// with the value.
import { validateHeaderValue } from 'node:http'
import { RollcallError } from '../model/errors.ts'

/** Throws RollcallError ENV_INVALID for a key with a line break or the like, which could not be sent. */
export function headerValue(variable: string, key: string): string {
  try {
    validateHeaderValue(variable, key)
    return key
  } catch {
    throw new RollcallError('ENV_INVALID', [`${variable}: holds characters that no HTTP header may hold`])
  }
}

/** What may stand after `Bearer` (RFC 6750, 2.1); a JWT uses less than that. */
const TOKEN = /^[\w.~+/-]+=*$/

/**
 * The Authorization header for an access token. It is pasted by hand more often than a key is, so the white
 * space around it and a `Bearer` before it are dropped; quotes or spaces within it would be sent and refused
 * for a reason that nobody sees.
 *
 * Throws RollcallError ENV_INVALID for an empty token, and for one that cannot stand in the header.
 */
export function bearer(variable: string, token: string): string {
  const bare = token.trim().replace(/^bearer(\s+|$)/i, '')
  if (!TOKEN.test(bare))
    throw new RollcallError('ENV_INVALID', [`${variable}: expected a JWT and nothing else`])
  return `Bearer ${bare}`
}
