import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AuditEvent, AuditExportEnd, AuditVerification, type PlatformEvent } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { type ApiClient, specify, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { appendToChains } from './append.js'
import { foreignEvent } from './audit.fixture.js'
import { auditExport } from './export.js'

let settings: Settings
let database: Database
let ada: Owner
let api: ApiClient
beforeAll(async () => {
  settings = await startSettings()
  database = connect(settings.service.adminUrl, { schema: 'settings', max: 2 })
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
  await waitFor(async () => (await list()).length === 3)
  await append(5_000, (index) => ({ requestId: `req-${index % 10}` }))
})
afterAll(async () => {
  await database?.close()
  await settings?.stop()
})

const append = async (count: number, fields: (index: number) => Partial<PlatformEvent>) => {
  for (let from = 0; from < count; from += 500) {
    const events = Array.from({ length: Math.min(500, count - from) }, (_, index) => {
      const createdAt = new Date(Date.parse('2026-03-02T00:00:00.000Z') + from + index).toISOString()
      return foreignEvent(ada.workspaceId, { createdAt, ...fields(from + index) })
    })
    await appendToChains(database.sql, events, '2026-03-03T00:00:00.000Z')
  }
}

async function list(filters = '', client = api): Promise<AuditEvent[]> {
  const all: AuditEvent[] = []
  for (let after = ''; ; ) {
    const page = (await client.get(`/audit?limit=200&sort=createdAt${filters}${after}`)).page(AuditEvent)
    all.push(...page.items)
    if (page.pagination.nextCursor === null) return all
    after = `&after=${page.pagination.nextCursor}`
  }
}

async function exported(filters = '', client = api) {
  const reply = await client.get(`/audit/export${filters}`)
  const lines = reply.text.split('\n')
  expect([reply.status, lines.pop()]).toEqual([200, ''])
  const end = AuditExportEnd.parse(JSON.parse(lines.pop() ?? ''))
  return { reply, end, events: lines.map((line) => AuditEvent.parse(JSON.parse(line))) }
}

describe('an export', () => {
  it('contains the same events as the list in the order of the chain, and states that it is complete', async () => {
    const listed = await list()
    const { reply, events, end } = await exported()
    expect(events).toEqual(listed)
    expect(events.map(({ seq }) => seq)).toEqual(listed.map((_, index) => index + 1))
    expect(end).toEqual({ complete: true, count: 5_003 })
    expect(reply.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(reply.headers.get('content-disposition')).toBe(
      'attachment; filename="audit-production-2026-03-01.ndjson"',
    )
  })

  it('accepts the filters of the list', async () => {
    const filters = 'requestId=req-7&address=203.0.113.9&type=incident.*&from=2026-03-02T00:00:01Z'
    const { events, end } = await exported(`?${filters}`)
    expect(events).toEqual(await list(`&${filters}`))
    expect(end.count).toBe(400)
    expect((await exported('?address=198.51.100.1')).end.count).toBe(0)
    expect((await api.get('/audit/export?limit=5')).status).toBe(422)
  })

  it('is recorded as an event with its caller and filters, unlike a read', async () => {
    await exported('?actor=usr_far')
    const taken = (await waitFor(async () => {
      const found = await list('&type=audit.exported')
      return found.find(({ data }) => JSON.stringify(data.after).includes('usr_far'))
    })) as AuditEvent
    expect(taken).toMatchObject({
      actor: { id: ada.userId },
      resource: { type: 'audit', displayName: 'Audit log' },
      data: { before: null, after: { filters: { actor: 'usr_far' } } },
    })
    const head = async () => (await api.get('/audit/verify')).data(AuditVerification).head?.seq
    const before = await head()
    await list('&actor=usr_far')
    expect(await head()).toBe(before)
  })

  it('contains nothing of other environments and workspaces', async () => {
    await append(3, () => ({ environment: 'staging', type: 'change.created' }))
    const staging = await settings.as(ada.session, { workspace: 'acme', environment: 'staging' })
    expect((await exported('?type=change.*', staging)).end.count).toBe(3)
    expect((await exported('?type=change.*')).end.count).toBe(0)
    const other = await settings.owner('other')
    const foreign = await settings.as(other.session, { workspace: 'other' })
    await waitFor(async () => (await list('', foreign)).length === 3)
    const { events } = await exported('', foreign)
    expect(new Set(events.map(({ workspaceId }) => workspaceId))).toEqual(new Set([other.workspaceId]))
  })
})

describe('the export decider', () => {
  it('emits one event', () => {
    const taken = {
      id: 'aex_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      filters: {},
      lastSeq: 3,
      createdAt: '2026-01-01T00:00:00.000Z',
    }
    specify(auditExport)
      .given(null)
      .when({ kind: 'export', taken })
      .emits({ type: 'audit.exported', changes: taken })
  })
})
