// Values of the headers of section 5. What no header may carry is said at once, by the variable's name and never
// with the value.
import { validateHeaderValue } from 'node:http'
import { accessToken } from '../config/env.ts'
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

/**
 * The Authorization header for an access token. Quotes or spaces within it would be sent and refused for a reason
 * that nobody sees.
 *
 * Throws RollcallError ENV_INVALID for an empty token, and for one that cannot stand in the header.
 */
export function bearer(variable: string, token: string): string {
  const bare = accessToken(token)
  if (bare === undefined)
    throw new RollcallError('ENV_INVALID', [`${variable}: expected a JWT and nothing else`])
  return `Bearer ${bare}`
}
