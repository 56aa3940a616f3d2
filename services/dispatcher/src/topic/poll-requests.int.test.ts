import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { natsNames, PublishedTopicEvent, TopicEvent } from '@opsplane/contracts'
import {
  createApp,
  createInternalIssuer,
  createInternalVerifier,
  generateServiceKeys,
  type Listening,
  listen,
} from '@opsplane/http'
import { connectNats, ensureStreams, type NatsLink } from '@opsplane/nats'
import { createLogger, systemClock } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import {
  type ApiClient,
  createApiClient,
  testNatsUrl,
  testPrincipal,
  uniquePrefix,
  waitFor,
} from '@opsplane/testing'
import { topicRoutes } from './routes.js'
import { createTopics, type Topics } from './topics.js'
import { Waiters } from './waiters.js'

const log = createLogger({ service: 'test', level: 'silent' })
const gateway = generateServiceKeys()
const issuer = createInternalIssuer({ service: 'gateway', privateKey: gateway.privateKey })
const principal = testPrincipal()
const authorization = async () => ({
  authorization: `Bearer ${await issuer.clientToken('dispatcher', principal)}`,
})

interface Served {
  url: string
  link: NatsLink
  waiters: Waiters
  topics: Topics
  listening: Listening
  api: ApiClient
  stop(): Promise<void>
}

async function serve(natsUrl: string, prefix: string): Promise<Served> {
  const link = connectNats({ url: natsUrl, name: 'test', log })
  const waiters = new Waiters()
  const topics = createTopics({
    link,
    names: natsNames(prefix),
    waiters,
    log,
    budgets: { spend: () => undefined },
  })
  const app = createApp({
    service: 'dispatcher',
    routes: topicRoutes(topics),
    verifier: createInternalVerifier({ service: 'dispatcher', trustedKeys: { gateway: gateway.publicKey } }),
    log,
    clock: systemClock,
  })
  const listening = await listen(app, { port: 0, host: '127.0.0.1', log, onDrain: () => waiters.drain() })
  const url = `http://127.0.0.1:${listening.port}`
  return {
    url,
    link,
    waiters,
    topics,
    listening,
    api: createApiClient(url, authorization),
    async stop() {
      await listening.close()
      await topics.close()
      await link.close()
    },
  }
}

const publishPath = '/events/topics/orders/publish'
const eventsPath = '/events/topics/orders/events'
const event = { type: 'a', payload: {} }

describe('requests for topics', () => {
  let served: Served
  beforeAll(async () => {
    const prefix = uniquePrefix()
    served = await serve(testNatsUrl(), prefix)
    await ensureStreams(served.link, natsNames(prefix))
  })
  afterAll(() => served?.stop())

  it('wait for an event, or until their timeout', async () => {
    const polling = served.api.get(`${eventsPath}?timeout=20000`)
    await waitFor(() => served.waiters.size === 1)
    const { id } = (await served.api.post(publishPath, event)).data(PublishedTopicEvent)
    expect((await polling).page(TopicEvent).items).toMatchObject([{ id }])
    const late = (await served.api.get(`${eventsPath}?timeout=100&after=${id}`)).page(TopicEvent)
    expect(late).toEqual({ items: [], pagination: { nextCursor: id, hasMore: false, limit: 50 } })
  })

  it('leave no waiter behind when their client disconnects', async () => {
    const headers = await authorization()
    const url = `${served.url}/events/topics/gone/events?timeout=20000`
    const polls = Array.from({ length: 20 }, () => get(url, { headers }).on('error', () => {}))
    await waitFor(() => served.waiters.size === 20)
    for (const poll of polls) poll.destroy()
    await waitFor(() => served.waiters.size === 0)
  })

  it('are answered with an empty page when the service stops', async () => {
    const polling = served.api.get('/events/topics/drain/events?timeout=20000')
    await waitFor(() => served.waiters.size === 1)
    const closed = served.listening.close()
    expect((await polling).page(TopicEvent).items).toEqual([])
    await closed
  })
})

describe('requests for topics without NATS', () => {
  it('are rejected as retryable', async () => {
    const served = await serve(`nats://127.0.0.1:${await freePort()}`, uniquePrefix())
    try {
      const replies = [
        await served.api.post(publishPath, event),
        await served.api.get(eventsPath),
        await served.api.get(`${eventsPath}?timeout=20000`),
      ]
      for (const reply of replies) {
        expect(reply.error()).toMatchObject({ code: 'service_unavailable', status: 503, retryable: true })
        expect(reply.headers.get('retry-after')).toBe('1')
      }
      expect(served.waiters.size).toBe(0)
    } finally {
      await served.stop()
    }
  })
})
