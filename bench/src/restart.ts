import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import { request } from 'undici'
import { ask } from './child.js'
import { incidents, type MeasureOptions } from './creates.js'
import { subscribeTo } from './delivered.js'
import { median } from './load.js'
import { consumersCaughtUp } from './pipeline.js'
import { startPlainReceiver } from './receiver.js'
import type { Figure } from './report.js'

const rounds = 3

/** Every service killed at once and started at once: until all are up, and from then until the first delivery. */
export async function measureRestart({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const receiver = await startPlainReceiver()
  await subscribeTo(cluster, `${receiver.origin}/hook`)
  await createOne(cluster)
  await consumersCaughtUp(cluster)
  const upMs: number[] = []
  const deliveredMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const services = Object.values(cluster.services)
    await Promise.all(services.map((service) => service.kill()))
    await ask(receiver.child, 'report')
    const startedAt = performance.now()
    await Promise.all(services.map((service) => service.start()))
    const upAt = performance.now()
    await createOne(cluster)
    await firstArrival(receiver.child)
    upMs.push(upAt - startedAt)
    deliveredMs.push(performance.now() - upAt)
    say(
      `  round ${round}: up in ${upMs.at(-1)?.toFixed(0)} ms, delivered ${deliveredMs.at(-1)?.toFixed(0)} ms later`,
    )
    await consumersCaughtUp(cluster)
  }
  receiver.child.kill()
  const [up, delivered] = [median(upMs), median(deliveredMs)]
  return [
    { name: 'all services up after kill -9', value: `${up.toFixed(0)} ms`, goal: '≤ 1 s', met: up <= 1_000 },
    {
      name: 'first delivery after they are up',
      value: `${delivered.toFixed(0)} ms`,
      goal: '≤ 1 s',
      met: delivered <= 1_000,
    },
  ]
}

/** Repeated until it is acknowledged, as a client would. */
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

async function firstArrival(receiver: Parameters<typeof ask>[0]): Promise<void> {
  while ((await ask<{ count: number }>(receiver, 'count')).count === 0) await delay(5)
}
