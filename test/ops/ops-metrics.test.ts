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

test('a gauge shows the last, a histogram gathers', async () => {
  const metrics = makeMetrics({ process: false })
  const gauge = metrics.gauge('g', 'g', {})
  gauge({}, 3)
  gauge({}, 2)
  metrics.histogram('h', 'h', { m: ['GET'] }, [1])({ m: 'GET' }, 0.5)
  expect(await lines(metrics)).toEqual([
    'rollcall_g 2',
    'rollcall_h_bucket{le="1",m="GET"} 1',
    'rollcall_h_bucket{le="+Inf",m="GET"} 1',
    'rollcall_h_sum{m="GET"} 0.5',
    'rollcall_h_count{m="GET"} 1',
  ])
})

test('those of the process stand under the same prefix', async () => {
  const all = await lines(makeMetrics({ process: true }))
  expect(all.length).toBeGreaterThan(20)
  expect(all.filter((line) => !line.startsWith('rollcall_'))).toEqual([])
})
