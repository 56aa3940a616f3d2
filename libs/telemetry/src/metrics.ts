import type { LabelsOf, NameOf } from './catalogue.js'
import { type HistogramSeries, histogramSeries, printHistograms } from './histogram-series.js'
import { processSource } from './measure-process.js'
import { labelsText, printSamples } from './print-samples.js'
import type { Sample, Source } from './sample.js'

export interface Metrics {
  /** Whether metrics are served. */
  readonly enabled: boolean
  /** What counts by one, from 0; to be made a few times only, as what those of the same labels count is added up. */
  counter<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): () => void
  /** What takes a value, in the unit of the name; one of the same labels for all who ask for it. */
  histogram<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): (value: number) => void
  /** Asks for values at a scrape, and no more often than every so many milliseconds. */
  gather(source: Source, everyMs?: number): void
  /** All of them in the text format of Prometheus. */
  text(): Promise<string>
}

/** Used where metrics are not served. */
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
  const counters: Sample[] = []
  const histograms = new Map<string, HistogramSeries>()
  const sources: Source[] = [processSource(), () => counters]

  const counter = (name: NameOf<'counter'>, labels: Record<string, string>) => {
    const series = { name, labels, value: 0 }
    counters.push(series as Sample)
    return () => void series.value++
  }
  const failed = counter('opsplane_metrics_failures_total', {})

  const ask = async (source: Source): Promise<readonly Sample[]> => {
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
    const samples = (await Promise.all(sources.map(ask))).flat()
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
 * Makes what belongs to a key once: a counter of each outcome, say. The keys are a few, and never what a caller makes up. Those that are
 * `known` are made at once: a series that begins with its first event shows no increase for that.
 */
export function byKey<Key, Value>(make: (key: Key) => Value, known: readonly Key[]): (key: Key) => Value {
  const made = new Map(known.map((key) => [key, make(key)]))
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
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
