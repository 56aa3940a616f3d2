import { describe, expect, it } from '@jest/globals'
import type { DeliveryBody } from '@opsplane/contracts'
import type { NewDelivery } from '../enqueue/fan-out-statement.js'
import { assignSequences, computeOrderingKey } from './ordering.js'

const body = (data: Record<string, unknown>): DeliveryBody => ({
  id: 'evt_1',
  webhook_id: 'wh_1',
  event: 'incident.created',
  timestamp: '2026-01-01T00:00:00.000Z',
  workspace_id: 'ws_1',
  data,
})

describe('the ordering key of a delivery', () => {
  it.each([
    [{ id: 'inc_1' }, '"inc_1"'],
    [{ id: 1 }, '1'],
    [{ id: '1' }, '"1"'],
    [{ id: null }, 'null'],
    [{ id: { b: 1, a: [2] } }, '{"a":[2],"b":1}'],
  ])('of %j at data.id is %s', (data, key) => {
    expect(computeOrderingKey('data.id', body(data))).toBe(key)
  })

  it('is null if the webhook is not ordered or the body lacks the value', () => {
    expect(computeOrderingKey(null, body({ id: 1 }))).toBeNull()
    expect(computeOrderingKey('data.id', body({}))).toBeNull()
    expect(computeOrderingKey('data.id.deeper', body({ id: 1 }))).toBeNull()
  })

  it('is a hash of a long value, different for each value', () => {
    const keys = ['a', 'b'].map((end) => computeOrderingKey('data.id', body({ id: 'x'.repeat(300) + end })))
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(keys[1]).toMatch(/^[0-9a-f]{64}$/)
    expect(keys[0]).not.toBe(keys[1])
  })
})

describe('the ordering of deliveries', () => {
  const draft = (place: number, key: string | null) => ({
    incoming: { place },
    row: { webhook_id: 'wh_1', ordering_key: key, ordering_place: null } as NewDelivery,
  })
  const sequences = async () => ['1', '2', '3', '4']

  it('assigns each delivery its sequence, and returns the queues in which deliveries wait', async () => {
    const drafts = [draft(0, 'a'), draft(1, 'a'), draft(1, null), draft(3, 'b')]
    expect(await assignSequences(drafts, sequences)).toEqual([
      { webhookId: 'wh_1', key: 'a', sequence: '1' },
      { webhookId: 'wh_1', key: 'b', sequence: '4' },
    ])
    expect(drafts.map(({ row }) => row.ordering_place)).toEqual(['1', '2', null, '4'])
  })

  it('requests no sequences if no delivery is ordered', async () => {
    const never = () => Promise.reject(new Error('was asked'))
    expect(await assignSequences([draft(0, null)], never)).toEqual([])
  })
})
