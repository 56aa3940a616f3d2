import { request } from 'undici'
import type { Selector } from './selectors.js'

/** Result of one scrape of all services. */
export interface Scraped {
  /** Sum of the series of a name with these labels; 0 if there are none. */
  sum(name: string, labels?: Record<string, string>): number
  names(): Set<string>
  /** Whether a series with this name and these labels exists. */
  has(selector: Selector): boolean
}

interface Series {
  name: string
  labels: Record<string, string>
  value: number
}

export async function scrape(urls: Readonly<Record<string, string>>): Promise<Scraped> {
  const texts = await Promise.all(Object.values(urls).map(textAt))
  const series = texts.flatMap((text) => text.split('\n').flatMap((line) => seriesOf(line) ?? []))
  return {
    sum: (name, labels = {}) =>
      series
        .filter((each) => each.name === name)
        .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0),
    has: ({ name, labels }) =>
      series.some(
        (each) =>
          each.name === name &&
          Object.entries(labels).every(([label, value]) => value.test(each.labels[label] ?? '')),
      ),
    names: () => new Set(series.map(({ name }) => name)),
  }
}

async function textAt(url: string): Promise<string> {
  const { statusCode, body } = await request(url)
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
  return text
}

function seriesOf(line: string): Series | undefined {
  const [, name, labels = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (name === undefined) return undefined
  const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, of]) => [label, of])
  return { name, labels: Object.fromEntries(pairs), value: Number(value) }
}
