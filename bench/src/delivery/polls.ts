import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { cpuMs, percentile, requestFromChild, startChild } from '../child.js'
import { type Caller, createCallerHeaders, throughGateway, toService } from '../limits/callers.js'
import { evenly } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import { openFiles, residentMb } from '../process-memory.js'
import type { Figure } from '../report.js'

const targetPolls = 10_000
const topics = 1_000
const publishesPerSecond = 50

/** Measures the memory of one replica while polls wait on it, and how soon a publish answers the polls of its topic. */
export async function measurePolls(options: MeasureOptions): Promise<Figure[]> {
  const files = openFiles() - 500
  const direct = await waitingPolls(
    options,
    toService(options.cluster, 'dispatcher', ['topics:read', 'topics:write']),
    Math.min(targetPolls, files),
    'direct',
  )
  // The gateway needs two sockets for each poll.
  const reachable = Math.min(targetPolls, Math.floor(files / 2 / topics) * topics)
  const gateway = await waitingPolls(options, throughGateway(options.cluster), reachable, 'gateway')
  return [
    ...figuresOf(direct, 'one replica'),
    // For information only: the goals apply to a single replica, and here three processes share the machine.
    ...figuresOf(gateway, 'one replica behind the gateway').map((figure) => ({
      ...figure,
      goal: '',
      met: true,
    })),
    {
      name: `${gateway.polls} waiting polls, the gateway: more memory`,
      value: `${gateway.gatewayMb.toFixed(0)} MB`,
      goal: '',
      met: true,
    },
  ]
}

interface Waiting {
  polls: number
  /** Memory while all polls wait, in MB. */
  replicaMb: number
  /** Memory after the wake-ups, including garbage that is not collected yet, in MB. */
  laterMb: number
  gatewayMb: number
  latencies: number[]
}

function figuresOf({ polls, replicaMb, laterMb, latencies }: Waiting, where: string): Figure[] {
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return [
    {
      name: `${polls} waiting polls, ${where}: more memory`,
      value: `${replicaMb.toFixed(0)} MB, ${laterMb.toFixed(0)} MB after wake-ups`,
      goal: '< 250 MB',
      met: replicaMb < 250,
    },
    {
      name: `${polls} waiting polls, ${where}: publish to wake-up`,
      value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      goal: 'p99 < 100 ms',
      met: p99 < 100,
    },
  ]
}

async function waitingPolls(
  { cluster, seconds, say }: MeasureOptions,
  caller: Caller,
  polls: number,
  prefix: string,
): Promise<Waiting> {
  const { dispatcher, gateway } = cluster.services
  // Restarted, so that memory left from an earlier load does not hide the memory of the polls.
  for (const service of [dispatcher, gateway]) {
    await service.stop()
    await service.start()
  }
  const publisher = topicPublisher(caller)
  while ((await publisher.publish('warm')) !== 201) await delay(50)
  const before = residentMb([dispatcher.pid(), gateway.pid()])

  say(`${polls} polls begin to wait (${prefix})…`)
  const clients = await startChild('delivery/poll-clients.js', {
    CALLER: JSON.stringify(caller),
    POLLS: String(polls),
    TOPICS: String(topics),
    TOPIC_PREFIX: `${prefix}-`,
  })
  const count = () =>
    requestFromChild<{ waiting: number; seen: number; failures: number }>(clients.child, 'count')
  try {
    // Each poll is repeated every 20 seconds, so at any moment a few are not waiting.
    while ((await count()).waiting < polls * 0.99) await delay(200)
    const waiting = residentMb([dispatcher.pid(), gateway.pid()])

    say(`  now ${publishesPerSecond} publishes a second, each to one of ${topics} topics…`)
    const [cpuBefore, startedAt] = [cpuMs(dispatcher.pid() ?? 0), performance.now()]
    const published = await evenly({ rate: publishesPerSecond, seconds }, async () => {
      const status = await publisher.publish(`${prefix}-${Math.floor(Math.random() * topics)}`)
      if (status !== 201) throw new Error(`a publish answered ${status}`)
    })
    const expected = (published * polls) / topics
    const deadline = performance.now() + 10_000
    while ((await count()).seen < expected && performance.now() < deadline) await delay(100)
    const woken = residentMb([dispatcher.pid(), gateway.pid()])
    const cores = (cpuMs(dispatcher.pid() ?? 0) - cpuBefore) / (performance.now() - startedAt)
    say(`  the replica used ${cores.toFixed(2)} cores`)
    const report = await requestFromChild<{ latencies: number[]; failures: string[] }>(
      clients.child,
      'report',
    )
    if (report.failures.length > 0) throw new Error(`polls failed: ${report.failures.join('; ')}`)
    if (report.latencies.length !== expected)
      throw new Error(`${report.latencies.length} wake-ups instead of ${expected}`)
    const [replicaMb, laterMb] = [waiting[0] - before[0], woken[0] - before[0]]
    const gatewayMb = Math.max(waiting[1], woken[1]) - before[1]
    return { polls, replicaMb, laterMb, gatewayMb, latencies: report.latencies }
  } finally {
    clients.child.kill()
    await publisher.close()
  }
}

function topicPublisher(caller: Caller) {
  const agent = new Agent({ connections: 32 })
  const headers = createCallerHeaders(caller)
  return {
    async publish(topic: string): Promise<number> {
      const sentAtMs = performance.timeOrigin + performance.now()
      const response = await request(`${caller.url}/events/topics/${topic}/publish`, {
        method: 'POST',
        headers: { ...(await headers()), 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'order.paid', payload: { sentAtMs } }),
        dispatcher: agent,
      })
      await response.body.dump()
      return response.statusCode
    },
    close: () => agent.close(),
  }
}
