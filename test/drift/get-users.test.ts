import { expect, test } from 'vitest'
import { shownBy } from '../../src/drift/get-users.ts'
import type { RemoteUser } from '../../src/service/body.ts'
import { CALL_ERROR_KINDS } from '../../src/service/errors.ts'
import { type BodyKind, classifyRead, type Outcome } from '../../src/sync/classify.ts'

const USER: RemoteUser = { userId: 'u', status: 2, fields: {} }

const ANSWERS: readonly (readonly [number, BodyKind, ReturnType<typeof shownBy>])[] = [
  [200, 'user', { observed: USER }],
  [200, 'null', { observed: 'absent' }],
  [404, 'none', { observed: 'absent' }],
  [410, 'readable', { observed: 'absent' }],
  [200, 'readable', { observed: 'unreadable' }],
  [200, 'unreadable', { observed: 'unreadable' }],
  [204, 'none', { observed: 'unreadable' }],
  [200, 'error', { none: 'error' }],
  [403, 'error', { none: 'denied' }],
  [429, 'none', { none: 'busy' }],
  [408, 'none', { none: 'trouble' }],
  [503, 'unreadable', { none: 'trouble' }],
  [302, 'none', { none: 'refused' }],
  [400, 'error', { none: 'refused' }],
]

function shown(outcome: Outcome, remote: RemoteUser | null = null) {
  return shownBy({ outcome, meaning: classifyRead(outcome), observed: remote })
}

test.each(ANSWERS)('%i with a body that is %s: %j', (status, body, expected) => {
  expect(shown({ kind: 'reply', status, body }, body === 'user' ? USER : null)).toEqual(expected)
})

test('no failed call is ever drift', () => {
  for (const error of CALL_ERROR_KINDS) {
    const none = { 'bad-user-id': 'refused' }[error as 'bad-user-id'] ?? 'unreached'
    expect(shown({ kind: 'error', error, reached: 'maybe' })).toEqual(
      error === 'aborted' ? 'stopped' : { none },
    )
  }
})
