import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, type PlatformEvent, ReplayJob, ReplayStarted, systemActor } from '@opsplane/contracts'
import { type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
let recorder: EventRecorder
beforeAll(async () => {
  // One replay per step of a job.
  fixture = await startDispatcher({ env: { WEBHOOK_DRAIN_PER_SECOND: '1' } })
  recorder = await recordEvents(fixture.service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await fixture?.stop()
})

/** A webhook with failed deliveries whose endpoint works again. */
async function recovered(name: string, failures = 1) {
  const answer = { status: 500 }
  const webhook = await fixture.webhook(name, { retries: 0 }, () => answer)
  const seen = createDeliveryReader(fixture, webhook.id)
  for (let n = 0; n < failures; n++) await fixture.publish({ type: `${name}.created` })
  const failed = await seen.having('failed', failures)
  answer.status = 200
  const [delivery] = failed
  if (!delivery) throw new Error('nothing failed')
  return { webhook, seen, delivery }
}

/** Events of a webhook in the log after its creation, in log order. */
const logged = (webhookId: string) => fixture.service.sql<{ id: string; type: string }[]>`
  select id, type from events where resource->>'id' = ${webhookId} and type <> 'webhook.created' order by position`
const loggedTypes = async (webhookId: string) => (await logged(webhookId)).map(({ type }) => type)

/** Events of a webhook after its creation, as published. */
function publishedOf(webhookId: string, count: number): Promise<PlatformEvent[]> {
  return waitFor(
    async () => {
      const ids = (await logged(webhookId)).map(({ id }) => id)
      if (ids.length !== count) throw new Error(`the log has ${ids.length} events`)
      const found = ids.map((id) => recorder.published.filter(({ event }) => event.id === id))
      return found.every(({ length }) => length === 1) && found.flat().map(({ event }) => event)
    },
    { message: `${count} published events of ${webhookId}` },
  )
}

const by = (requestId: string) => ({ actor: fixture.principal.actor, requestId, causationId: null })
const named = (requestId: string, more = {}) => ({ 'X-Request-ID': requestId, ...more })
const about = ({ id, name }: { id: string; name: string }) => ({ type: 'webhook', id, displayName: name })
const coded = (code: string) => expect.objectContaining({ code })

describe('a manual retry or replay', () => {
  it('is recorded as one event with its actor, and does not change the webhook or its version', async () => {
    const { webhook, seen, delivery } = await recovered('reported')
    const path = `${seen.path}/${delivery.id}`
    await fixture.api.post(`${path}/retry`, undefined, named('req_retry'))
    await seen.having('succeeded', 1)
    const reply = await fixture.api.post(`${path}/replay`, undefined, named('req_replay'))
    const made = reply.data(Delivery)
    const [retried, replayed] = await publishedOf(webhook.id, 2)

    const { eventId, eventType } = delivery
    expect(retried).toMatchObject({
      ...by('req_retry'),
      type: 'webhook.delivery_retried',
      resource: about(webhook),
      data: { deliveryId: delivery.id, eventId, before: null, after: { eventType, replayOf: null } },
    })
    expect(replayed).toMatchObject({
      ...by('req_replay'),
      type: 'webhook.delivery_replayed',
      resource: about(webhook),
      data: { deliveryId: made.id, eventId, replayOf: delivery.id, after: { webhookId: webhook.id } },
    })
    expect(await seen.webhook()).toEqual(webhook)
    const ifUnchanged = { 'If-Match': `"${webhook.version}"` }
    expect((await fixture.api.patch(`/webhooks/${webhook.id}`, { retries: 1 }, ifUnchanged)).status).toBe(200)
  })

  it('is reported once for an Idempotency-Key, and not if it is rejected', async () => {
    const { webhook, seen, delivery } = await recovered('once')
    const replay = () =>
      fixture.api.post(`${seen.path}/${delivery.id}/replay`, undefined, { 'Idempotency-Key': 'once' })
    await Promise.all([replay(), replay()])
    await waitFor(async () => (await replay()).status === 202)
    await seen.having('succeeded', 1)
    const [made] = await seen.list('?status=succeeded')
    const refused = await fixture.api.post(`${seen.path}/${made?.id}/retry`)
    expect(refused.error()).toEqual(coded('invalid_state_transition'))
    expect(await loggedTypes(webhook.id)).toEqual(['webhook.delivery_replayed'])
  })

  it('is reported for each of many concurrent requests', async () => {
    const { webhook, seen, delivery } = await recovered('crowd')
    const replays = Array.from({ length: 12 }, () => fixture.api.post(`${seen.path}/${delivery.id}/replay`))
    const made = (await Promise.all(replays)).map((reply) => reply.data(Delivery).id)
    const events = await publishedOf(webhook.id, 12)
    expect(events.map(({ data }) => data.deliveryId).sort()).toEqual(made.sort())
  })

  it('is neither reported nor sent if its transaction fails after the event', async () => {
    const { webhook, seen, delivery } = await recovered('undone')
    await fixture.service.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before insert or update on idempotency_keys
        for each row when (new.status is not null) execute function refuse();`)
    try {
      for (const action of ['retry', 'replay'])
        expect(
          (
            await fixture.api.post(`${seen.path}/${delivery.id}/${action}`, undefined, {
              'Idempotency-Key': `undone-${action}`,
            })
          ).status,
        ).toBe(500)
      const bulk = await fixture.api.post(`${seen.path}/replay`, {}, { 'Idempotency-Key': 'undone-bulk' })
      expect(bulk.status).toBe(500)
    } finally {
      await fixture.service.sql.unsafe('drop trigger refuse on idempotency_keys; drop function refuse')
    }
    expect(await loggedTypes(webhook.id)).toEqual([])
    expect(await seen.list()).toEqual([delivery])
    expect((await fixture.api.get(`/webhooks/${webhook.id}/replays`)).page(ReplayJob).items).toEqual([])
  })
})

describe('a replay of many deliveries', () => {
  it('is reported at its start, by a person, and at its end, by the platform', async () => {
    const { webhook, seen } = await recovered('many', 3)
    const start = (body: object, more?: object) =>
      fixture.api.post(`${seen.path}/replay`, body, named('req_bulk', more))
    await start({ dryRun: true })
    expect(await loggedTypes(webhook.id)).toEqual([])
    const key = { 'Idempotency-Key': 'many' }
    const { job } = (await start({}, key)).data(ReplayStarted)
    expect((await start({}, key)).data(ReplayStarted).job).toEqual(job)
    await seen.having('succeeded', 3)
    const [started, completed] = await publishedOf(webhook.id, 2)

    expect(started).toMatchObject({
      ...by('req_bulk'),
      type: 'webhook.replay_started',
      resource: about(webhook),
      version: 1,
      data: { replayId: job?.id, filter: job?.filter, total: 3, before: null, after: job },
    })
    expect(completed).toMatchObject({
      type: 'webhook.replay_completed',
      actor: systemActor,
      requestId: null,
      resource: about(webhook),
      version: 2,
      data: { replayId: job?.id, replayed: 3, before: job, changes: ['status', 'replayed', 'finishedAt'] },
    })
    expect(await seen.webhook()).toEqual(webhook)
  })

  it('is reported once with its progress when canceled', async () => {
    const { webhook, seen } = await recovered('canceled', 4)
    const { job } = (await fixture.api.post(`${seen.path}/replay`, {})).data(ReplayStarted)
    // Prevents a further step before the cancel.
    await fixture.service.sql`update replay_jobs set due_at = '2999-01-01' where id = ${job?.id ?? ''}`
    const cancel = () =>
      fixture.api.post(`/webhooks/${webhook.id}/replays/${job?.id}/cancel`, undefined, named('req_cancel'))
    const ended = (await cancel()).data(ReplayJob)
    expect((await cancel()).error()).toEqual(coded('invalid_state_transition'))
    const [started, canceled] = await publishedOf(webhook.id, 2)
    expect(started?.type).toBe('webhook.replay_started')
    expect(canceled).toMatchObject({
      ...by('req_cancel'),
      type: 'webhook.replay_canceled',
      resource: about(webhook),
      data: { replayId: job?.id, replayed: ended.replayed, after: ended },
    })
  })

  it('is reported as canceled by the platform when its webhook is deleted', async () => {
    const { webhook, seen } = await recovered('deleted', 1)
    const { job } = (await fixture.api.post(`${seen.path}/replay`, {})).data(ReplayStarted)
    await publishedOf(webhook.id, 2)
    await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
    const id = job?.id ?? ''
    // As if the job were still running.
    await fixture.service.sql`
      update replay_jobs set status = 'running', due_at = now(), finished_at = null where id = ${id}`
    const canceled = (await publishedOf(webhook.id, 4)).at(-1)
    expect(canceled).toMatchObject({
      type: 'webhook.replay_canceled',
      actor: systemActor,
      resource: { type: 'webhook', id: webhook.id },
      data: { replayId: id, replayed: 1, after: { status: 'canceled' } },
    })
  })
})

describe('the events of retries and replays', () => {
  it('are sent to other webhooks, but not to the webhook they concern', async () => {
    const { webhook, seen, delivery } = await recovered('watched')
    await fixture.api.patch(`/webhooks/${webhook.id}`, { events: ['webhook.*', 'watched.*'] })
    const watcher = await fixture.webhook('watcher', { events: ['webhook.delivery_retried'] })
    await fixture.api.post(`${seen.path}/${delivery.id}/retry`)
    const [reported] = await createDeliveryReader(fixture, watcher.id).having('succeeded', 1)
    expect(reported?.eventType).toBe('webhook.delivery_retried')
    const own = (await seen.list('?limit=200')).filter(({ eventId }) => eventId === reported?.eventId)
    expect(own).toEqual([])
  })

  it('fold to the same read model again', async () => {
    const rows = async () => [
      ...(await fixture.service.sql`select * from webhook_resends order by id`),
      ...(await fixture.service.sql`select * from webhook_replays order by id`),
    ]
    const kept = await rows()
    expect(kept.length).toBeGreaterThan(10)
    await fixture.service.rebuild()
    expect(await rows()).toEqual(kept)
  })
})
