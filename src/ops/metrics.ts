import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client'

type Family<L extends string> = {
  /** Without the prefix. */
  readonly name: string
  readonly help: string
  /** Every value that a label may have, by label. */
  readonly labels: Readonly<Record<L, readonly string[]>>
}

/** `amount`: how much a counter rises by, what a gauge shows, what a histogram observes. */
type Put<L extends string> = (labels: Readonly<Record<L, string>>, amount: number) => void

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE
const PREFIX = 'rollcall_'

/**
 * Metrics whose labels are closed sets: a value that is not listed is counted as `other`. So nothing that a row, a
 * service or another version says can become a label, and the number of series has a bound.
 */
export function makeMetrics(options: { readonly process: boolean }) {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry, prefix: PREFIX })

  function configOf<L extends string>({ name, help, labels }: Family<L>) {
    return { name: PREFIX + name, help, labelNames: Object.keys(labels) as L[], registers: [registry] }
  }
  return {
    counter<L extends string>(family: Family<L>): Put<L> {
      const counter = new Counter(configOf(family))
      return (labels, amount) => counter.inc(closed(family, labels), amount)
    },
    gauge<L extends string>(family: Family<L>): Put<L> {
      const gauge = new Gauge(configOf(family))
      return (labels, amount) => gauge.set(closed(family, labels), amount)
    },
    histogram<L extends string>(family: Family<L> & { readonly buckets: number[] }): Put<L> {
      const histogram = new Histogram({ ...configOf(family), buckets: family.buckets })
      return (labels, amount) => histogram.observe(closed(family, labels), amount)
    },
    /** Prometheus text, version 0.0.4. */
    text: () => registry.metrics(),
  }
}

function closed<L extends string>(family: Family<L>, labels: Readonly<Record<L, string>>) {
  const names = Object.keys(family.labels) as L[]
  const values = names.map((name) => [
    name,
    family.labels[name].includes(labels[name]) ? labels[name] : 'other',
  ])
  return Object.fromEntries(values) as Partial<LabelValues<L>>
}
