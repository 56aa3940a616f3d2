import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { builtInRoles, Notification, newId, TokenCreated, VerifiedToken } from '@opsplane/contracts'
import { type ApiClient, waitFor, waitUntilSettled } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { approvalEvent, pausedEvent, publishEvents } from './notification.fixture.js'

let settings: Settings
let ada: Owner
let api: ApiClient

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(() => settings?.stop())

const publish = (...events: Parameters<typeof publishEvents>[1]) =>
  publishEvents(settings.service.natsPrefix, events)
const list = async (query = '', client = api) =>
  (await client.get(`/notifications?${query}`)).page(Notification.strict())
const about = (eventId: string, client = api) =>
  waitFor(async () => (await list('limit=200', client)).items.find((item) => item.eventId === eventId))
const published = async (fields: Parameters<typeof pausedEvent>[1] = {}) => {
  const event = pausedEvent(ada.workspaceId, fields)
  await publish(event)
  return about(event.id)
}

describe('a notification', () => {
  it('informs admins of a webhook that the platform paused', async () => {
    const event = pausedEvent(ada.workspaceId)
    await publish(event)
    const found = await about(event.id)
    expect(found).toMatchObject({
      type: 'webhook.paused',
      title: expect.stringContaining('"Orders" was paused'),
      message: expect.stringContaining('{"status":"active"}'),
      severity: 'critical',
      resource: { type: 'webhook', id: event.resource.id, displayName: 'Orders' },
      environment: 'production',
      createdAt: event.createdAt,
      readAt: null,
    })
    const one = (await api.get(`/notifications/${found.id}`)).data(Notification.strict())
    expect(one).toEqual(found)
    // Without SMTP settings no mail is queued.
    expect(await settings.service.sql`select id from mails`).toHaveLength(0)
  })

  it('is not created for a pause by a user, and is created once for a duplicate event', async () => {
    const own = pausedEvent(ada.workspaceId, { reason: 'user' })
    const gone = pausedEvent(ada.workspaceId, { reason: 'gone' })
    // Without a message id the stream accepts the duplicate, as it does for a reseed.
    await publish(own, gone, gone)
    const first = await about(gone.id)
    await publish(gone)
    await waitUntilSettled(settings.service)
    const { items } = await list('limit=200')
    expect(items.filter(({ eventId }) => eventId === own.id)).toEqual([])
    expect(items.filter(({ eventId }) => eventId === gone.id)).toEqual([first])
  })

  it('emits no event when it is created or read', async () => {
    const { id } = await published()
    await api.post(`/notifications/${id}/read`)
    await waitUntilSettled(settings.service)
    const types = await settings.service.sql`select distinct event->>'type' as type from audit_log`
    expect(types.filter(({ type }) => String(type).startsWith('notification'))).toEqual([])
    const own = await settings.service.sql`select count(*)::int as count from events where stream_id = ${id}`
    expect(own).toEqual([{ count: 0 }])
  })
})

describe('marking a notification as read', () => {
  it('is recorded once', async () => {
    const { id } = await published()
    const now = settings.clock.now()
    const read = (await api.post(`/notifications/${id}/read`)).data(Notification.strict())
    expect(read.readAt).toBe(now)
    settings.clock.advance(60_000)
    expect((await api.post(`/notifications/${id}/read`)).data(Notification)).toEqual(read)
    expect((await api.get(`/notifications/${id}`)).data(Notification)).toEqual(read)
  })

  it('applies to each user separately, and an API key marks for its user', async () => {
    const { id } = await published()
    const verified = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken)
    const bob = settings.service.as({ ...verified.principal, userId: newId('user') })
    const scopes = ['notifications:read', 'notifications:write']
    const key = (await api.post('/auth/tokens', { name: 'Pager', scopes })).data(TokenCreated)
    const pager = await settings.as(key.token ?? '', { workspace: 'acme' })

    const read = (await pager.post(`/notifications/${id}/read`)).data(Notification)
    expect((await api.get(`/notifications/${id}`)).data(Notification).readAt).toBe(read.readAt)
    expect((await bob.get(`/notifications/${id}`)).data(Notification).readAt).toBeNull()
    expect((await list('unread=true', bob)).items.map((item) => item.id)).toContain(id)
  })
})

describe('the list of notifications', () => {
  let client: ApiClient
  const ids: string[] = []

  beforeAll(async () => {
    const eve = await settings.owner('pages')
    client = await settings.as(eve.session, { workspace: 'pages' })
    const events = [1, 2, 3, 4, 5].map((minute) =>
      pausedEvent(eve.workspaceId, { createdAt: `2026-03-01T09:0${minute}:00.000Z` }),
    )
    await publish(...events)
    for (const event of events) ids.unshift((await about(event.id, client)).id)
  })
  const idsOf = async (query: string) => {
    const { items, pagination } = await list(query, client)
    return { ids: items.map(({ id }) => id), next: pagination.nextCursor }
  }

  it('is newest first, page by page', async () => {
    const first = await idsOf('limit=2')
    const second = await idsOf(`limit=2&after=${first.next}`)
    const third = await idsOf(`limit=2&after=${second.next}`)
    expect([...first.ids, ...second.ids, ...third.ids]).toEqual(ids)
    expect(third.next).toBeNull()
    expect((await idsOf('sort=createdAt')).ids).toEqual([...ids].reverse())
  })

  it('can be filtered by whether the caller has read them', async () => {
    const [newest = '', , third = ''] = ids
    for (const id of [newest, third]) await client.post(`/notifications/${id}/read`)
    expect((await idsOf('unread=false')).ids).toEqual([newest, third])
    const unread = ids.filter((id) => id !== newest && id !== third)
    const first = await idsOf('unread=true&limit=2')
    expect(first.ids).toEqual(unread.slice(0, 2))
    expect((await idsOf(`unread=true&limit=2&after=${first.next}`)).ids).toEqual(unread.slice(2))
    expect((await client.get(`/notifications?limit=2&after=${first.next}`)).error().code).toBe(
      'invalid_cursor',
    )
    expect((await client.get('/notifications?unread=yes')).error().code).toBe('validation_failed')
  })
})

describe('other users', () => {
  const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]+"/, '')

  it('of another workspace or environment can neither see nor mark it', async () => {
    const { id, eventId } = await published()
    const eve = await settings.owner('evil')
    const strangers = [
      await settings.as(eve.session, { workspace: 'evil' }),
      await settings.as(ada.session, { workspace: 'acme', environment: 'staging' }),
    ]
    for (const stranger of strangers) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/read'],
      ] as const) {
        const foreign = await stranger.send(method, `/notifications/${id}${suffix}`)
        const absent = await stranger.send(method, `/notifications/${newId('notification')}${suffix}`)
        expect(foreign.error().code).toBe('not_found')
        expect(withoutRequestId(foreign.text)).toBe(withoutRequestId(absent.text))
      }
      expect((await list('limit=200', stranger)).items.map((item) => item.eventId)).not.toContain(eventId)
    }
    expect(
      await settings.service.sql`select 1 from notification_reads where notification_id = ${id}`,
    ).toEqual([])
  })

  it.each(['viewer', 'agent', 'developer'])('with the role %s can neither read nor mark it', async (role) => {
    const { id } = await published()
    const { principal } = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken)
    const permissions = [...(builtInRoles[role]?.permissions ?? [])]
    const client = settings.service.as({ ...principal, permissions })
    expect(permissions.length).toBeGreaterThan(0)
    expect((await list('', client)).items).toEqual([])
    expect((await client.get(`/notifications/${id}`)).error().code).toBe('not_found')
    expect((await client.post(`/notifications/${id}/read`)).error().code).toBe('not_found')
  })

  it('who are approvers see the notifications for their id or role', async () => {
    const { principal } = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken)
    const as = (role: string, userId: string) =>
      settings.service.as({ ...principal, userId, role, permissions: ['runs:read'] })
    const event = approvalEvent(ada.workspaceId, { users: ['usr_asked'], roles: ['agent'] })
    await publish(event)
    const found = await about(event.id, as('viewer', 'usr_asked'))
    expect(found).toMatchObject({
      title: '"May I?" needs your decision',
      message: expect.stringContaining('{"step":"ask","decision":"approve"}'),
      audience: ['user:usr_asked', 'role:agent'],
    })
    expect(await about(event.id, as('agent', 'usr_other'))).toEqual(found)
    for (const other of [as('viewer', 'usr_other'), api])
      expect((await other.get(`/notifications/${found.id}`)).error().code).toBe('not_found')
    const marked = await as('agent', 'usr_other').post(`/notifications/${found.id}/read`)
    expect(marked.data(Notification).readAt).not.toBeNull()
    expect(await about(event.id, as('viewer', 'usr_asked'))).toMatchObject({ readAt: null })
  })

  it('with the role admin may read and mark it', () => {
    expect(builtInRoles.admin?.permissions).toEqual(
      expect.arrayContaining(['notifications:read', 'notifications:write']),
    )
  })
})
