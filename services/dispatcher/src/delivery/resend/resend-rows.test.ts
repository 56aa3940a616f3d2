import { describe, expect, it } from '@jest/globals'
import { ApiError, deliveryStatuses } from '@opsplane/contracts'
import {
  assertResendAllowed,
  buildReplay,
  buildRetry,
  type DeliveryRow,
  resendActions,
} from './resend-rows.js'

const failed: DeliveryRow = {
  id: 'del_1',
  workspaceId: 'ws_1',
  environment: 'production',
  webhookId: 'wh_1',
  eventId: 'evt_1',
  eventType: 'incident.created',
  url: 'https://old.example.com',
  status: 'failed',
  attempts: 4,
  cycleBase: 0,
  dueAt: null,
  leaseOwner: null,
  replayOf: null,
  bytes: 300,
  orderingKey: null,
  orderingSequence: null,
  lastAttemptAt: '2026-01-01T00:00:00.000Z',
  lastResponseStatus: 500,
  lastResponseBody: 'no',
  lastDurationMs: 12,
  lastErrorKind: 'status',
  lastErrorMessage: 'The endpoint answered 500.',
  createdAt: '2026-01-01T00:00:00.000Z',
  changePosition: 1,
}
const to = { url: 'https://new.example.com', nowMs: Date.parse('2026-01-02T00:00:00.000Z') }

const refusal = (action: 'retry' | 'replay', status: DeliveryRow['status']) => {
  try {
    assertResendAllowed(action, deliveryStatuses.find((known) => known === status) ?? 'pending')
    return undefined
  } catch (error) {
    return error
  }
}

describe('a retry or replay', () => {
  it.each(deliveryStatuses)(
    'of a delivery that is %s is allowed, or rejected with the allowed actions',
    (status) => {
      for (const action of ['retry', 'replay'] as const) {
        const allowed = resendActions[status]
        const error = refusal(action, status)
        if (allowed.includes(action)) expect(error).toBeUndefined()
        else {
          expect(error).toBeInstanceOf(ApiError)
          expect(error).toMatchObject({
            code: 'invalid_state_transition',
            details: [{ params: { from: status, allowed } }],
          })
        }
      }
    },
  )

  it('is a retry only of a failed delivery, and a replay only of a finished one', () => {
    const may = (action: 'retry' | 'replay') =>
      deliveryStatuses.filter((status) => resendActions[status].includes(action))
    expect(may('retry')).toEqual(['failed'])
    expect(may('replay')).toEqual(['succeeded', 'failed'])
  })

  it('begins a new cycle of attempts at the current URL for a retry', () => {
    expect(buildRetry(failed, to)).toEqual({
      cycleBase: 4,
      url: to.url,
      status: 'pending',
      dueAt: null,
      leaseOwner: null,
    })
  })

  it('creates a separate delivery for a replay', () => {
    expect(buildReplay('del_2', failed, to)).toEqual({
      id: 'del_2',
      workspaceId: 'ws_1',
      environment: 'production',
      webhookId: 'wh_1',
      eventId: 'evt_1',
      eventType: 'incident.created',
      url: to.url,
      replayOf: 'del_1',
      bytes: 300,
      orderingKey: null,
      orderingSequence: null,
      status: 'pending',
      dueAt: null,
      leaseOwner: null,
      createdAt: '2026-01-02T00:00:00.000Z',
    })
  })

  it('of an ordered delivery waits for its turn, in the place of the original', () => {
    const ordered = { ...failed, orderingKey: '"inc_1"', orderingSequence: '1' }
    const waits = { status: 'pending', dueAt: null, leaseOwner: null }
    expect(buildRetry(ordered, to)).toMatchObject(waits)
    expect(buildReplay('del_2', ordered, to)).toMatchObject({
      ...waits,
      orderingKey: '"inc_1"',
      orderingSequence: '1',
    })
  })
})
