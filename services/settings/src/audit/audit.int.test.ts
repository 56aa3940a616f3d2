import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  AuditEvent,
  AuditVerification,
  newId,
  type Permission,
  type PlatformEvent,
  type Principal,
  ResolvedReference,
  settingsEvents,
  TokenCreated,
  VerifiedToken,
  WorkspaceStats,
} from '@opsplane/contracts'
import { type ApiClient, shownEvents, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { foreignEvent as eventFrom, publish as publishTo } from './audit.fixture.js'

let settings: Settings
let ada: Owner
let api: ApiClient
let owner: Principal

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  owner = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken).principal
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(() => settings?.stop())

const query = async (filters: string, client = api) =>
  (await client.get(`/audit?${filters}`)).page(AuditEvent).items
/** Waits until the audit log, which lags slightly behind the events, has this many entries. */
const eventually = (filters: string, count: number, client = api) =>
  waitFor(async () => {
    const items = await query(filters, client)
    return items.length >= count && items
  })

const foreignEvent = (fields?: Partial<PlatformEvent>) => eventFrom(ada.workspaceId, fields)
const publish = (events: PlatformEvent[]) => publishTo(settings.service.natsPrefix, events)

describe('the audit log', () => {
  it('contains each event of the workspace as it was published', async () => {
    const [created] = await eventually('type=workspace.created', 1)
    expect(created).toMatchObject({
      workspaceId: ada.workspaceId,
      resource: { type: 'workspace', id: ada.workspaceId, displayName: 'acme' },
      data: { before: null, after: { slug: 'acme' } },
    })
    expect(settingsEvents['workspace.created'].data.safeParse(created?.data).success).toBe(true)
    const [activated] = await eventually('type=user.*', 1)
    expect(activated).toMatchObject({ type: 'user.activated', resource: { type: 'user', id: ada.userId } })
    expect(settingsEvents['user.activated'].data.safeParse(activated?.data).success).toBe(true)
  })

  it('rejects events that their source service has not signed', async () => {
    const forged = foreignEvent({ type: 'incident.reopened' })
    await publishTo(settings.service.natsPrefix, [forged], { signed: false })
    const [letter] = await waitFor(async () => {
      const rows = await settings.service.sql<{ payload: string; error: string }[]>`
        select payload, error from dead_letters where consumer = 'settings-audit-log'`
      return rows.length > 0 && rows
    })
    expect(letter).toMatchObject({
      payload: expect.stringContaining(forged.id),
      error: 'SignatureError: the message is not authentic: it is not signed',
    })
    expect(await query('type=incident.reopened')).toEqual([])
  })

  it('contains the events of every service, each once despite duplicates', async () => {
    const event = foreignEvent()
    // Without a message id the stream accepts both, as it does for a reseed after its duplicate window.
    await publish([event, event])
    const [found] = await eventually('type=incident.*', 1)
    expect(found).toMatchObject(event)
    await publish([
      event,
      foreignEvent({ type: 'incident.closed', createdAt: '2026-03-01T09:30:00.000Z', version: 2 }),
    ])
    await eventually('type=incident.closed', 1)
    expect(await query('resourceId=inc_1')).toHaveLength(2)
    expect((await api.get(`/audit/${event.id}`)).data(AuditEvent)).toEqual(found)
  })

  it('shows, for every type of event, an `after` that equals the `data` of a delivery', async () => {
    const other = await settings.owner('shown')
    const client = await settings.as(other.session, { workspace: 'shown' })
    const all = shownEvents(other.workspaceId)
    await publish(all.map(({ event }) => event))
    for (const { event, shown } of all) {
      const found = await waitFor(async () => {
        const reply = await client.get(`/audit/${event.id}`)
        return reply.status === 200 && reply.data(AuditEvent)
      })
      const { before, after } = event.data
      expect([event.type, found.data.before, found.data.after]).toEqual([event.type, before, after && shown])
    }
    expect((await client.get('/audit/verify')).data(AuditVerification)).toMatchObject({ valid: true })
  })

  it('shows the address and user agent of an action, as seen by the gateway', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.4', 'user-agent': 'curl/8' }
    const secret = await api.post('/secrets', { name: 'from_afar', value: 'x', hosts: ['*'] }, headers)
    expect(secret.status).toBe(201)
    const [created] = await eventually('type=secret.created&address=198.51.100.4', 1)
    expect(created?.source).toEqual({ address: '198.51.100.4', userAgent: 'curl/8' })
    // The bootstrap was requested by a service, not on behalf of a user.
    expect((await query('type=workspace.created'))[0]?.source).toBeNull()
  })

  it('can be filtered by actor, type, resource and time in combination', async () => {
    await eventually('resourceId=inc_1', 2)
    expect(await query('actor=usr_far')).toHaveLength(2)
    expect(await query('actor=usr_far&type=incident.closed')).toHaveLength(1)
    expect(await query('actor=usr_far&type=inc.*')).toHaveLength(0)
    expect(await query('resourceType=incident')).toHaveLength(2)
    expect(await query('requestId=req-12345678')).toHaveLength(2)
    expect(await query('requestId=req-12345678&address=203.0.113.9')).toHaveLength(2)
    expect(await query('address=203.0.113.8')).toHaveLength(0)
    expect(await query('resourceType=incident&from=2026-03-01T09:30:00Z')).toHaveLength(1)
    expect(await query('resourceType=incident&to=2026-03-01T09:30:00.000Z')).toHaveLength(1)
    expect(await query('resourceType=incident&from=2026-03-01T10:30:00%2B01:00')).toHaveLength(1)
    for (const bad of ['type=%25', 'from=yesterday', 'to=9999-12-31T23:59:59-01:00', 'color=red']) {
      expect((await api.get(`/audit?${bad}`)).status).toBe(422)
    }
  })

  it('is listed newest first, page by page', async () => {
    const all = await eventually('', 4)
    const first = (await api.get('/audit?limit=1')).page(AuditEvent)
    const rest = (await api.get(`/audit?limit=1&after=${first.pagination.nextCursor}`)).page(AuditEvent)
    expect([...first.items, ...rest.items]).toEqual(all.slice(0, 2))
    const other = await api.get(`/audit?limit=1&type=user.*&after=${first.pagination.nextCursor}`)
    expect(other.error().code).toBe('invalid_cursor')
  })

  it('shows nothing of other workspaces, other environments or the platform itself', async () => {
    const event = foreignEvent({ environment: 'staging', type: 'change.created' })
    await publish([event])
    const staging = settings.service.as({ ...owner, environment: 'staging' })
    await eventually('type=change.created', 1, staging)
    expect(await query('type=change.created')).toEqual([])
    expect((await api.get(`/audit/${event.id}`)).error().code).toBe('not_found')

    const other = await settings.owner('other')
    const foreign = await settings.as(other.session, { workspace: 'other' })
    const [own] = await eventually('type=workspace.created', 1, foreign)
    expect(own?.workspaceId).toBe(other.workspaceId)
    expect((await foreign.get(`/audit/${event.id}`)).error().code).toBe('not_found')
    expect(await query('type=account.*', foreign)).toEqual([])
  })

  it('requires the permission to read it', async () => {
    const { token } = (await api.post('/auth/tokens', { name: 'Reader', scopes: ['itsm:read'] })).data(
      TokenCreated,
    )
    const reader = await settings.as(token ?? '', { workspace: 'acme' })
    expect((await reader.get('/audit')).error().code).toBe('insufficient_scope')
  })
})

describe('the statistics of a workspace', () => {
  it('count members, keys, secrets and events', async () => {
    await api.post('/auth/tokens', { name: 'One', scopes: ['itsm:read'] })
    const two = await api.post('/auth/tokens', {
      name: 'Two',
      scopes: ['itsm:read'],
      expiresAt: '2026-03-01T10:01:00Z',
    })
    expect(two.status).toBe(201)
    await api.post('/secrets', { name: 'one', value: 'x', hosts: ['*'] })
    await eventually('type=secret.created', 2)
    await eventually('type=token.created', 3)
    settings.clock.advance(60_000)
    // Earlier events may still be on their way to the audit log.
    const stats = await waitFor(async () => {
      const listed = (await query('limit=200')).length
      const counted = (await api.get('/workspaces/acme/stats')).data(WorkspaceStats)
      return counted.events.last24h === listed && counted
    })
    expect(stats).toMatchObject({ members: 1, tokens: { active: 2, total: 3 }, secrets: 2 })
    expect(stats.events.byType).toContainEqual({ type: 'token.created', last24h: 3, last7d: 3 })
    settings.clock.advance(2 * 86_400_000)
    const later = (await api.get('/workspaces/acme/stats')).data(WorkspaceStats)
    expect(later.events).toMatchObject({ last24h: 0, last7d: stats.events.last7d })
  })

  it('count the resources that still exist, and each event once despite duplicates', async () => {
    const owner = await settings.owner('counted')
    const its = await settings.as(owner.session, { workspace: 'counted' })
    const of = (type: string, fields: Partial<PlatformEvent> = {}) =>
      eventFrom(owner.workspaceId, { type, ...fields })
    const events = [
      ...[of('incident.created'), of('incident.created'), of('incident.updated')],
      ...[of('webhook.created'), of('webhook.deleted'), of('workflow.created'), of('workflow.archived')],
      of('record.created', { environment: 'staging' }),
    ]
    await publish([...events, ...events])
    const stats = async () => (await its.get('/workspaces/counted/stats')).data(WorkspaceStats)
    const here = events.filter(({ environment }) => environment !== 'staging')
    await waitFor(async () => {
      const counts = new Map((await stats()).events.byType.map(({ type, last7d }) => [type, last7d]))
      return here.every(({ type }) => counts.get(type) === here.filter((other) => other.type === type).length)
    })
    // A response does not read both at the same instant: its events may be newer than its counts.
    const { resources } = await stats()
    expect(resources).toMatchObject({ incident: 2, webhook: 0, workflow: 0, record: 0, problem: 0 })
  })
})

describe('resolving an id', () => {
  const incident = () => ({ type: 'incident', id: newId('incident'), displayName: 'Disk full' })
  /** A caller with only these permissions, in this workspace by default. */
  const holding = (permissions: Permission[], place: Partial<Principal> = {}) =>
    settings.service.as({ ...owner, role: 'agent', permissions, ...place })
  const resolved = async (id: string, client = api) => {
    const reply = await client.get(`/resolve/${id}`)
    return reply.status === 404 ? 'not found' : reply.data(ResolvedReference)
  }

  it('returns the resource and its events, as far as the caller may read them', async () => {
    const resource = incident()
    const [first, second] = [foreignEvent({ resource }), foreignEvent({ type: 'incident.updated', resource })]
    await publish([first, { ...second, resource: { ...resource, displayName: 'Disk is full' } }])
    await eventually(`resourceId=${resource.id}`, 2)
    const { id } = resource
    const [href, eventsHref] = [`/itsm/incidents/${id}`, `/audit?resourceId=${id}`]
    const found = { type: 'incident', id, title: 'Disk is full', href, eventsHref }
    expect(await resolved(id)).toEqual(found)
    expect(await resolved(id, holding(['itsm:read']))).toEqual({ ...found, eventsHref: null })
    const title = 'incident.updated: Disk is full'
    const event = { type: 'event', id: second.id, title, href: `/audit/${second.id}`, eventsHref }
    expect(await resolved(second.id)).toEqual(event)
    expect(await resolved(second.id, holding(['itsm:read']))).toBe('not found')
  })

  it('of a deleted resource returns only its events', async () => {
    const resource = incident()
    const data = { before: { id: resource.id }, after: null, changes: [] }
    await publish([foreignEvent({ resource, data })])
    await eventually(`resourceId=${resource.id}`, 1)
    expect(await resolved(resource.id)).toMatchObject({ title: 'Disk full', href: null })
    expect(await resolved(resource.id, holding(['itsm:read']))).toBe('not found')
  })

  it('returns the same 404 for an unknown, foreign or forbidden id', async () => {
    const resource = incident()
    await publish([foreignEvent({ resource })])
    await eventually(`resourceId=${resource.id}`, 1)
    const zoe = await settings.owner('elsewhere')
    const others = [
      holding(['cmdb:read']),
      holding(['itsm:read', 'audit:read'], { environment: 'staging' }),
      await settings.as(zoe.session, { workspace: 'elsewhere' }),
    ]
    const refusals = [
      await api.get(`/resolve/${newId('incident')}`),
      ...(await Promise.all(
        ['inc_', 'INC-', 'nothing', '%20', newId('comment')].map((id) => api.get(`/resolve/${id}`)),
      )),
      ...(await Promise.all(others.map((client) => client.get(`/resolve/${resource.id}`)))),
    ]
    for (const refusal of refusals)
      expect([refusal.status, refusal.error()]).toEqual([404, refusals[0]?.error()])
  })

  it('works in each environment for a resource shared by all environments', async () => {
    const staging = settings.service.as({ ...owner, environment: 'staging' })
    const href = `/settings/users/${ada.userId}`
    expect(await resolved(ada.userId)).toMatchObject({ type: 'user', href, eventsHref: expect.any(String) })
    expect(await resolved(ada.userId, staging)).toMatchObject({ type: 'user', href, eventsHref: null })
  })
})
