import { describe, expect, test } from '@jest/globals'
import {
  ApiError,
  changedFields,
  deliveryBody,
  errorBody,
  Filter,
  filterMatches,
  idSchema,
  Moment,
  natsNames,
  newId,
  type PlatformEvent,
  patternMatches,
  Redundancy,
} from '../index.js'
import { WaitFor } from '../itsm/approvals.js'

test('a value that matches no variant of a union is rejected with a list of the variants', () => {
  const problems = [WaitFor.safeParse('most'), Redundancy.safeParse({ minUp: 1, minUpPercent: 50 })].map(
    ({ error }) => error?.issues[0]?.message,
  )
  expect(problems).toEqual([
    'must be "first", "all", {"count": 2} or {"percent": 50}',
    'must be either {"minUp": 1} or {"minUpPercent": 50}',
  ])
})

describe('filters', () => {
  const body = { data: { severity: 'high', count: 7, tags: ['db'], parent: null, title: 'Disk full' } }
  test.each<[object, boolean]>([
    [{}, true],
    [{ 'data.severity': 'high' }, true],
    [{ 'data.severity': 'low' }, false],
    [{ 'data.severity': { in: ['critical', 'high'] } }, true],
    [{ 'data.severity': { nin: ['high'] } }, false],
    [{ 'data.severity': { ne: 'low' } }, true],
    [{ 'data.count': { gte: 7, lt: 8 } }, true],
    [{ 'data.count': { gt: 7 } }, false],
    [{ 'data.count': { lte: 6 } }, false],
    [{ 'data.count': { gte: '7' } }, false],
    [{ 'data.parent': null }, true],
    [{ 'data.parent': { exists: true } }, true],
    [{ 'data.absent': { exists: false } }, true],
    [{ 'data.absent': { ne: 'x' } }, true],
    [{ 'data.tags': { contains: 'db' } }, true],
    [{ 'data.title': { contains: 'full', starts_with: 'Disk' } }, true],
    [{ 'data.severity': 'high', 'data.count': 8 }, false],
    [{ 'data.constructor.name': { exists: true } }, false],
    [{ 'data.tags.0': 'db' }, true],
  ])('%j matches: %s', (filter, expected) => {
    expect(filterMatches(Filter.parse(filter), body)).toBe(expected)
  })

  test.each([{ a: { like: 'x' } }, { a: {} }, { '': 1 }, { a: { in: 'x' } }, { a: [1] }])(
    'rejects %j',
    (filter) => {
      expect(Filter.safeParse(filter).success).toBe(false)
    },
  )
})

test.each([
  ['incident.created', 'incident.created', true],
  ['incident.*', 'incident.created', true],
  ['incident.*', 'incidents.created', false],
  ['incident.*', 'incident', false],
  ['sdk.*', 'sdk.execution.failed', true],
  ['*', 'anything.at_all', true],
  ['audit.*', 'incident.created', true],
])('the pattern %s matches %s: %s', (pattern, type, expected) => {
  expect(patternMatches(pattern, type)).toBe(expected)
})

describe('changed fields', () => {
  test('are the fields whose values differ', () => {
    expect(changedFields({ a: 1, b: 2, c: 3 }, { a: 1, b: 5, d: 4 })).toEqual(['b', 'c', 'd'])
    expect(changedFields(null, { a: 1 })).toEqual(['a'])
  })

  test('do not depend on the order of keys', () => {
    expect(changedFields({ by: { id: 'u', name: 'n' } }, { by: { name: 'n', id: 'u' } })).toEqual([])
  })
})

test('ids contain their kind, sort by creation, and are rejected when malformed', () => {
  const ids = Array.from({ length: 1000 }, () => newId('incident'))
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(1000)
  expect(idSchema('incident').safeParse(ids[0]).success).toBe(true)
  expect(idSchema('incident').safeParse(newId('webhook')).success).toBe(false)
})

test('an error body contains code, status and retryability', () => {
  const body = errorBody(new ApiError('version_conflict', 'Another request was faster.'), 'req-12345678')
  expect(body).toEqual({
    error: {
      code: 'version_conflict',
      status: 409,
      message: 'Another request was faster.',
      retryable: true,
      details: [],
    },
    meta: { requestId: 'req-12345678' },
  })
})

const event: PlatformEvent = {
  id: newId('event'),
  type: 'incident.resolved',
  workspaceId: 'ws_1',
  environment: 'staging',
  createdAt: '2026-01-01T00:00:00.000Z',
  actor: { id: 'usr_1', name: 'Ada', type: 'user' },
  resource: { type: 'incident', id: 'inc_1', displayName: 'Disk full' },
  data: {
    before: { id: 'inc_1', status: 'open' },
    after: { id: 'inc_1', status: 'resolved' },
    changes: ['status'],
  },
  version: 2,
  requestId: null,
  causationId: null,
  source: null,
}

test('a delivery body has shape B: data is the resource after the event, or its last known state', () => {
  expect(deliveryBody(event, 'wh_1')).toEqual({
    id: event.id,
    webhook_id: 'wh_1',
    event: 'incident.resolved',
    timestamp: '2026-01-01T00:00:00.000Z',
    workspace_id: 'ws_1',
    data: { id: 'inc_1', status: 'resolved', version: 2 },
  })
  const deleted = { ...event, data: { ...event.data, after: null } }
  expect(deliveryBody(deleted, 'wh_1').data).toEqual({ id: 'inc_1', status: 'open', version: event.version })
  const commented = { ...event, data: { ...event.data, status: 'lost', comment: { body: 'Seen.' } } }
  expect(deliveryBody(commented, 'wh_1').data).toMatchObject({
    ...{ id: 'inc_1', status: 'resolved', comment: { body: 'Seen.' } },
  })
})

test('subjects contain prefix, workspace, environment and type', () => {
  expect(natsNames().eventSubject(event)).toBe('evt.ws_1.staging.incident.resolved')
  expect(natsNames('t1').eventSubject(event)).toBe('t1.evt.ws_1.staging.incident.resolved')
  expect(natsNames('t1').eventsStream).toBe('T1_PLATFORM_EVENTS')
})

test.each(['2026-03-02', '2026-03-02T10:00:00', 'now', ''])(
  'rejects the malformed instant "%s" with examples of valid instants',
  (text) => {
    const [issue] = Moment.safeParse(text).error?.issues ?? []
    expect(issue?.message).toMatch(/such as .*Z or .*\+01:00/)
  },
)

test.each([
  ['2026-03-02T10:00Z', '2026-03-02T10:00:00.000Z'],
  ['2026-03-02t10:00:00z', '2026-03-02T10:00:00.000Z'],
  ['2026-03-02T10:00:00.123456789+05:30', '2026-03-02T04:30:00.123Z'],
  ['2026-03-02T23:59:59-11:00', '2026-03-03T10:59:59.000Z'],
])('converts the RFC 3339 instant %s to UTC: %s', (text, utc) => {
  expect(Moment.parse(text)).toBe(utc)
})

test.each([
  ['0000-01-01T00:00:00Z', false],
  ['0001-01-01T00:00:00+01:00', false],
  ['9999-12-31T23:59:59-01:00', false],
  ['0001-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999Z', true],
])('the instant %s is in the range that Postgres and text comparison support: %s', (text, known) => {
  expect(Moment.safeParse(text).success).toBe(known)
})
