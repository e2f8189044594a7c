import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client'

/** Every value that a label may have, by label. */
type LabelSets<L extends string> = Readonly<Record<L, readonly string[]>>

export type Family<L extends string> = {
  /** Without the prefix. */
  readonly name: string
  readonly help: string
  readonly labels: LabelSets<L>
}

/** `amount`: how much a counter rises by, what a gauge shows, what a histogram observes. */
type Put<L extends string> = (labels: Readonly<Record<L, string>>, amount: number) => void

type Metrics = {
  counter<L extends string>(family: Family<L>): Put<L>
  gauge<L extends string>(family: Family<L>): Put<L>
  histogram<L extends string>(family: Family<L> & { readonly buckets: number[] }): Put<L>
  /** Prometheus text, version 0.0.4. */
  text(): Promise<string>
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE
const PREFIX = 'rollcall_'
/** Stands for every value of a label that is not in its set. */
export const OTHER = 'other'

/**
 * Metrics whose labels are closed sets: a value that nobody has listed is counted as `other`. So nothing that a row, a
 * service or another version says can become a label, and the number of series has a bound.
 */
export function makeMetrics(options: { readonly process: boolean }): Metrics {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry, prefix: PREFIX })

  return {
    counter(family) {
      const counter = new Counter(configOf(family, registry))
      return (labels, amount) => counter.inc(closed(family.labels, labels), amount)
    },
    gauge(family) {
      const gauge = new Gauge(configOf(family, registry))
      return (labels, amount) => gauge.set(closed(family.labels, labels), amount)
    },
    histogram(family) {
      const histogram = new Histogram({ ...configOf(family, registry), buckets: family.buckets })
      return (labels, amount) => histogram.observe(closed(family.labels, labels), amount)
    },
    text: () => registry.metrics(),
  }
}

function configOf<L extends string>({ name, help, labels }: Family<L>, registry: Registry) {
  return { name: PREFIX + name, help, labelNames: Object.keys(labels) as L[], registers: [registry] }
}

function closed<L extends string>(
  sets: LabelSets<L>,
  labels: Readonly<Record<L, string>>,
): Partial<LabelValues<L>> {
  const names = Object.keys(sets) as L[]
  const values = names.map((name) => [name, sets[name].includes(labels[name]) ? labels[name] : OTHER])
  return Object.fromEntries(values) as Partial<LabelValues<L>>
}
