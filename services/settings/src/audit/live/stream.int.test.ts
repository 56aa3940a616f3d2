import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import {
  AuditEvent,
  type Environment,
  EventStreamQuery,
  natsNames,
  type PlatformEvent,
  type Principal,
  VerifiedToken,
} from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../../settings.fixture.js'
import { foreignEvent, publish as publishTo } from '../audit.fixture.js'
import { type OpenStream, openStream } from './stream.fixture.js'
import { maxMissed } from './stream.js'

let settings: Settings
let ada: Owner
let owner: Principal
const streams: OpenStream[] = []

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  owner = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken).principal
})
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close()
})
afterAll(() => settings?.stop())

const open = async (options: Parameters<typeof openStream>[2] = {}, principal = owner) => {
  const stream = await openStream(settings.service, principal, options)
  streams.push(stream)
  return stream
}
const event = (title: string, fields: Partial<PlatformEvent> = {}) =>
  foreignEvent(ada.workspaceId, {
    data: { before: null, after: { title }, changes: ['title'] },
    ...fields,
  })
const publish = (...events: PlatformEvent[]) => publishTo(settings.service.natsPrefix, events)
const headOf = async (workspaceId: string) => {
  const [row] = await settings.service.sql`select seq from audit_heads where workspace_id = ${workspaceId}`
  return Number(row?.seq ?? 0)
}
const titlesOf = ({ events }: OpenStream) =>
  events.flatMap(({ data }) => (data.data as PlatformEvent['data'] | undefined)?.after?.title ?? [])

describe('the stream of events', () => {
  it('begins with the current position, and sends new events with their positions in the log', async () => {
    const stream = await open()
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers.get('cache-control')).toBe('no-store, no-transform')
    expect(stream.headers.get('x-accel-buffering')).toBe('no')
    const [ready] = await stream.until(1)
    expect(ready).toMatchObject({ event: 'ready', data: {} })
    const sent = event('one')
    await publish(sent)
    const one = await waitFor(() => stream.events.find(({ data }) => data.id === sent.id))
    expect(one).toMatchObject({ event: 'event', data: { type: sent.type, seq: one.id } })
    expect(one.data).not.toHaveProperty('hash')
  })

  it('continues after the last event read, without gaps or duplicates', async () => {
    const first = await open()
    await first.until(1)
    await publish(event('a'), event('b'))
    await waitFor(() => titlesOf(first).length === 2)
    const at = first.events[1]?.id
    first.close()
    await publish(event('c'))
    await waitFor(async () => (await headOf(ada.workspaceId)) >= Number(at) + 2)
    const second = await open({ lastEventId: Number(at) })
    const third = await open({ query: `?afterSeq=${at}` })
    await publish(event('d'))
    for (const stream of [second, third]) {
      await waitFor(() => titlesOf(stream).length >= 3)
      expect(titlesOf(stream)).toEqual(['b', 'c', 'd'])
      const ids = stream.events.slice(1).map(({ id }) => id)
      expect(ids).toEqual(ids.map((_, index) => Number(at) + 1 + index))
    }
  })

  it('sends each event once to readers that connect while many events are written', async () => {
    const titles = Array.from({ length: 60 }, (_, n) => `many ${n}`)
    const begin = await headOf(ada.workspaceId)
    const publishing = publish(...titles.map((title) => event(title)))
    const readers: OpenStream[] = []
    for (let n = 0; n < 8; n++) readers.push(await open({ lastEventId: begin }))
    await publishing
    for (const reader of readers) {
      await waitFor(() => titlesOf(reader).length >= titles.length)
      expect(titlesOf(reader)).toEqual(titles)
    }
  })

  it('sends only matching events of its environment and workspace, and reports the position reached', async () => {
    const zoe = await settings.owner('other')
    const stream = await open({ query: '?type=incident.*&type=run.failed&resourceId=inc_9' })
    await stream.until(1)
    const nine = { resource: { type: 'incident', id: 'inc_9', displayName: 'Nine' } }
    await publish(
      event('another resource'),
      event('another environment', { ...nine, environment: 'staging' }),
      event('another type', { ...nine, type: 'change.created' }),
      foreignEvent(zoe.workspaceId, nine),
      event('wanted', nine),
      event('another resource again'),
    )
    await waitFor(() => titlesOf(stream).length > 0)
    const end = await waitFor(async () => {
      const head = await headOf(ada.workspaceId)
      return head > Number(stream.events[1]?.id) && head
    })
    expect(titlesOf(stream)).toEqual(['wanted'])
    await publish(event('wanted as well', nine))
    await waitFor(() => titlesOf(stream).length === 2)
    expect(stream.events.at(-1)?.id).toBe(end + 1)
  })

  it('accepts the filters of the audit log, with the same results', async () => {
    const wanted = event('selected', {
      type: 'problem.created',
      actor: { id: 'usr_9', name: 'Nine', type: 'user' },
      resource: { type: 'problem', id: 'prb_9', displayName: 'Nine' },
      requestId: 'req-number-9',
      source: { address: '198.51.100.9', userAgent: 'nine/1' },
    })
    const filters = {
      ...{ actor: 'usr_9', type: 'problem.*', resourceType: 'problem', resourceId: 'prb_9' },
      ...{ requestId: 'req-number-9', address: '198.51.100.9' },
    }
    const { afterSeq: _, filter: __, changed: ___, ...shared } = EventStreamQuery.shape
    expect(Object.keys(filters).sort()).toEqual(Object.keys(shared).sort())
    const queries = Object.entries(filters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const ofBody = `filter=${encodeURIComponent('{"data.title":{"starts_with":"sel"}}')}`
    const opened = await Promise.all([...queries, ofBody].map((query) => open({ query: `?${query}` })))
    for (const stream of opened) await stream.until(1)
    await publish(event('other'), wanted, event('another'))
    const end = Number(opened[0]?.events[0]?.id) + 3
    for (const stream of opened) await waitFor(() => stream.lastId() >= end)
    expect(opened.map(titlesOf)).toEqual(opened.map(() => ['selected']))
    for (const query of queries) {
      const { items } = (await settings.service.as(owner).get(`/audit?${query}`)).page(AuditEvent)
      expect([query, items.map(({ id }) => id)]).toEqual([query, [wanted.id]])
    }
  })

  it('sends only permitted events, and no record events while the row rules are unknown', async () => {
    const agent = { ...owner, role: 'agent', permissions: ['itsm:read', 'records:read', 'tables:write'] }
    const stream = await open({}, agent)
    await stream.until(1)
    await publish(event('secret', { type: 'secret.rotated' }), event('shown'))
    await waitFor(() => titlesOf(stream).length > 0)
    expect(titlesOf(stream)).toEqual(['shown'])
    // The studio is unavailable here: the stream ends rather than omit events, and continues when the studio is available
    // again.
    await publish(event('record', { type: 'record.created' }))
    await stream.ended
    expect(titlesOf(stream)).toEqual(['shown'])
  })

  it('requests a reset when too much was missed or the position does not exist', async () => {
    const head = await headOf(ada.workspaceId)
    await settings.service
      .sql`update audit_heads set seq = seq + ${maxMissed + 1} where workspace_id = ${ada.workspaceId}`
    try {
      const late = await open({ lastEventId: head })
      expect((await late.until(1))[0]).toMatchObject({ event: 'reset', id: head + maxMissed + 1 })
      const ahead = await open({ lastEventId: head + 2 * maxMissed })
      expect((await ahead.until(1))[0]).toMatchObject({ event: 'reset', id: head + maxMissed + 1 })
    } finally {
      await settings.service.sql`update audit_heads set seq = ${head} where workspace_id = ${ada.workspaceId}`
    }
  })

  it('rejects an unknown type, an invalid filter, and a request without a workspace', async () => {
    const refused = await settings.service.as(owner).get('/events/stream?type=Not+a+type')
    expect(refused.error()).toMatchObject({ code: 'validation_failed' })
    for (const [filter, path] of [
      ['{', '/filter'],
      ['{"data.title":{"like":"x"}}', '/filter/data.title/like'],
    ] as const) {
      const reply = await settings.service
        .as(owner)
        .get(`/events/stream?filter=${encodeURIComponent(filter)}`)
      expect(reply.error().code).toBe('validation_failed')
      expect(reply.error().details[0]).toMatchObject({ in: 'query', path })
    }
    const { workspaceId: _, workspaceSlug: __, ...nowhere } = owner
    expect((await settings.service.as(nowhere).get('/events/stream')).status).toBe(400)
  })

  it('disconnects a reader that does not read, and continues for the others', async () => {
    const reader = await open()
    await reader.until(1)
    const { hostname, port } = new URL(settings.service.url)
    const headers = Object.entries(await settings.service.headers(owner))
    const idle = connect({ host: hostname, port: Number(port) })
    const isCut = new Promise<true>((resolve) => idle.once('close', () => resolve(true)))
    idle.on('error', () => undefined).pause()
    idle.write(
      ['GET /events/stream HTTP/1.1', 'Host: x', ...headers.map((line) => line.join(': ')), '', ''].join(
        '\r\n',
      ),
    )
    const long = 'x'.repeat(200_000)
    // More than fits in the buffers of both sockets.
    for (let n = 0; n < 60; n++) await publish(event(`${n}${long}`))
    await publish(event('the last'))
    await waitFor(() => titlesOf(reader).at(-1) === 'the last')
    expect(titlesOf(reader)).toHaveLength(61)
    await waitFor(async () => {
      await publish(event('one more'))
      // The client does not read, so that only a write reveals that the connection was closed.
      idle.write('\r\n')
      return Promise.race([isCut, settings.service.sql`select 1`.then(() => false)])
    })
  })

  it('reports other changes, each type only to readers with its permission', async () => {
    const names = natsNames(settings.service.natsPrefix)
    const { workspaceId } = ada
    const agent = { ...owner, role: 'agent', permissions: ['runs:read'] }
    const streams = {
      all: await open(),
      runs: await open({}, agent),
      none: await open({ query: '?changed=false' }),
    }
    for (const stream of Object.values(streams)) await stream.until(1)
    const said = ({ changed }: OpenStream) =>
      new Set(changed.flatMap(({ data }) => (data.ids as string[]).map((id) => `${data.type} ${id}`)))
    const link = connectNats({
      url: testNatsUrl(),
      name: 'test',
      log: createLogger({ service: 'test', level: 'silent' }),
    })
    try {
      const nats = await link.ready()
      const signal = (environment: Environment, changed: unknown) =>
        nats.publish(names.changedSubject({ workspaceId, environment }), JSON.stringify(changed))
      // Signals published before there is a subscriber are lost.
      await waitFor(() => {
        signal('production', 'no signal')
        signal('staging', { type: 'run', ids: ['run_elsewhere'] })
        for (const [type, id] of [
          ['delivery', 'del_1'],
          ['execution', 'exec_1'],
          ['run', 'run_1'],
        ])
          signal('production', { type, ids: [id] })
        return said(streams.all).size >= 3 && said(streams.runs).size >= 1
      })
    } finally {
      await link.close()
    }
    expect([...said(streams.all)].sort()).toEqual(['delivery del_1', 'execution exec_1', 'run run_1'])
    expect([...said(streams.runs)]).toEqual(['run run_1'])
    expect(streams.none.changed).toEqual([])
  })

  it('ends when the service drains, so that the reader can continue on another replica', async () => {
    const replica = await settings.service.replica()
    const stream = await openStream({ ...settings.service, url: replica.url }, owner)
    streams.push(stream)
    await stream.until(1)
    await replica.stop()
    await stream.ended
    const again = await open({ lastEventId: stream.lastId() })
    await publish(event('after the end'))
    await waitFor(() => titlesOf(again).includes('after the end'))
  })
})
