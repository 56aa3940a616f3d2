import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ConfigurationItem, Incident, IncidentComment, newId } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal, waitFor } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
const principal = testPrincipal()
const grace = { actor: { id: 'usr_grace', name: 'Grace', type: 'user' as const }, userId: 'usr_grace' }

beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const open = async (client: ApiClient) =>
  (await client.post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident)
const say = async (client: ApiClient, { id }: Incident, body: string, visibility = 'public') =>
  (await client.post(`/itsm/incidents/${id}/comments`, { body, visibility })).data(IncidentComment)
const read = async (client: ApiClient, { id }: Incident, query: string) =>
  (await client.get(`/itsm/incidents/${id}/comments?${query}`)).page(IncidentComment)
const bodies = async (client: ApiClient, incident: Incident, query: string) =>
  (await read(client, incident, query)).items.map(({ body }) => body)
/** Waits so that the next comment has a later instant than `than`. */
const later = (than: string) => waitFor(() => new Date().toISOString() > than)

describe('the comments of an incident', () => {
  it('are found by words, visibility, author and time', async () => {
    const [ada, other] = [service.as(principal), service.as({ ...principal, ...grace })]
    const [incident, unrelated] = [await open(ada), await open(ada)]
    await say(ada, unrelated, 'The café pool is exhausted')
    const first = await say(ada, incident, 'The café pool is exhausted')
    await later(first.createdAt)
    const second = await say(other, incident, 'Pool restarted, see checkout-db-1', 'internal')
    await later(second.createdAt)
    await say(ada, incident, 'All is well')

    const found = (query: string) => bodies(ada, incident, query)
    const [one, two, three] = [first.body, second.body, 'All is well']
    expect(await found('')).toEqual([one, two, three])
    expect(await found('sort=-createdAt')).toEqual([three, two, one])
    expect(await found('q=POOL')).toEqual([one, two])
    expect(await found('q=cafe')).toEqual([one])
    expect(await found('q=db+restart')).toEqual([two])
    expect(await found('q=%22pool+is%22')).toEqual([one])
    expect(await found('q=pool+-cafe')).toEqual([two])
    expect(await found('visibility=internal')).toEqual([two])
    expect(await found('visibility=public&q=pool')).toEqual([one])
    expect(await found('authorId=usr_grace')).toEqual([two])
    expect(await found(`authorId=${principal.userId}&sort=-createdAt`)).toEqual([three, one])
    expect(await found(`createdAfter=${second.createdAt}`)).toEqual([three])
    expect(await found(`createdBefore=${second.createdAt}`)).toEqual([one])
    expect(await found(`asOf=${second.createdAt}`)).toEqual([one, two])
    expect(await found(`asOf=${second.createdAt}&q=pool&sort=-createdAt`)).toEqual([two, one])
    expect(await found(`asOf=${first.createdAt}&q=restart`)).toEqual([])
    for (const query of ['q=', 'visibility=secret', 'asOf=then', 'colour=red', 'sort=author'])
      expect([query, (await ada.get(`/itsm/incidents/${incident.id}/comments?${query}`)).status]).toEqual([
        query,
        422,
      ])
  })

  it('are readable as of a past instant only if the incident existed, and only by its tenant', async () => {
    const ada = service.as(principal)
    const before = new Date().toISOString()
    await later(before)
    const incident = await open(ada)
    await say(ada, incident, 'Pool exhausted', 'internal')
    const paths = [incident.id, incident.number].map((name) => `/itsm/incidents/${name}/comments`)
    for (const path of paths) {
      expect((await ada.get(`${path}?asOf=${before}`)).error().code).toBe('not_found')
      expect((await ada.get(`${path}?asOf=${incident.createdAt}`)).status).toBe(200)
      for (const stranger of [
        service.as(testPrincipal()),
        service.as({ ...principal, environment: 'staging' }),
      ])
        for (const query of ['', '?q=pool', '?asOf=2120-01-01T00:00:00Z', '?visibility=internal'])
          expect((await stranger.get(`${path}${query}`)).error().code).toBe('not_found')
      const outsider = service.as({ ...principal, permissions: ['cmdb:read', 'knowledge:read'] })
      expect((await outsider.get(`${path}?q=pool&asOf=2120-01-01T00:00:00Z`)).error().code).toBe(
        'insufficient_scope',
      )
    }
    const absent = await ada.get(`/itsm/incidents/${newId('incident')}/comments?asOf=${incident.createdAt}`)
    expect(absent.error().code).toBe('not_found')
  })

  it('are paginated without duplicates, even if they have the same timestamp', async () => {
    const ada = service.as(principal)
    const incident = await open(ada)
    const ids: string[] = []
    for (let index = 0; index < 7; index++) ids.push((await say(ada, incident, `Note ${index}`)).id)
    await service.sql`
      update incident_comments set state = jsonb_set(state::jsonb, '{createdAt}', '"2026-03-02T10:00:00.000Z"')::json
      where incident_id = ${incident.id}`
    for (const sort of ['createdAt', '-createdAt'])
      for (const filter of ['', '&q=note', '&asOf=2120-01-01T00:00:00Z']) {
        const seen: string[] = []
        for (let after = ''; ; ) {
          const { items, pagination } = await read(ada, incident, `sort=${sort}&limit=2${filter}${after}`)
          seen.push(...items.map(({ id }) => id))
          if (pagination.nextCursor === null) break
          after = `&after=${encodeURIComponent(pagination.nextCursor)}`
        }
        const expected = ids.toSorted()
        expect(seen).toEqual(sort === 'createdAt' ? expected : expected.toReversed())
      }
    const { pagination } = await read(ada, incident, 'limit=2')
    const other = await ada.get(
      `/itsm/incidents/${incident.id}/comments?limit=2&q=note&after=${encodeURIComponent(pagination.nextCursor ?? '')}`,
    )
    expect(other.error().code).toBe('invalid_cursor')
  })
})

describe('comments of the caller on an ended incident', () => {
  const caller = { ...principal, ...grace }
  const closedOne = async (end: 'closed' | 'canceled', fields: object = {}) => {
    const ada = service.as(principal)
    const given = { title: 'Checkout answers 502', urgency: 'high', callerId: grace.userId, ...fields }
    const { id } = (await ada.post('/itsm/incidents', given)).data(Incident)
    if (end === 'closed') await ada.post(`/itsm/incidents/${id}/resolve`, {})
    return (await ada.patch(`/itsm/incidents/${id}`, { status: end })).data(Incident)
  }
  const get = async ({ id }: { id: string }) =>
    (await service.as(principal).get(`/itsm/incidents/${id}`)).data(Incident)

  it.each(['closed', 'canceled'] as const)('open a follow-up incident for a %s one', async (end) => {
    const ended = await closedOne(end)
    const said = await say(service.as(caller), ended, 'It is back')
    const again = await get({ id: said.incidentId })
    expect(again).toMatchObject({
      ...{ title: ended.title, urgency: 'high', callerId: grace.userId, status: 'open' },
      ...{ followsUpOn: ended.id, followUpId: null, commentCount: 1 },
    })
    const after = await get(ended)
    expect(after).toMatchObject({ status: end, followUpId: again.id, commentCount: 0, allowedActions: [] })
    expect(await bodies(service.as(principal), again, '')).toEqual(['It is back'])
    const reported = await service.sql`
      select type from events where stream_id in (${ended.id}, ${again.id}) and position >
        (select max(position) from events where stream_id = ${ended.id} and type = 'incident.closed')
      order by position`
    expect(reported.map(({ type }) => type)).toEqual([
      'incident.updated',
      'incident.created',
      'incident.comment_added',
    ])
  })

  it('are added to the follow-up incident from then on, and reopen it if it is resolved', async () => {
    const ended = await closedOne('closed')
    const { incidentId } = await say(service.as(caller), ended, 'It is back')
    await service.as(principal).post(`/itsm/incidents/${incidentId}/resolve`, {})
    expect((await say(service.as(caller), ended, 'And again')).incidentId).toBe(incidentId)
    expect((await get({ id: incidentId })).status).toBe('in_progress')
    await service.as(principal).post(`/itsm/incidents/${incidentId}/resolve`, {})
    await service.as(principal).post(`/itsm/incidents/${incidentId}/close`, {})
    const third = await say(service.as(caller), ended, 'And once more')
    expect(third.incidentId).not.toBe(incidentId)
    expect(await get({ id: third.incidentId })).toMatchObject({ followsUpOn: incidentId, status: 'open' })
  })

  it('open a single follow-up incident when they are sent concurrently', async () => {
    const ended = await closedOne('closed')
    const api = service.as(caller)
    const said = await Promise.all(Array.from({ length: 8 }, (_, at) => say(api, ended, `Word ${at}`)))
    const [opened, ...others] = new Set(said.map(({ incidentId }) => incidentId))
    expect(others).toEqual([])
    expect((await get({ id: opened ?? '' })).commentCount).toBe(8)
  })

  it('are applied once per Idempotency-Key, and rejected with a stale If-Match', async () => {
    const ended = await closedOne('closed')
    const path = `/itsm/incidents/${ended.id}/comments`
    const api = service.as(caller)
    expect((await api.post(path, { body: 'Back' }, { 'If-Match': '"1"' })).status).toBe(412)
    const once = { 'Idempotency-Key': 'after-the-end-1', 'If-Match': `"${ended.version}"` }
    const [first, second] = [
      (await api.post(path, { body: 'Back' }, once)).data(IncidentComment),
      (await api.post(path, { body: 'Back' }, once)).data(IncidentComment),
    ]
    expect(second).toEqual(first)
    expect((await get({ id: first.incidentId })).commentCount).toBe(1)
  })

  it('are kept if the configuration item has been retired', async () => {
    const ada = service.as(principal)
    const server = { class: 'server', name: 'web-1', status: 'operational' }
    const item = (await ada.post('/cmdb/items', server)).data(ConfigurationItem)
    const ended = await closedOne('closed', { ciId: item.id })
    expect((await ada.post(`/cmdb/items/${item.id}/retire`, {})).status).toBe(200)
    const { incidentId } = await say(service.as(caller), ended, 'It is back')
    expect((await get({ id: incidentId })).ciId).toBeNull()
  })

  it('are rejected from other users and as work notes', async () => {
    const ended = await closedOne('closed')
    for (const [api, visibility] of [
      [service.as(principal), 'public'],
      [service.as(caller), 'internal'],
    ] as const) {
      const reply = await api.post(`/itsm/incidents/${ended.id}/comments`, { body: 'Late', visibility })
      expect(reply.error().code).toBe('invalid_state_transition')
    }
    expect((await get(ended)).followUpId).toBeNull()
  })
})
