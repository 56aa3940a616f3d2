import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, openState, startCluster } from '@opsplane/local'
import { request } from 'undici'
import { postgresFlags, withoutLimits } from '../environment.js'
import type { MeasureOptions } from '../log/creates.js'
import { medianInterval } from '../median-interval.js'
import { totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { createAndDeliver, subscribeTo } from './delivered.js'
import { startPlainReceiver } from './receiver.js'

/** Pairs of rounds, a quarter of an hour with what surrounds them. */
const rounds = 24
const warmUps = 2
const connections = 32
const scrapeEveryMs = 15_000

/**
 * What it costs to be watched: CPU per incident that is accepted and delivered, over all processes, of a platform whose
 * metrics are scraped and whose requests are traced by the default share, beside one of neither. In pairs of rounds, each
 * the other way round than the one before: what the machine does meanwhile befalls both of a pair, and as the second of a pair
 * costs more, the ratio is taken within two neighbouring pairs. The median of the ratios comes with the interval it is known to.
 */
export async function measureTelemetry({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const collector = await startCollector()
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-bench-watched-'))
  const watched = await startCluster({
    state: openState(join(folder, 'state')),
    metrics: true,
    extra: { ...withoutLimits, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    postgresFlags,
  })
  const scraping = setInterval(() => void scrape(watched), scrapeEveryMs)
  try {
    const ratios = await byTurns({ plain: cluster, watched }, seconds, say)
    const { median, low, high } = medianInterval(ratios)
    const isKnown = high - low <= 0.02
    return [
      {
        name: 'CPU per delivered incident with metrics and traces',
        value: `${percent(median)} (${percent(low)} to ${percent(high)}), ${collector.received()} exports`,
        raw: `${rounds} pairs of rounds${isKnown ? '' : ', too noisy a machine for ±1 %'}`,
        ratio: median,
        goal: '≤ 1.03',
        met: median <= 1.03,
      },
    ]
  } finally {
    clearInterval(scraping)
    await watched.stop()
    await collector.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Side = 'plain' | 'watched'

const percent = (ratio: number) => `${ratio < 1 ? '−' : '+'}${Math.abs((ratio - 1) * 100).toFixed(1)} %`

/** Of each two pairs, what the watched one cost beside the plain one. */
async function byTurns(
  clusters: Record<Side, Cluster>,
  seconds: number,
  say: (text: string) => void,
): Promise<number[]> {
  const receivers = { plain: await startPlainReceiver(), watched: await startPlainReceiver() }
  const sides = ['plain', 'watched'] as const
  for (const side of sides) await subscribeTo(clusters[side], `${receivers[side].origin}/hook`)
  const pairs: Record<Side, number>[] = []
  for (let round = 0; round < warmUps + rounds; round++) {
    const costs: Record<Side, number> = { plain: 0, watched: 0 }
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const receiver = receivers[side].child
      const load = { cluster: clusters[side], receiver, seconds, connections }
      const { cpu, count } = await createAndDeliver(load)
      costs[side] = totalMs(cpu) / count
    }
    if (round >= warmUps) pairs.push(costs)
    const ratio = costs.watched / costs.plain
    say(
      `  pair ${round}: ${costs.plain.toFixed(3)} and ${costs.watched.toFixed(3)} ms each, ${percent(ratio)}`,
    )
  }
  for (const side of sides) receivers[side].child.kill()
  const both = (at: number, side: Side) => (pairs[at]?.[side] ?? 0) + (pairs[at + 1]?.[side] ?? 0)
  return pairs.flatMap((_, at) => (at % 2 === 0 ? [both(at, 'watched') / both(at, 'plain')] : []))
}

async function scrape({ metricsUrls = {} }: { metricsUrls?: Record<string, string> | undefined }) {
  for (const url of Object.values(metricsUrls)) await request(url).then(({ body }) => body.dump())
}

/** Takes whatever is exported. */
async function startCollector() {
  let received = 0
  const server = createServer((exported, response) => {
    received++
    exported.resume().once('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received: () => received,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
