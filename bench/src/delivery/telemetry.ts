import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, openState, startCluster } from '@opsplane/local'
import { request } from 'undici'
import { median } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import { totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { createAndDeliver, subscribeTo } from './delivered.js'
import { startPlainReceiver } from './receiver.js'

const rounds = 5
const connections = 32
const scrapeEveryMs = 15_000

/**
 * What it costs to be watched: CPU per incident that is accepted and delivered, over all processes, of a platform whose
 * metrics are scraped and whose requests are traced by the default share, beside one of neither. By turns, so that both see
 * the same machine.
 */
export async function measureTelemetry({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const collector = await startCollector()
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-bench-watched-'))
  const watched = await startCluster({
    state: openState(join(folder, 'state')),
    metrics: true,
    extra: { RATE_LIMIT_PER_MINUTE: '0', LIMITS: '{}', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  })
  const scraping = setInterval(() => void scrape(watched), scrapeEveryMs)
  try {
    const costs = await byTurns({ plain: cluster, watched }, seconds, say)
    const [plain, own] = [median(costs.plain), median(costs.watched)]
    return [
      {
        name: 'CPU per delivered incident with metrics and traces',
        value: `${own.toFixed(2)} ms, ${collector.received()} exports`,
        raw: `${plain.toFixed(2)} ms without`,
        ratio: own / plain,
        goal: '≤ 1.03',
        met: own / plain <= 1.03,
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

async function byTurns(clusters: Record<Side, Cluster>, seconds: number, say: (text: string) => void) {
  const costs: Record<Side, number[]> = { plain: [], watched: [] }
  const receivers = { plain: await startPlainReceiver(), watched: await startPlainReceiver() }
  const sides = ['plain', 'watched'] as const
  for (const side of sides) await subscribeTo(clusters[side], `${receivers[side].origin}/hook`)
  // The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const receiver = receivers[side].child
      const { cpu, count } = await createAndDeliver({
        cluster: clusters[side],
        receiver,
        seconds,
        connections,
      })
      if (round > 0) costs[side].push(totalMs(cpu) / count)
      say(`  round ${round}, ${side}: ${(totalMs(cpu) / count).toFixed(3)} ms each`)
    }
  for (const side of sides) receivers[side].child.kill()
  return costs
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
