import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { createLogger, createReleasers } from '@opsplane/runtime'
import { pgbouncer, waitFor } from '@opsplane/testing'
import type { Victim } from '../crash-load.js'
import { shortLeases, startOwnWork } from './own-work.js'
import { type ReplicatedPlatform, startReplicas } from './platform.js'
import { countUnauthenticated, createApis, createOnce } from './shared-state.js'
import { expectProgress, type Loads, startTraffic, type Traffic } from './traffic.js'

/**
 * How often each replica of each service and each NATS server is killed; by default one of each of the busiest is
 * killed once.
 */
const rounds = Number(process.env.REPLICA_KILLS ?? 0)
const busiest: ServiceName[] = ['gateway', 'settings', 'itsm', 'dispatcher']
/** These do background work that another replica must take over; the other busiest services only answer requests. */
const killedOnce: ServiceName[] = ['itsm', 'dispatcher']

const strangersPerMinute = 60

let platform: ReplicatedPlatform
let traffic: Traffic

beforeAll(async () => {
  platform = await startReplicas({
    services: rounds > 0 ? serviceNames : busiest,
    natsServers: rounds > 0 ? 3 : 1,
    pooler: rounds > 0 && pgbouncer !== undefined,
    extra: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(strangersPerMinute), ...(rounds > 0 && shortLeases) },
  })
  traffic = await startTraffic(platform)
})
afterAll(async () => {
  await traffic?.stop()
  await platform?.stop()
})

describe('two gateways', () => {
  test('share one rate limit', async () => {
    const [one, other] = platform.gateways
    const startedAt = performance.now()
    expect(await countUnauthenticated(one, 0)).toBeGreaterThan(strangersPerMinute / 2)
    // A gateway lets requests through while it waits for the shared count, so the requests are spaced to leave time for
    // that response; by its own count alone the second gateway would let the whole limit through again.
    const through = await countUnauthenticated(other, 200)
    const refilled = (performance.now() - startedAt) / 1_000
    expect(through).toBeLessThan(strangersPerMinute / 2 + refilled)
  })

  test('apply concurrent creates with one idempotency key once, whichever replica receives them', async () => {
    const apis = createApis(platform)
    for (let n = 0; n < 4; n++) expect((await createOnce(apis, `once-${n}`)).size).toBe(1)
  })

  test('reject a key that was revoked through the other gateway', async () => {
    const [one, other] = createApis(platform)
    const body = { name: 'short', scopes: ['itsm:read'] }
    const made = await one?.<{ data: { id: string; token: string } }>('POST', '/auth/tokens', { body })
    const { id, token } = made?.body.data ?? {}
    const headers = { authorization: `Bearer ${token}` }
    const read = async (api = one) => (await api?.('GET', '/itsm/incidents', { headers }))?.status
    expect([await read(), await read(other)]).toEqual([200, 200])
    expect((await one?.('DELETE', `/auth/tokens/${id}`))?.status).toBe(200)
    await waitFor(async () => (await read()) === 401 && (await read(other)) === 401)
  })

  test('end a long-poll with an event published through the other gateway', async () => {
    const [one, other] = createApis(platform)
    const topic = '/events/topics/across'
    for (let n = 0; n < 3; n++) {
      const last = await other?.<{ data: { id: string }[] }>('GET', `${topic}/events?timeout=0`)
      const after = last?.body.data.at(-1)?.id
      const poll = other?.<{ data: { payload: unknown }[] }>(
        'GET',
        `${topic}/events?timeout=20000${after === undefined ? '' : `&after=${after}`}`,
      )
      const published = await one?.('POST', `${topic}/publish`, { body: { type: 'counted', payload: { n } } })
      expect(published?.body).toMatchObject({ data: { topic: 'across' } })
      expect((await poll)?.body.data.map(({ payload }) => payload)).toEqual([{ n }])
    }
  })
})

test('every service is replaced under load, replica by replica: no request fails, and nothing is lost', async () => {
  await traffic.during('replaced', async (loads) => {
    for (const place of rounds > 0 ? [0, 1] : [0]) await replace(place, loads)
    expect([loads.incidents.refused(), loads.topic.refused()]).toEqual([0, 0])
  })
})

test('replicas and NATS servers are killed under load: failed requests can be retried, and nothing is lost', async () => {
  await traffic.during('killed', async (loads) => {
    for (let round = 0; round < Math.max(1, rounds); round++)
      for (const [name, victim] of Object.entries(victims())) await killAndGoOn(name, victim, loads)
  })
})

const long = rounds > 0 ? test : test.skip

long(
  'what a killed replica has in flight is taken over by the other one, and each time of a schedule fires once',
  async () => {
    const releasers = createReleasers(createLogger({ service: 'replicas', level: 'silent' }))
    try {
      const work = await startOwnWork(platform, releasers)
      for (const [what, begin] of Object.entries(work.inHand)) {
        const { service, holder, ended } = await begin()
        const victim = platform.replicas[service]?.find((_, n) => holder.startsWith(`${service}-${n}:`))
        expect([what, holder, victim?.name]).toEqual([what, holder, service])
        await victim?.kill()
        await ended()
        await victim?.start()
      }
      for (const name of ['workflows', 'sdk', 'analytics', 'settings'] as const)
        for (const [n, replica] of (platform.replicas[name] ?? []).entries()) {
          await replica.kill()
          await work.goesOn(`${name}-${n} was killed`)
          await replica.start()
        }
      await work.firedOnce()
    } finally {
      await releasers.release()
    }
  },
)

/** Ends one replica of each service as an orchestrator does, and starts it again. */
async function replace(place: number, loads: Loads): Promise<void> {
  const chosen = Object.values(platform.replicas).map((replicas) => replicas[place])
  const ends = await Promise.all(chosen.map(async (replica) => [replica?.name, await replica?.retire()]))
  expect(ends).toEqual(chosen.map((replica) => [replica?.name, 0]))
  await expectProgress('replicas that end', loads)
  await Promise.all(chosen.map((replica) => replica?.rejoin()))
  await expectProgress('replicas that begin', loads)
}

function victims(): Record<string, Victim> {
  const chosen = Object.values(platform.replicas).flatMap((replicas) =>
    rounds > 0 ? [replicas] : replicas.slice(0, 1).filter(({ name }) => killedOnce.includes(name)),
  )
  const processes = chosen.flat().map((replica, n) => [`${replica.name}-${n}`, replica] as const)
  const servers = platform.nats.map((server, n) => [`nats-${n}`, server] as const)
  return Object.fromEntries([...processes, ...servers])
}

/** The load must continue before the victim is back, if there is another replica of its kind. */
async function killAndGoOn(name: string, victim: Victim, loads: Loads): Promise<void> {
  const isAlone = name.startsWith('nats') && platform.nats.length === 1
  await victim.kill()
  if (isAlone) await victim.start()
  await expectProgress(name, loads)
  if (!isAlone) await victim.start()
  await expectProgress(name, loads)
}
