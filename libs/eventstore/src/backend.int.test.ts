import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId, type PlatformEvent, type Principal } from '@opsplane/contracts'
import { createInternalIssuer, defineRoute, generateServiceKeys } from '@opsplane/http'
import { backendConfig, parseConfig, type RunningService } from '@opsplane/runtime'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { startBackend } from './backend.js'
import { consumeEvents } from './consume.js'
import { log, openTestStore, schema, type TestStore } from './fixture/test-database.js'
import { ticketDecider, ticketEvents } from './fixture/ticket.js'

const principal: Principal = {
  actor: { id: 'usr_1', name: 'Ann', type: 'user' },
  userId: 'usr_1',
  tokenId: 'tok_1',
  workspaceId: 'ws_1',
  workspaceSlug: 'acme',
  environment: 'production',
  permissions: ['itsm:write'],
}

describe('a backend', () => {
  let testStore: TestStore
  let service: RunningService
  const gateway = generateServiceKeys()
  const consumed: PlatformEvent[] = []

  beforeAll(async () => {
    testStore = await openTestStore()
    const config = parseConfig(backendConfig, {
      DATABASE_URL: testStore.url,
      NATS_URL: testNatsUrl(),
      NATS_PREFIX: uniquePrefix(),
      LOG_LEVEL: 'silent',
      SERVICE_PRIVATE_KEY: generateServiceKeys().privateKey,
      TRUSTED_SERVICE_KEYS: JSON.stringify({ gateway: gateway.publicKey }),
      CURSOR_SECRET: 'a secret of at least 32 characters',
    })
    service = await startBackend({
      name: schema,
      config,
      deciders: [ticketDecider],
      overrides: { log, checkedAgainst: ticketEvents },
      routes: ({ store }) => {
        const tickets = store.aggregate(ticketDecider)
        return [
          defineRoute({
            operationId: 'openTicket',
            method: 'post',
            path: '/tickets',
            summary: 'Open a ticket',
            tag: 'tickets',
            scope: 'itsm:write',
            status: 201,
            body: z.object({ title: z.string() }),
            response: z.looseObject({ id: z.string(), version: z.int() }),
            handler: ({ body, meta }) => {
              const id = newId('incident')
              return tickets.create(id, { kind: 'open', id, title: body.title, now: meta.now }, meta)
            },
          }),
        ]
      },
      consumers: ({ database, link, names }) => [
        consumeEvents({
          database,
          link,
          names,
          log,
          durable: 'desk-test',
          handle: async (events) => void consumed.push(...events),
        }),
      ],
    })
  })
  afterAll(async () => {
    await service.stop()
    await testStore.close()
  })

  const post = async (title: string, key?: string) => {
    const issuer = createInternalIssuer({ service: 'gateway', privateKey: gateway.privateKey })
    const token = await issuer.tokenFor(schema, principal)
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    }
    if (key) headers['idempotency-key'] = key
    const body = JSON.stringify({ title })
    return fetch(`${service.url}/tickets`, { method: 'POST', headers, body })
  }

  test('answers, keeps the event, and distributes it', async () => {
    const response = await post('Printer on fire')
    expect(response.status).toBe(201)
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await response.json())
    await waitFor(() => consumed.some(({ resource }) => resource.id === data.id))
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })

  test('replays a request byte for byte, and takes effect once for 50 at a time', async () => {
    const first = await post('Once', 'key-1')
    const again = await post('Once', 'key-1')
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const [one, other] = [await first.text(), await again.text()]
    const dataOf = (text: string) => text.slice(0, text.indexOf('"meta"'))
    expect(dataOf(other)).toBe(dataOf(one))
    expect((await post('Other', 'key-1')).status).toBe(422)

    const responses = await Promise.all(Array.from({ length: 50 }, () => post('Contended', 'key-2')))
    const statuses = responses.map(({ status }) => status)
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true)
    expect(statuses).toContain(201)
    const rows = await testStore.database.sql`select 1 from tickets where state->>'title' = 'Contended'`
    expect(rows).toHaveLength(1)
  })

  test('starts and stops with Postgres and NATS away, and says that it is not ready', async () => {
    const broken = await startBackend({
      name: schema,
      config: {
        ...parseConfig(backendConfig, {
          DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
          NATS_URL: 'nats://127.0.0.1:1',
          SERVICE_PRIVATE_KEY: generateServiceKeys().privateKey,
          TRUSTED_SERVICE_KEYS: '{}',
          CURSOR_SECRET: 'a secret of at least 32 characters',
        }),
      },
      overrides: { log, checkedAgainst: ticketEvents },
      routes: () => [],
    })
    expect((await fetch(`${broken.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${broken.url}/readyz`)).status).toBe(503)
    await broken.stop()
    await expect(fetch(`${broken.url}/healthz`)).rejects.toThrow()
  })

  test('refuses two deciders on one table', async () => {
    const deciders = [ticketDecider, { ...ticketDecider }]
    const config = parseConfig(backendConfig, {
      DATABASE_URL: testStore.url,
      SERVICE_PRIVATE_KEY: '-',
      TRUSTED_SERVICE_KEYS: '{}',
      CURSOR_SECRET: 'a secret of at least 32 characters',
    })
    await expect(startBackend({ name: schema, config, deciders, routes: () => [] })).rejects.toThrow(
      'tickets',
    )
  })
})
