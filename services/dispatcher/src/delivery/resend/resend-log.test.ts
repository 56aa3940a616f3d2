import { describe, it } from '@jest/globals'
import { specify } from '@opsplane/testing'
import { type ResendState, resend } from './resend-log.js'

const sent: ResendState = {
  id: 'rsd_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  webhookId: 'wh_1',
  webhookName: 'Hook',
  deliveryId: 'del_2',
  eventId: 'evt_1',
  eventType: 'incident.created',
  replayOf: null,
  createdAt: '2026-01-01T00:00:00.000Z',
}

describe('a delivery that was sent again manually', () => {
  const nothing = specify(resend).given(null)

  it('is reported as a retry', () => {
    nothing.when({ kind: 'retry', resend: sent }).emits({
      type: 'webhook.delivery_retried',
      changes: sent,
      extras: { deliveryId: 'del_2', eventId: 'evt_1' },
    })
  })

  it('is reported as a replay, with the original delivery', () => {
    const replayed = { ...sent, replayOf: 'del_1' }
    nothing.when({ kind: 'replay', resend: replayed }).emits({
      type: 'webhook.delivery_replayed',
      changes: replayed,
      extras: { deliveryId: 'del_2', eventId: 'evt_1', replayOf: 'del_1' },
    })
  })
})
