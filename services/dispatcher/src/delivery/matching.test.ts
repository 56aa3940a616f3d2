import { describe, expect, it } from '@jest/globals'
import { type PlatformEvent, systemActor } from '@opsplane/contracts'
import { bodyFor, type Subscription } from './matching.js'

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
const subscription = (changes: Partial<Subscription> = {}): Subscription => ({
  id: 'wh_1',
  tenant: { workspaceId: 'ws_1', environment: 'production' },
  events: ['*'],
  filter: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...changes,
})
const matches = (webhook: Partial<Subscription>, happened: Partial<PlatformEvent> = {}) =>
  bodyFor(subscription(webhook), event(happened)) !== undefined

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
  ])('of %j with %s is %s', (events, type, expected) => {
    expect(matches({ events }, { type })).toBe(expected)
  })

  it('keeps to the workspace and environment', () => {
    expect(matches({}, { workspaceId: 'ws_2' })).toBe(false)
    expect(matches({}, { environment: 'staging' })).toBe(false)
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

  it('never tells a webhook about itself', () => {
    const resource = { type: 'webhook', id: 'wh_1', displayName: 'Hook' }
    expect(matches({}, { type: 'webhook.paused', resource })).toBe(false)
    expect(matches({ id: 'wh_2' }, { type: 'webhook.paused', resource })).toBe(true)
    // Of its deliveries neither, whose aggregates are others.
    expect(matches({}, { type: 'webhook.delivery_retried', resource })).toBe(false)
  })

  it('leaves what happened before the webhook existed, but for the tolerance between clocks', () => {
    expect(matches({ createdAt: '2026-01-01T00:00:12.000Z' })).toBe(false)
    expect(matches({ createdAt: '2026-01-01T00:00:10.900Z' })).toBe(true)
  })

  it('makes shape B', () => {
    expect(bodyFor(subscription(), event())).toEqual({
      id: 'evt_1',
      webhook_id: 'wh_1',
      event: 'incident.created',
      timestamp: '2026-01-01T00:00:10.000Z',
      workspace_id: 'ws_1',
      data: { id: 'inc_1', severity: 'critical' },
    })
  })
})
