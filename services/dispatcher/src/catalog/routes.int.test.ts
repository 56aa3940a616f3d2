import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EventDescription, eventTypes, type Principal, Webhook } from '@opsplane/contracts'
import { type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
let recorder: EventRecorder
beforeAll(async () => {
  fixture = await startDispatcher()
  recorder = await recordEvents(fixture.service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await fixture?.stop()
})

const ofWebhooks = eventTypes.filter((type) => type.startsWith('webhook.'))

/** Signed in, but without a workspace or any permission. */
const outside = (): Principal => {
  const { actor, userId, tokenId } = fixture.principal
  return { actor, userId, tokenId, permissions: [] }
}
const types = async (query: string) =>
  (await fixture.api.get(`/events/catalog${query}`)).page(EventDescription).items.map(({ type }) => type)

describe('the event catalogue', () => {
  test('lists every declared type by name, for every authenticated user', async () => {
    const seen: string[] = []
    for (let after: string | null = ''; after !== null; ) {
      const query: string = `?limit=200${after && `&after=${after}`}`
      const page = (await fixture.service.as(outside()).get(`/events/catalog${query}`)).page(EventDescription)
      seen.push(...page.items.map(({ type }) => type))
      after = page.pagination.nextCursor
    }
    expect(seen).toEqual(eventTypes)
    expect((await fixture.service.as().get('/events/catalog')).error().code).toBe('unauthenticated')
  })

  test('filters by pattern', async () => {
    expect(await types('?type=webhook.*')).toEqual(ofWebhooks)
    expect(ofWebhooks).toContain('webhook.created')
    expect(await types('?type=incident.created')).toEqual(['incident.created'])
    expect(await types('?type=beam.*')).toEqual([])
    const refused = await fixture.api.get('/events/catalog?type=Incident')
    expect(refused.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/type' }] })
  })

  test.each([
    ['type', ofWebhooks],
    ['-type', ofWebhooks.toReversed()],
  ])('pages through all types sorted by %s', async (sort, expected) => {
    const seen: string[] = []
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `/events/catalog?type=webhook.*&limit=2&sort=${sort}${after && `&after=${after}`}`
      const { items, pagination } = (await fixture.api.get(path)).page(EventDescription)
      seen.push(...items.map(({ type }) => type))
      after = pagination.nextCursor
    }
    expect(seen).toEqual(expected)
  })

  test('returns one type, and 404 for an undeclared one', async () => {
    const entry = (await fixture.api.get('/events/catalog/incident.escalated')).data(EventDescription)
    expect(entry).toMatchObject({ type: 'incident.escalated', group: 'Incidents' })
    for (const type of ['incident.beamed_up', 'constructor', '*'])
      expect((await fixture.api.get(`/events/catalog/${type}`)).status).toBe(404)
  })

  test('has schemas that accept the events the service publishes', async () => {
    const created = await fixture.webhook('catalogue', { filter: { 'data.severity': { in: ['high'] } } })
    const path = `/webhooks/${created.id}`
    for (const status of ['paused', 'active'])
      await fixture.api.patch(path, { status, retry_schedule: [1, 2] })
    await fixture.api.patch(path, { name: 'Renamed', filter: null })
    expect((await fixture.api.send('DELETE', path)).status).toBe(204)
    const sent = () => recorder.published.filter(({ event }) => event.resource.id === created.id)
    await waitFor(() => sent().some(({ event }) => event.type === 'webhook.deleted'))
    expect(sent().map(({ event }) => event.type)).toEqual(
      expect.arrayContaining(['webhook.created', 'webhook.paused', 'webhook.resumed', 'webhook.updated']),
    )

    const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
    formats.default(ajv)
    for (const { event } of sent()) {
      const entry = (await fixture.api.get(`/events/catalog/${event.type}`)).data(EventDescription)
      const validate = ajv.compile(entry.schema)
      validate(event)
      expect([event.type, validate.errors ?? []]).toEqual([event.type, []])
    }
  })

  test('does not limit the event types that webhooks can subscribe to', async () => {
    const body = { name: 'early', url: fixture.endpoint('early'), events: ['starship.landed', 'starship.*'] }
    expect((await fixture.api.post('/webhooks', body)).data(Webhook).events).toEqual(body.events)
  })

  test('is also served as an AsyncAPI document, without an envelope', async () => {
    const reply = await fixture.service.as(outside()).get('/events/asyncapi.json')
    expect(reply.status).toBe(200)
    const document = JSON.parse(reply.text)
    expect(document).toMatchObject({ asyncapi: '3.0.0', info: { title: 'Opsplane events' } })
    expect(document.meta).toBeUndefined()
    expect(document.channels.topic.address).toBe(
      `${fixture.service.natsPrefix}.bus.{workspaceId}.{environment}.{topic}`,
    )
    expect(reply.headers.get('etag')).toMatch(/^"[0-9a-f]{32}/)
  })
})
