import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { type Api, type ApiAnswer, type ApiRequest, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let dispatcherOfSecond: Awaited<ReturnType<typeof cluster.replica>>
let receiver: Receiver
let sql: postgres.Sql
/** Clients of two gateways, each in front of its own replicas. */
let gateways: [Api, Api]
/** Time the receiver delays a response, in ms. */
let heldMs = 0

beforeAll(async () => {
  cluster = await startTestCluster({ services: ['itsm', 'dispatcher'] })
  const itsm = await cluster.replica('itsm')
  dispatcherOfSecond = await cluster.replica('dispatcher')
  const { settings } = cluster.services
  const serviceUrls = { settings: settings.url, itsm: itsm.url, dispatcher: dispatcherOfSecond.url }
  const second = await cluster.replica('gateway', { SERVICE_URLS: JSON.stringify(serviceUrls) })
  gateways = [apiClient(cluster.info), apiClient({ ...cluster.info, baseUrl: `${second.url}/api/v1` })]
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200, delayMs: heldMs }),
  })
  sql = postgres(cluster.info.postgresUrl, { max: 1 })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})
beforeEach(() => {
  heldMs = 0
})

type Answer = ApiAnswer<{ data?: { id?: string }; error?: { code: string } }>
type Request = ApiRequest & { path: string }

const post = ({ path, ...request }: Request, key: string, gateway: Api = gateways[0]): Promise<Answer> =>
  gateway('POST', path, { ...request, headers: { 'idempotency-key': key } })

const isReplay = (answer: Answer) => answer.headers['idempotency-replayed'] === 'true'
const withoutMeta = ({ status, body: { data } }: Answer) => ({ status, data })

/**
 * Sends 50 concurrent requests with one key through both gateways; those answered `idempotency_in_progress` are
 * repeated until they receive the final response.
 */
async function fiftyAtOnce(request: Request, key: string): Promise<Answer[]> {
  const one = async (_: unknown, n: number) => {
    const gateway = gateways[n % 2] ?? gateways[0]
    const ask = async () => {
      const answer = await post(request, key, gateway)
      if (answer.status !== 409) return answer
      expect(answer.body.error?.code).toBe('idempotency_in_progress')
      expect(answer.headers['retry-after']).toBe('1')
      return undefined
    }
    // Shorter than the requested delay; with an even shorter interval, fifty clients would exceed the rate limit.
    return waitFor(ask, { intervalMs: 500 })
  }
  return Promise.all(Array.from({ length: 50 }, one))
}

function expectOneAnswer(answers: Answer[], status: number) {
  expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1)
  const [first] = answers.filter((answer) => !isReplay(answer)).map(withoutMeta)
  expect(first?.status).toBe(status)
  for (const answer of answers) expect(withoutMeta(answer)).toEqual(first)
}

async function webhook(name: string) {
  const body = { name, url: `${receiver.url}/${name}`, events: ['incident.closed'] }
  return (await post({ path: '/webhooks', body }, name)).body.data?.id ?? ''
}
const pings = (name: string) => receiver.received().filter(({ path }) => path === `/${name}`).length
const topicEvents = async (topic: string) =>
  (await gateways[0]<{ data: { id: string }[] }>('GET', `/events/topics/${topic}/events`)).body.data

describe('50 concurrent requests with one key, over two replicas, have one effect and one response', () => {
  test('if the key is stored in the transaction of the effect', async () => {
    const answers = await fiftyAtOnce({ path: '/itsm/incidents', body: { title: 'fifty' } }, 'fifty')
    expectOneAnswer(answers, 201)
    const rows = await sql`select id from itsm.incidents where state->>'title' = 'fifty'`
    expect(rows.map(({ id }) => id)).toEqual([answers[0]?.body.data?.id])
    expect(new Set(answers.map(({ headers }) => headers.location))).toEqual(
      new Set([`/api/v1/itsm/incidents/${rows[0]?.id}`]),
    )
  })

  test('if the key is claimed first: publishing to a topic', async () => {
    const body = { type: 'order.created', payload: { n: 1 } }
    const answers = await fiftyAtOnce({ path: '/events/topics/fifty/publish', body }, 'fifty')
    expectOneAnswer(answers, 201)
    expect((await topicEvents('fifty')).map(({ id }) => id)).toEqual([answers[0]?.body.data?.id])
  })

  test('if the key is claimed first: the test ping of a webhook', async () => {
    const id = await webhook('fifty')
    expectOneAnswer(await fiftyAtOnce({ path: `/webhooks/${id}/test` }, 'fifty'), 200)
    expect(pings('fifty')).toBe(1)
  })

  test('and a different request with the same key is rejected by both gateways', async () => {
    for (const gateway of gateways) {
      const refused = await post({ path: '/itsm/incidents', body: { title: 'other' } }, 'fifty', gateway)
      expect([refused.status, refused.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    }
  })
})

/** Lets the claim of a killed process expire. */
const passLockTime = () =>
  sql`update dispatcher.idempotency_keys set locked_until = now() - interval '1 second' where status is null`

/**
 * Must be called while nothing else is in flight. A claim that a killed process had already sent to Postgres may
 * still be written after its end.
 */
const untilFree = (request: Request, key: string) =>
  waitFor(async () => {
    const answer = await post(request, key)
    if (answer.status !== 409) return answer
    await passLockTime()
    return undefined
  })

describe('SIGKILL while a key is claimed', () => {
  test('the key is in progress until its lock expires, and a retry then has its effect', async () => {
    const id = await webhook('killed')
    heldMs = 60_000
    const cut = post({ path: `/webhooks/${id}/test` }, 'killed', gateways[1])
    await waitFor(() => pings('killed') === 1)
    await dispatcherOfSecond.kill()
    expect((await cut).status).toBeGreaterThanOrEqual(500)
    heldMs = 0
    try {
      const waiting = await post({ path: `/webhooks/${id}/test` }, 'killed')
      expect([waiting.status, waiting.body.error?.code]).toEqual([409, 'idempotency_in_progress'])
      expect(pings('killed')).toBe(1)
      await passLockTime()
      const again = await post({ path: `/webhooks/${id}/test` }, 'killed')
      expect([again.status, isReplay(again), pings('killed')]).toEqual([200, false, 2])
      const replayed = await post({ path: `/webhooks/${id}/test` }, 'killed')
      expect([replayed.status, isReplay(replayed), pings('killed')]).toEqual([200, true, 2])
    } finally {
      await dispatcherOfSecond.start()
    }
  })

  test('acknowledged publications are stored once, and the others can be retried', async () => {
    const request = (n: number) => ({
      path: '/events/topics/killed/publish',
      body: { type: 'order.created', payload: { n }, deduplicationKey: `order-${n}` },
    })
    const keys = Array.from({ length: 40 }, (_, n) => n)
    const sending = keys.map((n) => post(request(n), `killed-${n}`, gateways[1]))
    await Promise.race(sending)
    await dispatcherOfSecond.kill()
    const first = await Promise.all(sending)
    try {
      const again: Answer[] = []
      for (const n of keys) again.push(await untilFree(request(n), `killed-${n}`))
      for (const [n, answer] of again.entries()) {
        expect(answer.status).toBe(201)
        if (first[n]?.status === 201) expect(answer.body.data?.id).toBe(first[n].body.data?.id)
      }
      const stored = (await topicEvents('killed')).map(({ id }) => id)
      expect(stored.sort()).toEqual(again.map(({ body }) => body.data?.id).sort())
    } finally {
      await dispatcherOfSecond.start()
    }
  })
})
