import type { LabelsOf, NameOf } from './catalogue.js'
import { type HistogramSeries, histogramSeries, printHistograms } from './histogram-series.js'
import { processSource } from './measure-process.js'
import { labelsText, printSamples } from './print-samples.js'
import type { Sample, Source } from './sample.js'

export interface Metrics {
  /** Whether metrics are served. */
  readonly enabled: boolean
  /**
   * Creates a counter that starts at 0 and counts by one. Create only a few: values of
   * counters with the same labels are added up.
   */
  counter<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): () => void
  /** Returns a function that records a value in the unit of the name. Calls with the same labels share one histogram. */
  histogram<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): (value: number) => void
  /** Registers a source that is queried on a scrape, but not more often than every `everyMs` milliseconds. */
  gather(source: Source, everyMs?: number): void
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** Used if metrics are not served. */
export const noMetrics: Metrics = {
  enabled: false,
  counter: () => () => {},
  histogram: () => () => {},
  gather: () => {},
  text: async () => '',
}

/** Timeout of a source; its values are then missing from the scrape. */
const sourceTimeoutMs = 2_000

/** The metrics of one service and its process. Every series has a label with the service's name. */
export function createMetrics({ service }: { service: string }): Metrics {
  const counters: Sample[] = []
  const histograms = new Map<string, HistogramSeries>()
  const sources: Source[] = [processSource(), () => counters]

  const counter = (name: NameOf<'counter'>, labels: Record<string, string>) => {
    const series = { name, labels, value: 0 }
    counters.push(series as Sample)
    return () => void series.value++
  }
  const failed = counter('opsplane_metrics_failures_total', {})

  const collect = async (source: Source): Promise<readonly Sample[]> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('late')), sourceTimeoutMs)
    })
    try {
      return await Promise.race([source(), late])
    } catch {
      failed()
      return []
    } finally {
      clearTimeout(timer)
    }
  }

  const scrape = async () => {
    const samples = (await Promise.all(sources.map(collect))).flat()
    return `${printSamples(service, samples)}\n${printHistograms(service, [...histograms.values()])}`
  }
  let scraping: Promise<string> | undefined

  return {
    enabled: true,
    counter,
    histogram(name, labels) {
      const key = `${name} ${labelsText(labels)}`
      const series = histograms.get(key) ?? histogramSeries(name, labels)
      histograms.set(key, series)
      return series.observe
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

/**
 * Creates a value per key once, such as a counter per outcome. Keys must be few and not chosen by
 * callers. Values of `known` keys are created immediately: a series that starts with its first
 * event would show no increase for that event.
 */
export function byKey<Key, Value>(make: (key: Key) => Value, known: readonly Key[]): (key: Key) => Value {
  const made = new Map(known.map((key) => [key, make(key)]))
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

/** Caches a source: no second query while one is running, or within `everyMs` after an answer. */
function kept(source: Source, everyMs: number): Source {
  let cachedSamples: Promise<readonly Sample[]> | undefined
  let until = 0
  return () => {
    if (cachedSamples && performance.now() < until) return cachedSamples
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
    cachedSamples = answer
    return answer
  }
}
