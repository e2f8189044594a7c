import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Checked } from '../../src/drift/words.ts'
import { logChecks } from '../../src/worker/log.ts'

const MISSING: Checked = {
  ...{ key: 'k1', findingId: '7', findingState: 'found', resolved: null },
  verdict: { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' },
  ...{ nextInMs: null, more: false, repairable: true, repairing: false, shown: [] },
}
const RIGHT: Checked = { ...MISSING, verdict: { kind: 'agrees' }, findingState: null, resolved: 'by-itself' }

test('a customer that differs is named once, and once it has ended', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) })
  const { checked } = logChecks(log)
  for (const each of [MISSING, MISSING, RIGHT]) checked(each)
  expect(lines).toEqual(['the service differs from the database', 'a finding is closed'])
})
