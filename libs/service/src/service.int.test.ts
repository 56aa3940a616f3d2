import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { LogPage } from '@opsplane/eventstore'
import { defineRoute, generateServiceKeys } from '@opsplane/http'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { noteDecider, noteEvents, noteService, type Seen } from './fixture/notes.js'
import { defineService, type Service } from './index.js'

const overrides = { checkedAgainst: noteEvents }
const Created = z.object({ id: z.string(), title: z.string() })

describe('a service', () => {
  const seen: Seen = { consumed: [], closed: [] }
  let notes: Service
  let service: TestService
  let api: ApiClient

  beforeAll(async () => {
    notes = await noteService(seen)
    service = await startTestService(notes, { overrides })
    api = service.as(testPrincipal())
  })
  afterAll(() => service?.stop())

  const create = (title: string, key?: string) =>
    api.post('/notes', { title }, key === undefined ? {} : { 'idempotency-key': key })

  test('answers a request, stores the event and publishes it', async () => {
    const { id } = (await create('Printer on fire')).data(Created)
    await waitFor(() => seen.consumed.some(({ resource }) => resource.id === id))
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })

  test('does not start on a database of another installation or on a copy', async () => {
    const start = (env: Record<string, string>) =>
      notes.start(notes.loadConfig({ ...service.env, ...env, PORT: '0' }), overrides)
    await expect(start({ INSTALLATION_ID: 'strang' })).rejects.toThrow(
      'belongs to installation tester, and this is installation strang',
    )
    const place = (change: string) =>
      service.sql.unsafe(
        `update opsplane.installation set database_oid = (database_oid::bigint ${change})::oid`,
      )
    await place('+ 1')
    try {
      await expect(start({})).rejects.toThrow('opsplane adopt')
    } finally {
      await place('- 1')
    }
    const own = await start({ INSTALLATION_ID: 'tester', INSTANCE_ID: 'own' })
    expect((await fetch(`${own.url}/readyz`)).status).toBe(200)
    await own.stop()
  })

  test('executes 50 concurrent requests with one idempotency key once', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => create('Contended', 'key-1')))
    const statuses = new Set(replies.map(({ status }) => status))
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([])
    expect(await service.sql`select 1 from notes where state->>'title' = 'Contended'`).toHaveLength(1)
    expect((await create('Other', 'key-1')).status).toBe(422)
  })

  test('serves its log to other services page by page, and refuses other callers', async () => {
    await create('Read by others')
    const page = (await service.asService('itsm').get('/internal/events?after=0&types=note.*')).data(LogPage)
    expect(page.next).toBeNull()
    expect(page.events.map(({ position }) => position)).toEqual(page.events.map((_, at) => at + 1))
    expect(page.events.at(-1)?.event.data).toMatchObject({ after: { title: 'Read by others' } })
    const rest = await service.asService('itsm').get(`/internal/events?after=${page.events.length - 1}`)
    expect(rest.data(LogPage).events).toEqual(page.events.slice(-1))
    for (const client of [api, service.as(), service.asService('gateway'), service.asService('operator')])
      expect((await client.get('/internal/events?after=0')).error().code).toBe('forbidden')
  })

  test('has a schema named after it, and rebuilds the same read models from its log', async () => {
    const rows = () => service.sql`select id, version, state from notes order by id`
    const before = await rows()
    expect([notes.schema, notes.tables]).toEqual(['note_desk', ['notes']])
    expect(before.length).toBeGreaterThan(0)
    expect((await service.rebuild()).events).toBe(before.length)
    expect(await rows()).toEqual(before)
  })

  test('ends waiting requests first, then closes resources in reverse order and the database last', async () => {
    const events: Seen = { consumed: [], closed: [] }
    const replica = await noteService(events)
    const running = await replica.start(replica.loadConfig({ ...service.env, PORT: '0' }), overrides)
    await running.stop()
    await running.stop()
    expect(events.closed).toEqual(['intake', 'last', 'first'])
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()
  })
})

describe('without Postgres and NATS', () => {
  const env = {
    DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none',
    NATS_URL: 'nats://127.0.0.1:1',
    LOG_LEVEL: 'silent',
    SERVICE_PRIVATE_KEY: generateServiceKeys().privateKey,
    TRUSTED_SERVICE_KEYS: '{}',
    CURSOR_SECRET: 'a secret of at least 32 characters',
  }
  const unseen = (): Seen => ({ consumed: [], closed: [] })

  test('a service starts and stops, and reports that it is not ready', async () => {
    const notes = await noteService(unseen())
    const running = await notes.start(notes.loadConfig(env), overrides)
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${running.url}/readyz`)).status).toBe(503)
    await running.stop()
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()
  })

  test('two deciders for one table are rejected', async () => {
    const deciders = [noteDecider, { ...noteDecider }]
    await expect(noteService(unseen(), { deciders })).rejects.toThrow('notes')
  })

  test("a route outside of the service's own paths is rejected, and opened resources are closed", async () => {
    const foreign = defineRoute({
      operationId: 'elsewhere',
      method: 'get',
      path: '/memos',
      summary: 'The gateway routes no request here',
      tag: 'notes',
      scope: 'public',
      response: z.object({}),
      handler: async () => ({}),
    })
    const seen = unseen()
    const notes = await noteService(seen, { routes: [foreign] })
    await expect(notes.start(notes.loadConfig(env))).rejects.toThrow('/memos')
    expect(seen.closed).toEqual(['last', 'first'])
  })

  test('a service has its paths from the registry, or must declare them itself', () => {
    const rest = {
      loadConfig: () => ({}) as never,
      migrationsDir: '',
      deciders: [],
      setup: () => ({ routes: [] }),
    }
    expect(defineService({ name: 'itsm', ...rest }).paths).toContain('cmdb')
    expect(() => defineService({ name: 'gateway', ...rest })).toThrow('gateway')
    expect(() => defineService({ name: 'unheard-of', ...rest })).toThrow('unheard-of')
  })
})
