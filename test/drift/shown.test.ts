import { expect, test } from 'vitest'

import { shownOf } from '../../src/drift/shown.ts'
import type { DriftVerdict } from '../../src/drift/words.ts'
import type { Mapped } from '../../src/model/mapped.ts'
import type { Snapshot } from '../../src/sync/snapshot.ts'
import { GONE, user } from '../support/plan-scene.ts'

const there = { userId: 'u7', status: 2, fields: { email: 'eva@example.es', first_name: 'Eva' } }
const drift = (given: Pick<DriftVerdict, 'kind'> & Partial<DriftVerdict>): DriftVerdict => ({
  ...{ fields: [], cause: 'edited-at-service', access: null },
  ...given,
})
// All that is asked of a subject here.
const subject = (mapped: Mapped) => ({ mapped }) as Snapshot

test.each(GONE)(
  'whoever is let in and is $kind here is shown with the status, and no field besides',
  (mapped) => {
    const shown = shownOf(subject(mapped), there, drift({ kind: 'unexpected-access' }))
    expect(shown).toEqual([{ field: 'status', here: null, service: 2 }])
  },
)

test('of the others just the fields that differ are shown, and of an absent user nothing', () => {
  const here = subject(user(4, { email: 'ana@example.es', first_name: 'Eva' }))
  expect(shownOf(here, there, drift({ kind: 'differs', fields: ['email'] }))).toEqual([
    { field: 'email', here: 'ana@example.es', service: 'eva@example.es' },
  ])
  const ended = drift({ kind: 'trial-ended', fields: ['status'] })
  expect(shownOf(here, { ...there, status: 0 }, ended)).toEqual([{ field: 'status', here: 4, service: 0 }])
  expect(shownOf(here, 'absent', drift({ kind: 'missing' }))).toEqual([])
})
