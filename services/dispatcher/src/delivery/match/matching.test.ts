import { describe, expect, it } from '@jest/globals'
import { type DeliveryBody, type PlatformEvent, systemActor } from '@opsplane/contracts'
import type { Target } from '../../webhook/target.js'
import { formatBody } from '../job.js'
import { type EventPosition, findMatches } from './matching.js'
import { groupByPattern, type Subscriber } from './webhook-index.js'

const event = (changes: Partial<PlatformEvent> = {}): PlatformEvent => ({
  id: 'evt_1',
  type: 'incident.created',
  workspaceId: 'ws_1',
  environment: 'production',
  createdAt: '2026-01-01T00:00:10.000Z',
  actor: systemActor,
  resource: { type: 'incident', id: 'inc_1', displayName: 'Down' },
  data: { before: null, after: { id: 'inc_1', severity: 'critical' }, changes: ['severity'] },
  version: 1,
  requestId: null,
  causationId: null,
  source: null,
  ...changes,
})
const tenant = { workspaceId: 'ws_1', environment: 'production' } as const
const fenced = (floor: number, done: number[] = []): Subscriber['fences'] =>
  new Map([['itsm', { floor, done: done.map((position) => [position, position] as const) }]])
const subscriber = (changes: Partial<Target>, fences: Subscriber['fences'] = new Map()): Subscriber => ({
  target: { id: 'wh_1', events: ['*'], filter: null, ...changes } as Target,
  fences,
})
const matched = (
  subscribers: Subscriber[],
  happened: Partial<PlatformEvent> = {},
  origin: EventPosition | null = null,
) =>
  findMatches(
    {
      tenant,
      revision: 1,
      count: subscribers.length,
      checkedAt: 0,
      subscribers: groupByPattern(subscribers),
    },
    event(happened),
    origin,
  )
const matches = (webhook: Partial<Target>, happened: Partial<PlatformEvent> = {}) =>
  matched([subscriber(webhook)], happened).length === 1

describe('matching', () => {
  it.each<[string[], string, boolean]>([
    [['incident.created'], 'incident.created', true],
    [['incident.created'], 'incident.updated', false],
    [['incident.*'], 'incident.sla_breached', true],
    [['incident.*'], 'incidents.created', false],
    [['sdk.execution.*'], 'sdk.execution.failed', true],
    [['sdk.*'], 'sdk.execution.failed', true],
    [['*'], 'anything.at_all', true],
    [['audit.*'], 'incident.created', true],
    [['change.*', 'incident.created'], 'incident.created', true],
    [['*', 'audit.*', 'incident.*', 'incident.created'], 'incident.created', true],
  ])('of %j with %s is %s', (events, type, expected) => {
    expect(matches({ events }, { type })).toBe(expected)
  })

  it('filters on the delivery body', () => {
    expect(matches({ filter: { 'data.severity': 'critical' } })).toBe(true)
    expect(matches({ filter: { 'data.severity': { in: ['low'] } } })).toBe(false)
    expect(matches({ filter: { 'data.severity': 'critical', event: 'incident.updated' } })).toBe(false)
  })

  it('filters a deletion on the last known resource', () => {
    const data = { before: { severity: 'low' }, after: null, changes: ['severity'] }
    expect(matches({ filter: { 'data.severity': 'low' } }, { type: 'incident.deleted', data })).toBe(true)
  })

  it('never matches a webhook with events about itself', () => {
    const resource = { type: 'webhook', id: 'wh_1', displayName: 'Hook' }
    expect(matches({}, { type: 'webhook.paused', resource })).toBe(false)
    expect(matches({ id: 'wh_2' }, { type: 'webhook.paused', resource })).toBe(true)
    // Events about its own deliveries do not match either, although their aggregates differ.
    expect(matches({}, { type: 'webhook.delivery_retried', resource })).toBe(false)
  })

  it('skips only the events that were fanned out before the webhook existed', () => {
    const behind = [subscriber({}, fenced(10, [12, 15]))]
    const goes = (position: number, source = 'itsm') => matched(behind, {}, { source, position }).length === 1
    expect([9, 10, 11, 12, 13, 15, 16].map((position) => goes(position))).toEqual([
      ...[false, false, true, false, true, false, true],
    ])
    expect(goes(1, 'settings')).toBe(true)
    expect(matched(behind)).toHaveLength(1)
  })

  it('builds the documented delivery body', () => {
    const body: DeliveryBody = {
      id: 'evt_1',
      webhook_id: 'wh_1',
      event: 'incident.created',
      timestamp: '2026-01-01T00:00:10.000Z',
      workspace_id: 'ws_1',
      data: { id: 'inc_1', severity: 'critical', version: 1 },
    }
    expect(matched([subscriber({})]).map((match) => match.body)).toEqual([body])
    expect(formatBody(body, JSON.stringify(body.data))).toBe(JSON.stringify(body))
  })
})
