import { expect, test } from 'vitest'
import { textOf } from '../../src/demo/line.ts'
import { advance, startMeter } from '../../src/demo/meter.ts'
import { sayFigures } from '../../src/demo/plain.ts'
import { sayNext, sayTable, sayVerdict, summarize } from '../../src/demo/summary.ts'

const story = { number: 1, of: 1, name: 'service in trouble', says: 'Trouble', look: '' }
const meter = [
  { what: 'phase', phase: story } as const,
  { what: 'captured', changes: 1200 } as const,
  {
    what: 'called',
    called: { at: 5, key: 'a', kind: 'replace', about: '', answer: '', good: true, latencyMs: 12_345 },
  } as const,
].reduce(advance, startMeter(0))

function summary(differences: readonly { key: string; differs: readonly string[] }[]) {
  return summarize({
    meter,
    comparison: { customers: 243, former: 4, differences },
    target: 't',
    now: 30_040,
  })
}

test('one line says that all agree', () => {
  expect(textOf(sayVerdict(summary([]))[0] ?? [])).toMatch(/All 243 .*agree/)
  expect(summary([])).toMatchObject({
    agree: true,
    seconds: 30,
    captured: 1200,
    arrival: { medianMs: 12_345 },
  })
})

test('customers that do not agree are named, but not all of very many', () => {
  const wrong = Array.from({ length: 30 }, (_, i) => ({ key: `C-${i}`, differs: ['email', 'status'] }))
  const said = sayVerdict(summary(wrong)).map(textOf)
  expect(summary(wrong).agree).toBe(false)
  expect(said[0]).toMatch(/30 .*of 247 do not agree/)
  expect(said[1]).toContain('C-0: email, status')
  expect(said.at(-1)).toContain('and 20 more')
})

test('the table and what to do next fit into 80 columns', () => {
  const lines = [...sayTable(summary([])), ...sayNext()].map(textOf)
  expect(lines.filter((line) => line.length > 78)).toEqual([])
  expect(lines[1]).toMatch(/service in trouble +1200 +· +1 +· +· +· +12\.3 s +12\.3 s/)
})

test('plain figures come once there is something to tell', () => {
  expect(sayFigures(meter, 3000)).toBeNull()
})
