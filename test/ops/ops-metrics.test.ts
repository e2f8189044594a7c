import { expect, test } from 'vitest'
import { makeMetrics } from '../../src/ops/metrics.ts'

const lines = async (metrics: { text(): Promise<string> }) =>
  (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('a value that is not in the set of its label is counted as other', async () => {
  const metrics = makeMetrics({ process: false })
  const put = metrics.counter('x_total', 'x', { kind: ['a', 'b'] })
  for (const kind of ['a', 'ana@example.com', '12345678Z', 'constructor', '']) put({ kind }, 1)
  expect(await lines(metrics)).toEqual(['rollcall_x_total{kind="a"} 1', 'rollcall_x_total{kind="other"} 4'])
})
