import { startChild } from '../child.js'
import { type Caller, createCallerHeaders, throughGateway, toService } from '../limits/callers.js'
import { median, post } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'

const connections = 32
const goal = 0.5
const body = JSON.stringify({
  type: 'order.paid',
  payload: { order: 'ord_4711', amount: 129_90, currency: 'EUR', lines: [{ sku: 'A-1', quantity: 2 }] },
})

/**
 * Compares topic publishes to the service and through the gateway with a bare Express route that makes the same
 * publish.
 */
export async function measureTopics({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const raw = await startChild('log/raw-publish.js', { NATS_URL: cluster.info.natsUrl })
  const bare: Caller = { url: `http://127.0.0.1:${raw.port}`, login: { headers: {} } }
  const callers = {
    bare,
    direct: toService(cluster, 'dispatcher', ['topics:read', 'topics:write']),
    gateway: throughGateway(cluster),
  }
  const publish = async (caller: Caller, length: number) => {
    const url = `${caller.url}/events/topics/bench/publish`
    const result = await post({
      url,
      headers: await createCallerHeaders(caller)(),
      body,
      seconds: length,
      connections,
    })
    if (result.failures > 0) throw new Error(`${result.failures} publishes to ${url} failed`)
    return result.perSecond
  }

  say('Warming up topics…')
  for (const caller of Object.values(callers)) await publish(caller, 3)
  const rounds = { bare: [] as number[], direct: [] as number[], gateway: [] as number[] }
  for (let round = 1; round <= 3; round++) {
    for (const name of ['bare', 'direct', 'gateway'] as const)
      rounds[name].push(await publish(callers[name], seconds))
    const text = Object.entries(rounds).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(0)}/s`)
    say(`  round ${round}: ${text.join(', ')}`)
  }
  raw.child.kill()
  const limit = median(rounds.bare)
  const figure = (name: string, perSecond: number) => ({
    name,
    value: `${perSecond.toFixed(0)}/s`,
    raw: `${limit.toFixed(0)}/s bare Express + JetStream`,
    ratio: perSecond / limit,
  })
  return [
    {
      ...figure('topic publishes', median(rounds.direct)),
      goal: `≥ ${goal}`,
      met: median(rounds.direct) / limit >= goal,
    },
    { ...figure('topic publishes through the gateway', median(rounds.gateway)), goal: '', met: true },
  ]
}
