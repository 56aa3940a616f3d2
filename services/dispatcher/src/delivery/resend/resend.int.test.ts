import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

/** A webhook without retries, and one delivery with this final status. */
async function finished(name: string, status: 'failed' | 'succeeded') {
  const answer = { status: status === 'failed' ? 500 : 200 }
  const webhook = await fixture.webhook(name, { retries: 0 }, () => answer)
  const event = await fixture.publish({ type: `${name}.created` })
  const seen = createDeliveryReader(fixture, webhook.id)
  const [delivery] = await seen.having(status, 1)
  if (!delivery) throw new Error('nothing was delivered')
  const resend = (action: 'retry' | 'replay', headers?: Record<string, string>) =>
    fixture.api.post(`${seen.path}/${delivery.id}/${action}`, undefined, headers)
  return { answer, webhook, event, seen, delivery, resend }
}

describe('a manual retry', () => {
  it('sends a failed delivery again with a new count of attempts', async () => {
    const { answer, webhook, event, seen, delivery, resend } = await finished('again', 'failed')
    const reply = await resend('retry')
    expect(reply.status).toBe(202)
    expect(reply.data(Delivery)).toMatchObject({ id: delivery.id, status: 'pending', attempts: 1 })
    await seen.having('failed', 1)

    // The present retry limit of the webhook counts from the manual retry on.
    await fixture.api.patch(`/webhooks/${webhook.id}`, { retries: 20, retry_schedule: [1] })
    await resend('retry')
    await seen.having('retrying', 1)
    answer.status = 200
    const [delivered] = await seen.having('succeeded', 1)
    expect(delivered).toMatchObject({ id: delivery.id, eventId: event.id, replayOf: null, lastError: null })
    const { attemptLog } = await seen.detail(delivery.id)
    expect(attemptLog.length).toBeGreaterThanOrEqual(4)
    expect(attemptLog.map(({ number }) => number)).toEqual(attemptLog.map((_, index) => index + 1))
    expect(new Set(fixture.requestsTo('again').map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([event.id]),
    )
  })

  it('of a delivery that has not failed is rejected with the allowed actions', async () => {
    const { resend } = await finished('fine', 'succeeded')
    expect((await resend('retry')).error()).toMatchObject({
      code: 'invalid_state_transition',
      status: 409,
      details: [{ params: { from: 'succeeded', allowed: ['replay'] } }],
    })
  })

  it('counts towards the automatic pause when it fails again', async () => {
    const { seen, resend } = await finished('counted', 'failed')
    for (let failures = 2; failures <= 5; failures++) {
      await resend('retry')
      await seen.having('failed', 1)
    }
    expect(await seen.webhook()).toMatchObject({ status: 'paused', consecutive_failures: 5 })
  })

  it('is held while its webhook is paused', async () => {
    const { answer, webhook, seen, delivery, resend } = await finished('halted', 'failed')
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    expect((await resend('retry')).data(Delivery)).toMatchObject({ status: 'held', nextAttemptAt: null })
    expect((await resend('retry')).error()).toMatchObject({ details: [{ params: { from: 'held' } }] })
    expect(fixture.requestsTo('halted')).toHaveLength(1)
    answer.status = 200
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    expect(await seen.having('succeeded', 1)).toMatchObject([{ id: delivery.id, attempts: 2 }])
  })
})

describe('a replay', () => {
  it.each(['failed', 'succeeded'] as const)(
    'creates a new delivery of one that %s, for each request',
    async (how) => {
      const { answer, seen, event, delivery, resend } = await finished(`replayed_${how}`, how)
      answer.status = 201
      const before = await seen.detail(delivery.id)
      const first = (await resend('replay')).data(Delivery)
      const second = (await resend('replay')).data(Delivery)
      expect(first).toMatchObject({
        status: 'pending',
        attempts: 0,
        replayOf: delivery.id,
        eventId: event.id,
      })
      const succeeded = await seen.having('succeeded', how === 'failed' ? 2 : 3)
      expect(succeeded.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, second.id]))
      const replays = [second, first].map(({ id }) => expect.objectContaining({ id, status: 'succeeded' }))
      expect(await seen.detail(delivery.id)).toEqual({ ...before, replayCount: 2, replays })
      const bodies = fixture.requestsTo(`replayed_${how}`).map(({ rawBody }) => String(rawBody))
      expect(bodies).toHaveLength(3)
      expect(new Set(bodies).size).toBe(1)
    },
  )

  it('of an unfinished delivery is rejected, and a replay is held while its webhook is paused', async () => {
    const { webhook, seen, delivery, resend } = await finished('waiting', 'succeeded')
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    const held = (await resend('replay')).data(Delivery)
    expect(held).toMatchObject({ status: 'held', nextAttemptAt: null, replayOf: delivery.id })
    const refused = await fixture.api.post(`${seen.path}/${held.id}/replay`)
    expect(refused.error()).toMatchObject({ details: [{ params: { from: 'held', allowed: [] } }] })
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    await seen.having('succeeded', 2)
    expect(fixture.requestsTo('waiting')).toHaveLength(2)
  })

  it('is created once for an Idempotency-Key under concurrent requests', async () => {
    const { seen, resend } = await finished('keyed', 'succeeded')
    const key = { 'Idempotency-Key': 'replay-1' }
    const replies = await Promise.all([resend('replay', key), resend('replay', key)])
    const made = replies.filter(({ status }) => status === 202).map((reply) => reply.data(Delivery).id)
    expect(made.length).toBeGreaterThan(0)
    const again = await resend('replay', key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(new Set([...made, again.data(Delivery).id]).size).toBe(1)
    await seen.having('succeeded', 2)
    expect(await seen.list()).toHaveLength(2)
  })

  it('requires webhooks:write and a delivery of the same webhook', async () => {
    const { delivery, webhook } = await finished('guarded', 'failed')
    const other = await fixture.webhook('other')
    const { workspaceId = '' } = fixture.principal
    const reader = fixture.service.as(testPrincipal({ workspaceId, permissions: ['webhooks:read'] }))
    const stranger = fixture.service.as(testPrincipal())
    for (const action of ['retry', 'replay']) {
      const path = `/webhooks/${webhook.id}/deliveries/${delivery.id}/${action}`
      expect((await reader.post(path)).error().code).toBe('insufficient_scope')
      expect((await stranger.post(path)).error().code).toBe('not_found')
      const elsewhere = `/webhooks/${other.id}/deliveries/${delivery.id}/${action}`
      expect((await fixture.api.post(elsewhere)).error().code).toBe('not_found')
    }
    expect(fixture.requestsTo('guarded')).toHaveLength(1)
  })
})
