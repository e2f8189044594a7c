import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client'

/** Every value that a label may have, by label. */
type Labels<L extends string> = Readonly<Record<L, readonly string[]>>

/** `amount`: how much a counter rises by, what a gauge shows, what a histogram observes. */
type Put<L extends string> = (labels: Readonly<Record<L, string>>, amount: number) => void

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE
const PREFIX = 'rollcall_'

/**
 * Metrics whose labels are closed sets: a value that is not listed is counted as `other`. So nothing that a row, a
 * service or another version says can become a label, and the number of series has a bound. Names are without prefix.
 */
export function makeMetrics(options: { readonly process: boolean }) {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry, prefix: PREFIX })

  function configOf<L extends string>(name: string, help: string, labels: Labels<L>) {
    return { name: PREFIX + name, help, labelNames: Object.keys(labels) as L[], registers: [registry] }
  }
  return {
    counter<L extends string>(name: string, help: string, labels: Labels<L>): Put<L> {
      const counter = new Counter(configOf(name, help, labels))
      return (values, amount) => counter.inc(closed(labels, values), amount)
    },
    gauge<L extends string>(name: string, help: string, labels: Labels<L>): Put<L> {
      const gauge = new Gauge(configOf(name, help, labels))
      return (values, amount) => gauge.set(closed(labels, values), amount)
    },
    histogram<L extends string>(name: string, help: string, labels: Labels<L>, buckets: number[]): Put<L> {
      const histogram = new Histogram({ ...configOf(name, help, labels), buckets })
      return (values, amount) => histogram.observe(closed(labels, values), amount)
    },
    /** Prometheus text, version 0.0.4. */
    text: () => registry.metrics(),
  }
}

function closed<L extends string>(labels: Labels<L>, values: Readonly<Record<L, string>>) {
  const names = Object.keys(labels) as L[]
  const known = names.map((name) => [name, labels[name].includes(values[name]) ? values[name] : 'other'])
  return Object.fromEntries(known) as Partial<LabelValues<L>>
}
