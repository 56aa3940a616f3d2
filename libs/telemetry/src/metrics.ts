import { Counter, Histogram, Registry } from 'prom-client'
import { type LabelsOf, type MetricDefinition, metricCatalogue, type NameOf } from './catalogue.js'
import { processSource } from './measure-process.js'
import { printSamples } from './print-samples.js'
import type { Sample, Source } from './sample.js'

export interface Metrics {
  /** Whether anybody can ask for them. */
  readonly enabled: boolean
  /** What counts by one; to be made once for each set of labels. */
  counter<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): () => void
  /** What takes a value, in the unit of the name. */
  histogram<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): (value: number) => void
  /** Asks for values at a scrape, and no more often than every so many milliseconds. */
  gather(source: Source, everyMs?: number): void
  /** All of them in the text format of Prometheus. */
  text(): Promise<string>
}

/** For where nobody asks. */
export const noMetrics: Metrics = {
  enabled: false,
  counter: () => () => {},
  histogram: () => () => {},
  gather: () => {},
  text: async () => '',
}

/** What a source may take; its values are then missing from this scrape. */
const sourceTimeoutMs = 2_000

/** The metrics of one service, with those of its process. Every series says which service it is of. */
export function createMetrics({ service }: { service: string }): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const sources: Source[] = [processSource()]

  const metric = byKey((name: NameOf<'counter' | 'histogram'>) => make(name, registry))
  const counterOf = (name: NameOf<'counter'>) => metric(name) as Counter
  const failures = counterOf('opsplane_metrics_failures_total')

  const ask = async (source: Source): Promise<readonly Sample[]> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('late')), sourceTimeoutMs)
    })
    try {
      return await Promise.race([source(), late])
    } catch {
      failures.inc()
      return []
    } finally {
      clearTimeout(timer)
    }
  }

  const scrape = async () => {
    const samples = (await Promise.all(sources.map(ask))).flat()
    return `${await registry.metrics()}\n${printSamples(service, samples)}`
  }
  let scraping: Promise<string> | undefined

  return {
    enabled: true,
    counter: (name, labels) => {
      const child = counterOf(name).labels(labels)
      return () => child.inc()
    },
    histogram: (name, labels) => {
      const child = (metric(name) as Histogram).labels(labels)
      return (value) => child.observe(value)
    },
    gather: (source, everyMs) => void sources.push(everyMs === undefined ? source : kept(source, everyMs)),
    text() {
      scraping ??= scrape().finally(() => {
        scraping = undefined
      })
      return scraping
    },
  }
}

/** Makes what belongs to a key once: a counter of each outcome, say. The keys are a few, and never what a caller makes up. */
export function byKey<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

function make(name: NameOf<'counter' | 'histogram'>, registry: Registry): Counter | Histogram {
  const { kind, help, labels, buckets }: MetricDefinition = metricCatalogue[name]
  const settings = { name, help, labelNames: [...labels], registers: [registry] }
  if (kind === 'counter') return new Counter(settings)
  return new Histogram({ ...settings, ...(buckets && { buckets: [...buckets] }) })
}

/** Asks no second time while it is asking, nor soon after it was answered. */
function kept(source: Source, everyMs: number): Source {
  let asked: Promise<readonly Sample[]> | undefined
  let until = 0
  return () => {
    if (asked && performance.now() < until) return asked
    until = Number.POSITIVE_INFINITY
    const answer = (async () => source())()
    answer.then(
      () => {
        until = performance.now() + everyMs
      },
      () => {
        until = 0
      },
    )
    asked = answer
    return answer
  }
}
