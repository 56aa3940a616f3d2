import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cluster } from '@opsplane/local'
import { request } from 'undici'
import { requestFromChild } from '../child.js'
import { temporaryFolder } from '../ending.js'
import { startMeasured } from '../environment.js'
import { createIncidentsByTurns } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import { medianInterval } from '../median-interval.js'
import { breakdown, type CpuTimes, cpuSince, cpuTimes, totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { everyEventArrived, subscribeTo } from './delivered.js'
import { startPlainReceiver } from './receiver.js'

const rounds = 16
const warmUps = 2
const connections = 16
const scrapeEveryMs = 15_000
/** Compares the platform with one of identical settings: shows the error of the method itself. */
const isControl = process.env.BENCH_CONTROL === '1'

/**
 * Measures the cost of telemetry: CPU per accepted and delivered incident, over all processes, of a platform whose
 * metrics are scraped and whose requests are traced at the default rate, compared with one with neither. Both run at
 * the same time, and each client creates incidents at both alternately: both get the same number, and disturbances
 * of the machine affect both equally.
 */
export async function measureTelemetry({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const collector = await startCollector()
  const watched = await startMeasured(temporaryFolder('watched'), {
    metrics: !isControl,
    extra: isControl ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  })
  const scraping = setInterval(() => void scrape(watched), scrapeEveryMs)
  try {
    const ratios = await sideBySide({ plain: cluster, watched }, seconds, say)
    const { median, low, high } = medianInterval(ratios)
    return [
      {
        name: `CPU per delivered incident ${isControl ? 'of the same once more' : 'with metrics and traces'}`,
        value: `${percent(median)} (${percent(low)} to ${percent(high)}), ${collector.received()} exports`,
        raw: `${rounds} rounds side by side`,
        ratio: median,
        goal: '≤ 1.03',
        met: median <= 1.03,
      },
    ]
  } finally {
    clearInterval(scraping)
    await watched.stop()
    await collector.stop()
  }
}

const sides = ['plain', 'watched'] as const
type Side = (typeof sides)[number]

const percent = (ratio: number) => `${ratio < 1 ? '−' : '+'}${Math.abs((ratio - 1) * 100).toFixed(1)} %`

/** For each round, the cost of the platform with telemetry compared with the one without. */
async function sideBySide(
  clusters: Record<Side, Cluster>,
  seconds: number,
  log: (text: string) => void,
): Promise<number[]> {
  const receiver = await startPlainReceiver()
  for (const side of sides) await subscribeTo(clusters[side], `${receiver.origin}/${side}`)
  const ratios: number[] = []
  let dearer: CpuTimes = {}
  let measuredCount = 0
  for (let round = 0; round < warmUps + rounds; round++) {
    await requestFromChild(receiver.child, 'report')
    const before = { plain: cpuTimes(clusters.plain), watched: cpuTimes(clusters.watched) }
    const count = await createIncidentsByTurns({
      targets: sides.map((side) => incidents(clusters[side])),
      ...{ seconds, connections },
    })
    await everyEventArrived(receiver.child, sides.length * count)
    for (const side of sides) await consumersCaughtUp(clusters[side])
    const spent = (side: Side) => cpuSince(before[side], cpuTimes(clusters[side]))
    const times = { plain: spent('plain'), watched: spent('watched') }
    const cost = (side: Side) => totalMs(times[side]) / count
    const ratio = cost('watched') / cost('plain')
    if (round >= warmUps) {
      ratios.push(ratio)
      measuredCount += count
      dearer = sumOf(dearer, cpuSince(times.plain, times.watched))
    }
    log(
      `  round ${round}: ${count} each, ${cost('plain').toFixed(3)} and ${cost('watched').toFixed(3)} ms, ${percent(ratio)}`,
    )
  }
  log(`  dearer per incident by ms: ${breakdown(dearer, measuredCount)}`)
  receiver.child.kill()
  return ratios
}

const sumOf = (some: CpuTimes, more: CpuTimes): CpuTimes =>
  Object.fromEntries(Object.entries(more).map(([name, ms]) => [name, ms + (some[name] ?? 0)]))

async function scrape({ metricsUrls = {} }: { metricsUrls?: Record<string, string> | undefined }) {
  for (const url of Object.values(metricsUrls)) await request(url).then(({ body }) => body.dump())
}
/** Starts a collector that accepts whatever is exported. */
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
