import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals'
import { DeadLetter, PlatformStatus, TokenCreated, WorkspaceStatus } from '@opsplane/contracts'
import { freePort } from '@opsplane/runtime/server-process'
import type { ApiClient } from '@opsplane/testing'
import { z } from 'zod'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

const secret = 'salary of Grace: 123456'

let settings: Settings
let ada: Owner
let operator: ApiClient
/** Accepts requests and never responds. */
let stalling: Server
beforeAll(async () => {
  stalling = createServer(() => {})
  await new Promise<void>((resolve) => stalling.listen(0, '127.0.0.1', resolve))
  const urls = {
    itsm: `http://127.0.0.1:${(stalling.address() as AddressInfo).port}`,
    dispatcher: `http://127.0.0.1:${await freePort()}`,
  }
  settings = await startSettings({
    OPERATORS: 'ada@example.com, boss@example.com',
    SERVICE_URLS: JSON.stringify(urls),
  })
  ada = await settings.owner('ada')
  operator = await settings.as(ada.session)
})
afterAll(async () => {
  stalling?.close()
  stalling?.closeAllConnections()
  await settings?.stop()
})
beforeEach(async () => {
  await settings.service.sql`delete from dead_letters`
})

/** A dead letter of a consumer, with tenant content in every field that can contain some. */
async function givenUp(
  messageId: string,
  { consumer = 'settings-audit-log', subject = 'evt.ws_1.staging.incident.created' } = {},
): Promise<string> {
  const [row] = await settings.service.sql<{ id: string }[]>`
    insert into dead_letters (consumer, message_id, subject, stream_sequence, payload, error, cause, deliveries)
    values (${consumer}, ${messageId}, ${`${settings.service.natsPrefix}.${subject}`}, 1,
      ${JSON.stringify({ secret })}, ${`cannot read ${secret}`}, 'service_unavailable', 10)
    returning id`
  return `settings:${row?.id}`
}
const reported = async (id: string) =>
  (
    await settings.service.sql<{ type: string }[]>`
      select type from events where resource->>'id' = ${id} order by position`
  ).map(({ type }) => type)
const list = (query = '') => operator.get(`/platform/dead-letters${query}`)

describe('dead letters', () => {
  it('are listed page by page, with only the names that the platform itself assigned', async () => {
    const first = await givenUp('evt_1')
    const ofTopic = await givenUp('topic:7', { subject: `bus.ws_1.staging.${secret.replaceAll(' ', '.')}` })
    const relayed = await givenUp('evt_3', { consumer: 'relay', subject: 'evt.ws_1.staging.made.up' })
    const found: string[] = []
    for (let after = ''; ; ) {
      const page = (await list(`?service=settings&limit=1${after}`)).page(DeadLetter)
      found.push(...page.items.map(({ id }) => id))
      if (page.pagination.nextCursor === null) break
      after = `&after=${page.pagination.nextCursor}`
    }
    expect(found).toEqual([first, ofTopic, relayed])
    const { items } = (await list('?service=settings')).page(DeadLetter.strict())
    expect(items).toMatchObject([
      {
        messageId: 'evt_1',
        workspaceId: 'ws_1',
        environment: 'staging',
        eventType: 'incident.created',
        deliveries: 10,
        cause: 'service_unavailable',
      },
      { messageId: 'topic:7', workspaceId: null, eventType: null },
      { consumer: 'relay', workspaceId: 'ws_1', eventType: null },
    ])
    expect((await list('?service=settings&consumer=relay')).page(DeadLetter).items).toHaveLength(1)
  })

  it('can be redriven, except those of the relay, and dropped', async () => {
    const id = await givenUp('evt_1')
    const marked = (await operator.post(`/platform/dead-letters/${id}/redrive`)).data(DeadLetter)
    expect(marked).toMatchObject({ id, redrivenAt: expect.any(String) })
    expect(await reported(id)).toEqual(['dead_letter.redriven'])
    const relayed = await givenUp('evt_2', { consumer: 'relay' })
    expect((await operator.post(`/platform/dead-letters/${relayed}/redrive`)).error().code).toBe('conflict')
    expect((await operator.send('DELETE', `/platform/dead-letters/${relayed}`)).status).toBe(204)
    for (const absent of [relayed, 'settings:999999', 'nowhere:1', 'settings:0', 'settings'])
      expect((await operator.send('DELETE', `/platform/dead-letters/${absent}`)).error().code).toBe(
        'not_found',
      )
    expect((await operator.post(`/platform/dead-letters/${relayed}/redrive`)).error().code).toBe('not_found')
  })

  it('are reported in the workspace of their event, with the operator who redrove or dropped them', async () => {
    const ids = [
      await givenUp('evt_1', { subject: `evt.${ada.workspaceId}.staging.incident.created` }),
      await givenUp('topic:7', { subject: `bus.${ada.workspaceId}.staging.${secret}` }),
    ]
    for (const id of ids) {
      await operator.post(`/platform/dead-letters/${id}/redrive`)
      expect((await operator.send('DELETE', `/platform/dead-letters/${id}`)).status).toBe(204)
      expect(await reported(id)).toEqual(['dead_letter.redriven', 'dead_letter.dropped'])
    }
    const rows = await settings.service.sql`
      select workspace_id, environment, actor, data::text from events where type = 'dead_letter.dropped' order by position desc limit 2`
    const [ofNone, ofEvent] = rows
    expect(ofEvent).toMatchObject({
      workspace_id: ada.workspaceId,
      environment: 'staging',
      actor: { id: ada.userId },
    })
    expect(ofNone).toMatchObject({ workspace_id: 'platform', actor: { id: ada.userId } })
    for (const { data } of rows) expect(data).not.toContain('123456')
  })

  it('of an unavailable service are reported as an error that names the service', async () => {
    const refused = (await list()).error()
    expect(refused.code).toBe('service_unavailable')
    expect(refused.message).toContain('itsm')
  })
})

describe('the status of the platform', () => {
  it('contains the figures of responding services, and reports the others', async () => {
    await givenUp('evt_1')
    const status = (await operator.get('/platform/status')).data(PlatformStatus.strict())
    const [own, itsm, dispatcher] = ['settings', 'itsm', 'dispatcher'].map((name) =>
      status.services.find((service) => service.name === name),
    )
    expect(own).toMatchObject({ state: 'up' })
    expect(own?.figures?.consumers).toContainEqual(
      expect.objectContaining({ name: 'settings-audit-log', deadLetters: 1 }),
    )
    expect(own?.figures?.dueWork.map(({ name }) => name)).toContain('audit-checkpoints')
    for (const away of [itsm, dispatcher])
      expect(away).toMatchObject({ state: 'does not answer', figures: null })
    expect(status.webhooks).toBeNull()
    expect(status.workspaces).toContainEqual({ id: ada.workspaceId, slug: 'ada', name: 'ada', members: 1 })
  })
})

describe('the status of a workspace', () => {
  const statusOf = (client: ApiClient, slug: string) => client.get(`/workspaces/${slug}/status`)
  const own = async (client: ApiClient, slug: string) =>
    (await statusOf(client, slug))
      .data(WorkspaceStatus.strict())
      .services.find(({ name }) => name === 'settings')

  it('contains the pending work of that workspace, and nothing of other workspaces', async () => {
    const bea = await settings.owner('beata')
    const subject = (type: string) => ({
      subject: `${type}.${ada.workspaceId}.staging.${secret.replaceAll(' ', '.')}`,
    })
    await givenUp('evt_1', subject('evt'))
    await givenUp('evt_2', subject('evt'))
    await givenUp('topic:7', { ...subject('bus'), consumer: 'settings-webhooks' })
    await givenUp('evt_3')
    // A message too large for NATS is identified only by its event.
    const [event] = await settings.service.sql<{ id: string }[]>`
      select id from events where workspace_id = ${ada.workspaceId} limit 1`
    await givenUp(event?.id ?? '', { consumer: 'relay', subject: 'workspace.created' })
    const [cause, count] = ['service_unavailable', 1]
    const found = await own(await settings.as(ada.session, { workspace: 'ada' }), 'ada')
    expect(found?.figures?.deadLetters).toEqual([
      { consumer: 'relay', cause, count },
      { consumer: 'settings-audit-log', cause, count: 2 },
      { consumer: 'settings-webhooks', cause, count },
    ])
    const other = await own(await settings.as(bea.session, { workspace: 'beata' }), 'beata')
    expect(other).toMatchObject({ state: 'up', figures: { deadLetters: [] } })
    for (const { late } of other?.figures?.dueWork ?? []) expect(late).toBe(0)
  })

  it('is available to owners and admins of that workspace, and to keys of all its environments', async () => {
    const api = await settings.as(ada.session, { workspace: 'ada' })
    const { session } = await createUserClient(settings, ada, api).joined('dev@example.com', 'developer')
    const developer = await settings.as(session, { workspace: 'ada' })
    expect((await statusOf(developer, 'ada')).error().code).toBe('insufficient_scope')
    expect((await statusOf(api, 'beata')).error().code).toBe('not_found')
    const body = { name: 'staging', scopes: ['workspace:write'], environments: ['staging'] }
    const { token } = (await api.post('/auth/tokens', body)).data(TokenCreated)
    const key = await settings.as(String(token), { workspace: 'ada', environment: 'staging' })
    expect((await statusOf(key, 'ada')).error().code).toBe('forbidden')
    const text = (await statusOf(api, 'ada')).text
    expect(text).not.toContain('123456')
  })
})

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ responses: z.record(z.string(), z.object({ description: z.string() })) }),
    ),
  ),
})

/** Every operation below /platform, so that future ones are included. */
async function platformOperations() {
  const { paths } = Document.parse(JSON.parse((await settings.internal.get('/internal/openapi.json')).text))
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/platform/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        path,
        responses,
      })),
    )
}

describe('every operation of the installation', () => {
  test('is refused to everyone except an operator in person', async () => {
    const api = await settings.as(ada.session, { workspace: 'ada' })
    const { token } = (await api.post('/auth/tokens', { name: 'k', scopes: ['credentials:manage'] })).data(
      TokenCreated,
    )
    const named = await createUserClient(settings, ada, api).joined('boss@example.com', 'owner')
    const strangers = {
      'an owner of a workspace': await settings.as((await settings.owner('bea')).session),
      'an API key of an operator': await settings.as(String(token)),
      'a login with the name of an operator, unproven': await settings.as(named.session),
    }
    const operations = await platformOperations()
    expect(operations.length).toBeGreaterThan(4)
    const let_in: string[] = []
    for (const { method, path } of operations)
      for (const [who, client] of Object.entries(strangers)) {
        const reply = await client.send(
          method as 'GET',
          path.replace('{id}', await givenUp('evt_9').catch(() => 'settings:1')),
        )
        if (reply.status !== 403) let_in.push(`${who}: ${method} ${path} ${reply.status}`)
      }
    expect(let_in).toEqual([])
  })

  test('requires a step-up if it changes something', async () => {
    const changing = (await platformOperations()).filter(({ method }) => method !== 'GET')
    expect(changing.length).toBeGreaterThan(2)
    for (const { path, responses } of changing)
      expect([path, responses['401']?.description, responses['403']?.description].join()).toContain(
        'step_up_required',
      )
  })

  test('shows no content of a tenant', async () => {
    const id = await givenUp('evt_1')
    await givenUp('topic:7', { subject: `bus.ws_1.staging.${secret}` })
    const texts = [
      (await operator.get('/platform/status')).text,
      (await list('?service=settings')).text,
      (await operator.post(`/platform/dead-letters/${id}/redrive`)).text,
    ]
    for (const text of texts) {
      expect(text).toContain('settings')
      for (const word of secret.split(' ')) expect(text).not.toContain(` ${word} `)
      expect(text).not.toContain('123456')
    }
  })
})
