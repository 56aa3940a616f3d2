import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import { request } from 'undici'
import { cpuMs, requestFromChild } from '../child.js'
import { endWithBench } from '../ending.js'
import { median } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import type { Figure } from '../report.js'
import { subscribeTo } from './delivered.js'
import { startPlainReceiver } from './receiver.js'

const rounds = 3

/**
 * Kills all services simultaneously and starts them simultaneously: measures the time until all are up, and from
 * then until the first delivery.
 */
export async function measureRestart({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const receiver = await startPlainReceiver()
  await subscribeTo(cluster, `${receiver.origin}/hook`)
  await createOne(cluster)
  await consumersCaughtUp(cluster)
  const upMs: number[] = []
  const deliveredMs: number[] = []
  const cpu: number[] = []
  const bareMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const services = Object.values(cluster.services)
    await Promise.all(services.map((service) => service.kill()))
    await requestFromChild(receiver.child, 'report')
    const startedAt = performance.now()
    await Promise.all(services.map((service) => service.start()))
    const upAt = performance.now()
    cpu.push(services.reduce((sum, service) => sum + cpuMs(service.pid() ?? 0), 0))
    await createOne(cluster)
    await firstArrival(receiver.child)
    upMs.push(upAt - startedAt)
    deliveredMs.push(performance.now() - upAt)
    await consumersCaughtUp(cluster)
    bareMs.push(await startBare(services.length))
    say(
      `  round ${round}: up in ${shown(upMs.at(-1))} ms (bare Node ${shown(bareMs.at(-1))} ms), delivered ${shown(deliveredMs.at(-1))} ms later`,
    )
  }
  receiver.child.kill()
  const [up, delivered, bare] = [median(upMs), median(deliveredMs), median(bareMs)]
  return [
    {
      name: 'all services up after kill -9',
      value: `${shown(up)} ms`,
      raw: `${shown(bare)} ms as many empty Node servers`,
      ratio: bare / up,
      goal: '≤ 1 s',
      met: up <= 1_000,
    },
    { name: 'CPU of all services until they are up', value: `${shown(median(cpu))} ms`, goal: '', met: true },
    {
      name: 'first delivery after they are up',
      value: `${shown(delivered)} ms`,
      goal: '≤ 1 s',
      met: delivered <= 1_000,
    },
  ]
}

const shown = (ms = Number.NaN) => ms.toFixed(0)

/** Time until `count` Node processes that only listen on a port are up, started simultaneously. */
async function startBare(count: number): Promise<number> {
  const script = `require('node:http').createServer().listen(0, () => console.log('up'))`
  const startedAt = performance.now()
  const children = Array.from({ length: count }, () => spawn(process.execPath, ['-e', script]))
  for (const child of children) endWithBench('a bare process', () => void child.kill())
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const durationMs = performance.now() - startedAt
  await Promise.all(children.map(terminate))
  return durationMs
}

function terminate(child: ChildProcess): Promise<unknown> {
  const exit = once(child, 'exit')
  child.kill()
  return exit
}

/** Repeats the request until it is acknowledged, as a client would. */
async function createOne(cluster: Cluster): Promise<void> {
  const { url, headers } = incidents(cluster)
  for (;;) {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'After the restart' }),
    })
    await body.dump()
    if (statusCode === 201) return
    await delay(5)
  }
}

async function firstArrival(receiver: Parameters<typeof requestFromChild>[0]): Promise<void> {
  while ((await requestFromChild<{ count: number }>(receiver, 'count')).count === 0) await delay(5)
}
