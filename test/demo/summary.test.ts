import { expect, test } from 'vitest'
import { addCall, addCaptured, beginPhase, startMeter } from '../../src/demo/meter.ts'
import { renderNextSteps, renderTable, renderVerdict, summarize } from '../../src/demo/summary.ts'
import type { Paint } from '../../src/demo/view.ts'

const paint: Paint = (_tone, text) => text
const meter = startMeter(0)
beginPhase(meter, { name: 'service in trouble', says: 'Trouble', look: '', transactions: [] }, 1)
addCaptured(meter, 1200)
addCall(meter, {
  at: 5,
  key: 'a',
  kind: 'replace',
  about: '',
  answer: '',
  good: true,
  latencyMs: 12_345,
})

function summary(differences: readonly { key: string; differs: readonly string[] }[]) {
  return summarize(meter, { customers: 243, former: 4, differences }, 30_040)
}

test('one line says that all agree', () => {
  expect(renderVerdict(summary([]), paint)[0]).toMatch(/All 243 .*agree/)
  expect(summary([])).toMatchObject({
    agree: true,
    seconds: 30,
    captured: 1200,
    arrival: { medianMs: 12_345 },
  })
})

test('customers that do not agree are named, up to a limit', () => {
  const wrong = Array.from({ length: 30 }, (_, i) => ({ key: `C-${i}`, differs: ['email', 'status'] }))
  const lines = renderVerdict(summary(wrong), paint)
  expect(summary(wrong).agree).toBe(false)
  expect(lines[0]).toMatch(/30 .*of 247 do not agree/)
  expect(lines[1]).toContain('C-0: email, status')
  expect(lines).toHaveLength(12)
  expect(lines.at(-1)).toContain('and 20 more')
})

test('the table and the next steps fit into 80 columns', () => {
  const lines = [...renderTable(summary([]), paint), ...renderNextSteps(paint)]
  expect(lines.filter((line) => line.length > 78)).toEqual([])
  expect(lines[1]).toMatch(/service in trouble +1200 +· +1 +· +· +· +12\.3 s +12\.3 s/)
})
