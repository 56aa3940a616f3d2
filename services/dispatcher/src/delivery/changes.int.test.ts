import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, type DeliveryChange, DeliveryChanges, deliveryChangesPath } from '@opsplane/contracts'
import { followChanges, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

const asked = async (after: number) =>
  (await fixture.service.asService('analytics').get(`${deliveryChangesPath}?after=${after}`)).data(
    DeliveryChanges,
  )

/** The state of a client that applies all changes after a position. */
async function followed(after = 0) {
  const known = new Map<string, DeliveryChange>()
  const { changes } = await asked(after)
  for (const { change } of changes) known.set(change.id, change)
  return { known, last: changes.at(-1)?.position ?? after }
}

describe('changes of deliveries', () => {
  it('report the results of attempts, manual retries and the deletion of a webhook', async () => {
    const answer = { status: 500 }
    const settings = { retries: 1, retry_schedule: [3_600] }
    const webhook = await fixture.webhook('reported', settings, () => answer)
    const seen = createDeliveryReader(fixture, webhook.id)
    const statusOf = async (id: string | undefined) => (await followed()).known.get(id ?? '')?.status
    await fixture.publish({ type: 'reported.created' })
    const [waiting] = await seen.having('retrying', 1)
    expect((await followed()).known.get(waiting?.id ?? '')).toMatchObject({
      ...{
        workspaceId: fixture.principal.workspaceId,
        webhookId: webhook.id,
        eventType: 'reported.created',
        host: '127.0.0.1',
      },
      ...{ status: 'retrying', attempts: 1, responseStatus: 500, isReplay: false },
    })
    await fixture.api.patch(`/webhooks/${webhook.id}`, { retries: 0 })
    await fixture.publish({ type: 'reported.updated' })
    const [failed] = await seen.having('failed', 1)
    expect(await statusOf(failed?.id)).toBe('failed')

    answer.status = 200
    await fixture.api.post(`${seen.path}/${failed?.id}/retry`)
    await seen.having('succeeded', 1)
    expect(await statusOf(failed?.id)).toBe('succeeded')
    await fixture.publish({ type: 'reported.closed' })
    const again = await seen.having('succeeded', 2)
    expect((await followed()).known.get(again[0]?.id ?? '')).toMatchObject({
      status: 'succeeded',
      attempts: 1,
    })

    await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
    await waitFor(async () => (await statusOf(waiting?.id)) === 'failed')
  })

  it('are reported once each to a client that continues from the last position', async () => {
    const { known, last } = await followed()
    expect(known.size).toBe(3)
    expect((await followed(last)).known.size).toBe(0)
    expect((await asked(last)).next).toBeNull()
  })

  it('are delayed by uncommitted changes, and none is skipped', async () => {
    const { last, known } = await followed()
    const [early, late] = [...known.keys()]
    const { sql } = fixture.service
    const change = (runner: Pick<typeof sql, 'unsafe'>, id: string | undefined) =>
      runner.unsafe(`update deliveries set change_position = nextval('delivery_changes') where id = $1`, [
        id ?? '',
      ])
    const reading = await sql.begin(async (tx) => {
      await change(tx, early)
      await change(sql, late)
      const page = followed(last)
      // By the time this request returns, the reader has found the open transaction and waits for it.
      await fixture.api.get('/webhooks')
      return { page }
    })
    expect([...(await reading.page).known.keys()].sort()).toEqual([early, late].sort())
  })

  it('are signalled on NATS after the commit', async () => {
    const { changed, close } = await followChanges(fixture.service, fixture.principal)
    const webhook = await fixture.webhook('signalled', { retries: 0 }, () => ({ status: 500 }))
    const seen = createDeliveryReader(fixture, webhook.id)
    await fixture.publish({ type: 'signalled.created' })
    const [failed] = await seen.having('failed', 1)
    await waitFor(() => changed.has(`delivery ${failed?.id}`))
    changed.clear()
    const { id } = (await fixture.api.post(`${seen.path}/${failed?.id}/replay`)).data(Delivery)
    await waitFor(() => [id, failed?.id].every((each) => changed.has(`delivery ${each}`)))
    await close()
  })

  it('are for analytics alone', async () => {
    const refused = await fixture.service.asService('workflows').get(`${deliveryChangesPath}?after=0`)
    expect(refused.status).toBe(403)
  })
})
