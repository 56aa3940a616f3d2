import { type LabelsOf, type MetricDefinition, metricCatalogue, type NameOf } from './catalogue.js'
import { labelsText, metricHead } from './print-samples.js'

type HistogramName = NameOf<'histogram'>

/** Counts of values up to each bound of a metric, and the sum of all values. */
export interface HistogramSeries {
  readonly name: HistogramName
  observe(value: number): void
  /** The series in the Prometheus text format. */
  print(service: string): string
}

export function histogramSeries<Name extends HistogramName>(
  name: Name,
  labels: LabelsOf<Name>,
): HistogramSeries {
  const bounds = boundsOf(name)
  /** For each bound, the values above the previous bound; the last count is for values above all bounds. */
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    name,
    observe(value) {
      let place = 0
      while (place < bounds.length && value > (bounds[place] ?? 0)) place++
      counts[place] = (counts[place] ?? 0) + 1
      sum += value
    },
    print(service) {
      let count = 0
      const buckets = [...bounds, '+Inf'].map((bound, place) => {
        count += counts[place] ?? 0
        return `${name}_bucket{${labelsText({ le: String(bound), ...labels, service })}} ${count}\n`
      })
      const own = labelsText({ ...labels, service })
      return `${buckets.join('')}${name}_sum{${own}} ${sum}\n${name}_count{${own}} ${count}\n`
    },
  }
}

const boundsOf = (name: HistogramName): readonly number[] => {
  const { buckets = [] }: MetricDefinition = metricCatalogue[name]
  return buckets
}

/** Prints the series of each metric together, as the format requires. */
export function printHistograms(service: string, series: readonly HistogramSeries[]): string {
  const names = [...new Set(series.map(({ name }) => name))]
  return names
    .map((name) => {
      const lines = series.filter((each) => each.name === name).map((each) => each.print(service))
      return `${metricHead(name)}${lines.join('')}`
    })
    .join('\n')
}
