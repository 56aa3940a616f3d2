import { type MetricName, metricCatalogue } from './catalogue.js'
import type { Sample } from './sample.js'

/**
 * What was counted or asked for at a scrape, in the text format of Prometheus; samples of one series are added up. A metric without samples is not
 * there: nothing says that it is 0.
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

/** What stands before the series of a metric. */
export function metricHead(name: MetricName): string {
  const { help, kind } = metricCatalogue[name]
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
}

/** Labels as the format has them, in their order. */
export const labelsText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value)}"`)
    .join(',')

const special = /["\\\n]/g
const escaped = (value: string) => value.replace(special, (one) => (one === '\n' ? '\\n' : `\\${one}`))
