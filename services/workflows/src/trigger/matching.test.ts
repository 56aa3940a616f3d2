import { describe, expect, it } from '@jest/globals'
import { eventExample, type PlatformEvent } from '@opsplane/contracts'
import { listEventKeys } from '../run/event-wait/accepted-event.js'
import { isStartedByEvent, isStartedByTopic } from './matching.js'

const id = 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const event: PlatformEvent = {
  ...eventExample('incident.created'),
  ...{ workspaceId: 'ws_1', environment: 'staging' },
}
const workflow = (changes: object = {}) => ({
  id,
  trigger: { type: 'event' as const, events: ['incident.*'] },
  fence: { itsm: 100 },
  ...changes,
})
const from = (position: number | null, source: string | null = 'itsm') => ({ source, position })

it('an event is looked up by its type, each prefix and `*`, in its own workspace and environment only', () => {
  expect(listEventKeys(event).sort()).toEqual(
    ['*', 'audit.*', 'incident.*', 'incident.created'].map((key) => `ws_1/staging/${key}`),
  )
})

describe('an event starts a workflow', () => {
  it('only if its position in its log is after the activation', () => {
    expect(isStartedByEvent(workflow(), event, from(100))).toBe(false)
    expect(isStartedByEvent(workflow(), event, from(101))).toBe(true)
    expect(isStartedByEvent(workflow(), event, from(1, 'dispatcher'))).toBe(true)
    expect(isStartedByEvent(workflow(), event, from(null, null))).toBe(true)
  })

  it('only if the filter matches the body that a webhook would receive', () => {
    const filtered = (filter: object) => workflow({ trigger: { type: 'event', events: ['*'], filter } })
    const { severity } = event.data.after ?? {}
    expect(
      isStartedByEvent(filtered({ event: 'incident.created', 'data.severity': severity }), event, from(101)),
    ).toBe(true)
    expect(isStartedByEvent(filtered({ 'data.severity': { ne: severity } }), event, from(101))).toBe(false)
  })

  it('unless the event is about that workflow itself', () => {
    const own = { ...event, resource: { ...event.resource, type: 'workflow', id } }
    expect(isStartedByEvent(workflow(), own, from(101))).toBe(false)
  })
})

describe('an event of the bus starts a workflow', () => {
  const said = {
    ...{ id: 'evt_1', topic: 'orders', type: 'order.created', payload: { amount: 7 } },
    createdAt: '2026-05-01T10:00:00.000Z',
  }
  it.each([
    [{ topic: 'orders' }, true],
    [{ topic: 'orders', eventType: 'order.created' }, true],
    [{ topic: 'orders', filter: { 'payload.amount': { gte: 7 } } }, true],
    [{ topic: 'orders', filter: { 'payload.amount': { gt: 7 } } }, false],
    [{ topic: 'orders', eventType: 'order.deleted' }, false],
    [{ topic: 'order' }, false],
  ])('with the trigger %j: %s', (listens, starts) => {
    expect(isStartedByTopic({ trigger: { type: 'event_bus', ...listens } }, said)).toBe(starts)
  })
})
