import { type MetricName, metricCatalogue } from './catalogue.js'
import type { Sample } from './sample.js'

/**
 * Samples of a scrape in the Prometheus text format; samples of one series are added up. A metric
 * without samples is omitted, not printed as 0.
 */
export function printSamples(service: string, samples: readonly Sample[]): string {
  const metrics = new Map<Sample['name'], Map<string, number>>()
  for (const { name, value, labels } of samples) {
    const series = metrics.get(name) ?? new Map<string, number>()
    const key = labelsText({ ...labels, service })
    metrics.set(name, series.set(key, (series.get(key) ?? 0) + value))
  }
  return [...metrics]
    .map(([name, series]) => {
      const lines = [...series].map(([labels, value]) => `${name}{${labels}} ${value}\n`)
      return `${metricHead(name)}${lines.join('')}`
    })
    .join('\n')
}

/** The header lines before the series of a metric. */
export function metricHead(name: MetricName): string {
  const { help, kind } = metricCatalogue[name]
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
}

/** Labels in the syntax of the format, in their order. */
export const labelsText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value)}"`)
    .join(',')

const special = /["\\\n]/g
const escaped = (value: string) => value.replace(special, (one) => (one === '\n' ? '\\n' : `\\${one}`))
