// Who decides, and why: kept with each decision, to be read later by somebody else.
import os from 'node:os'
import type { DecidedBy } from '../brake/held.ts'
import { RollcallError } from '../model/errors.ts'

const MOST_TEXT = 1000

/** @throws RollcallError USAGE where it is not said why */
export function readPerson({
  by,
  why,
}: {
  readonly by?: string | undefined
  readonly why?: string | undefined
}): DecidedBy {
  return { by: readText('by', by ?? systemUser()), why: readText('why', why) }
}

function readText(name: 'by' | 'why', text: string | undefined): string {
  const told = text?.trim() ?? ''
  if (told === '') throw usage(`--${name} is needed: it is kept with the decision`)
  if (told.length > MOST_TEXT) throw usage(`--${name}: expected ${MOST_TEXT} characters at most`)
  return told
}

/** A container's user may have no name. */
function systemUser(): string {
  const host = os.hostname()
  try {
    return `${os.userInfo().username}@${host}`
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}@${host}`
  }
}

function usage(detail: string): RollcallError {
  return new RollcallError('USAGE', [detail])
}
