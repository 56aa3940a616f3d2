import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Delivery, FailureGroup, newId, ReplayJob, ReplayStarted } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  // One replay per step, so that jobs take several steps.
  fixture = await startDispatcher({ env: { WEBHOOK_DRAIN_PER_SECOND: '1' } })
})
afterAll(() => fixture?.stop())

const jobs = (id: string) => `/webhooks/${id}/replays`
const replay = (id: string, body: unknown = {}, headers?: Record<string, string>) =>
  fixture.api.post(`/webhooks/${id}/deliveries/replay`, body, headers)
const jobOf = async (id: string, jobId = '') =>
  (await fixture.api.get(`${jobs(id)}/${jobId}`)).data(ReplayJob)
const ended = (id: string, jobId: string | undefined) =>
  waitFor(async () => {
    const job = await jobOf(id, jobId)
    return job.status !== 'running' && job
  })

/** A webhook whose first deliveries failed and whose later ones succeed. */
async function recovered(name: string, failures: number) {
  const answer = { status: 500 }
  const webhook = await fixture.webhook(name, { retries: 0 }, () => answer)
  const seen = createDeliveryReader(fixture, webhook.id)
  for (let n = 0; n < failures; n++) await fixture.publish({ type: `${name}.created` })
  const failed = await seen.having('failed', failures)
  answer.status = 200
  return { answer, webhook, seen, failed }
}

describe('a replay of many deliveries', () => {
  it('counts first, then replays each failed delivery once, with progress', async () => {
    const { webhook, seen, failed } = await recovered('many', 4)
    await fixture.publish({ type: 'many.updated' })
    await seen.having('succeeded', 1)
    const counted = await replay(webhook.id, { dryRun: true })
    expect(counted.status).toBe(202)
    expect(counted.data(ReplayStarted)).toEqual({ dryRun: true, count: 4, job: null })
    expect((await fixture.api.get(jobs(webhook.id))).page(ReplayJob).items).toEqual([])

    const { job, count } = (await replay(webhook.id)).data(ReplayStarted)
    expect(count).toBe(4)
    expect(job).toMatchObject({ webhookId: webhook.id, status: 'running', total: 4, replayed: 0 })
    expect(await ended(webhook.id, job?.id)).toMatchObject({
      status: 'completed',
      replayed: 4,
      finishedAt: expect.any(String),
    })
    const succeeded = await seen.having('succeeded', 5)
    const origins = succeeded.flatMap(({ replayOf }) => (replayOf === null ? [] : [replayOf]))
    expect(origins.sort()).toEqual(failed.map(({ id }) => id).sort())
    // A delivery with a successful replay needs no further replay.
    expect((await replay(webhook.id, { dryRun: true })).data(ReplayStarted).count).toBe(0)
    expect((await fixture.api.get(jobs(webhook.id))).page(ReplayJob).items.map(({ id }) => id)).toEqual([
      job?.id,
    ])
  })

  it('selects deliveries by status, event type and time', async () => {
    const { webhook, seen, failed } = await recovered('chosen', 2)
    await fixture.publish({ type: 'chosen.updated' })
    await seen.having('succeeded', 1)
    const [newest, oldest] = failed
    const count = async (body: Record<string, unknown>) =>
      (await replay(webhook.id, { ...body, dryRun: true })).data(ReplayStarted).count
    expect(await count({})).toBe(2)
    expect(await count({ status: 'succeeded' })).toBe(1)
    expect(await count({ status: ['failed', 'succeeded'] })).toBe(3)
    expect(await count({ eventType: 'chosen.updated' })).toBe(0)
    expect(await count({ from: newest?.createdAt, to: '2999-01-01T00:00:00Z' })).toBeGreaterThanOrEqual(1)
    expect(await count({ to: oldest?.createdAt })).toBe(0)
    const before = { from: '1999-01-01', to: '1999-01-01T05:00:00Z' }
    expect(await count(before)).toBe(0)
    expect(await count({ ...before, to: '2999-01-01' })).toBe(2)
    const inNewYork = await replay(webhook.id, { ...before, timeZone: 'America/New_York' })
    expect(inNewYork.error()).toMatchObject({ code: 'validation_failed', details: [{ path: '/to' }] })
    expect(
      (await replay(webhook.id, { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' })).error(),
    ).toMatchObject({ code: 'validation_failed', details: [{ path: '/to' }] })
    expect((await replay(webhook.id, { status: 'pending' })).error().code).toBe('validation_failed')
  })

  it('is limited to one job at a time, which can be canceled', async () => {
    const { webhook, seen } = await recovered('stopped', 4)
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    const key = { 'Idempotency-Key': 'bulk-1' }
    const { job } = (await replay(webhook.id, {}, key)).data(ReplayStarted)
    // Prevents a further step before the cancel.
    await fixture.service.sql`update replay_jobs set due_at = '2999-01-01' where id = ${job?.id ?? ''}`
    expect((await replay(webhook.id, {}, key)).data(ReplayStarted).job?.id).toBe(job?.id)
    expect((await replay(webhook.id)).error().code).toBe('conflict')
    const cancel = `${jobs(webhook.id)}/${job?.id}/cancel`
    const canceled = (await fixture.api.post(cancel)).data(ReplayJob)
    expect(canceled).toMatchObject({ id: job?.id, status: 'canceled', finishedAt: expect.any(String) })
    expect((await fixture.api.post(cancel)).error()).toMatchObject({
      code: 'invalid_state_transition',
      details: [{ params: { from: 'canceled', allowed: [] } }],
    })
    // Deliveries created before the pause are held, and no further ones are created.
    const held = (await seen.list('?status=held')).length
    expect(await jobOf(webhook.id, job?.id)).toEqual(canceled)
    expect(held).toBe(canceled.replayed)
    expect(fixture.requestsTo('stopped')).toHaveLength(4)
  })

  it('continues where a dead replica stopped', async () => {
    const { webhook, seen, failed } = await recovered('orphaned', 3)
    const oldestFirst = failed.map(({ id }) => id).sort()
    const { job } = (await replay(webhook.id, { eventType: 'orphaned.never' })).data(ReplayStarted)
    await ended(webhook.id, job?.id)
    // The state after a crash following the first step.
    await fixture.service.sql`
      update replay_jobs set status = 'running', event_type = null, total = 3, replayed = 1,
        last_delivery_id = ${oldestFirst[0] ?? ''}, due_at = now(), finished_at = null
      where id = ${job?.id ?? ''}`
    expect(await ended(webhook.id, job?.id)).toMatchObject({ replayed: 3 })
    const succeeded = await seen.having('succeeded', 2)
    expect(succeeded.map(({ replayOf }) => replayOf).sort()).toEqual(oldestFirst.slice(1))
  })

  it('of a group of failures includes those that had failed when it was listed, and no other cause', async () => {
    const { webhook, seen, answer } = await recovered('grouped', 2)
    answer.status = 503
    await fixture.publish({ type: 'grouped.updated' })
    await seen.having('failed', 3)
    const groups = async () => {
      const { items } = (await fixture.api.get('/deliveries/failures?limit=200')).page(FailureGroup)
      return items.filter(({ target }) => target.id === webhook.id)
    }
    const [unavailable, broken, ...others] = await groups()
    expect(others).toEqual([])
    expect(unavailable).toMatchObject({
      target: { type: 'webhook', id: webhook.id, name: 'grouped' },
      ...{ cause: { code: 'status', message: 'The endpoint answered 503.' }, count: 1, isMore: false },
    })
    expect(broken).toMatchObject({ cause: { message: 'The endpoint answered 500.' }, count: 2 })

    answer.status = 500
    await fixture.publish({ type: 'grouped.created' })
    await seen.having('failed', 4)
    const retry = (group: FailureGroup | undefined, body: object) =>
      fixture.api.post(`/deliveries/failures/${group?.id}/retry`, body)
    answer.status = 200
    const counted = (await retry(broken, { to: broken?.to, dryRun: true })).data(ReplayStarted)
    expect(counted).toEqual({ dryRun: true, count: 2, job: null })
    const { job } = (await retry(broken, { to: broken?.to })).data(ReplayStarted)
    expect(job).toMatchObject({ webhookId: webhook.id, total: 2, filter: { failures: broken?.id } })
    expect(await ended(webhook.id, job?.id)).toMatchObject({ status: 'completed', replayed: 2 })
    await seen.having('succeeded', 2)
    expect((await groups()).map(({ id, count }) => [id, count]).sort()).toEqual(
      [
        [broken?.id, 1],
        [unavailable?.id, 1],
      ].sort(),
    )
    expect((await retry(broken, { to: broken?.to, dryRun: true })).data(ReplayStarted).count).toBe(0)
    expect((await retry(broken, { to: unavailable?.to })).error()).toMatchObject({
      ...{ code: 'validation_failed', details: [{ in: 'body', path: '/to', code: 'invalid_cursor' }] },
    })
    for (const id of ['nothing', `${newId('webhook')}.0`, `${webhook.id}.a.b`])
      expect((await fixture.api.post(`/deliveries/failures/${id}/retry`, { to: 'x' })).error().code).toBe(
        'not_found',
      )
  })

  it('removes a failure from its group after the last replay succeeds, and regroups it by that replay until then', async () => {
    const { webhook, seen, answer, failed } = await recovered('lasting', 1)
    const groups = async () => {
      const { items } = (await fixture.api.get('/deliveries/failures?limit=200')).page(FailureGroup)
      return items.filter(({ target }) => target.id === webhook.id)
    }
    const replayOne = (id: string | undefined) => fixture.api.post(`${seen.path}/${id}/replay`)
    answer.status = 404
    const { id: second } = (await replayOne(failed[0]?.id)).data(Delivery)
    await seen.having('failed', 2)
    expect(await groups()).toMatchObject([{ count: 1, cause: { message: 'The endpoint answered 404.' } }])
    answer.status = 200
    await fixture.api.post(`${seen.path}/${failed[0]?.id}/retry`)
    await seen.having('succeeded', 1)
    expect(await groups()).toEqual([])
    const { id: third } = (await replayOne(failed[0]?.id)).data(Delivery)
    await seen.having('succeeded', 2)
    expect(await seen.detail(failed[0]?.id ?? '')).toMatchObject({
      replays: [
        { id: third, status: 'succeeded' },
        { id: second, status: 'failed' },
      ],
      replayCount: 2,
    })
    expect(await seen.detail(third)).toMatchObject({ replayOf: failed[0]?.id, replays: [], replayCount: 0 })
    // The event has arrived, even if a later replay fails.
    answer.status = 500
    await replayOne(failed[0]?.id)
    await seen.having('failed', 2)
    expect(await groups()).toEqual([])
  })

  it('is shared by replicas, which replay each delivery once', async () => {
    const { webhook, seen } = await recovered('restarted', 4)
    const { job } = (await replay(webhook.id)).data(ReplayStarted)
    const other = await fixture.service.replica()
    try {
      expect(await ended(webhook.id, job?.id)).toMatchObject({ status: 'completed', replayed: 4 })
      const succeeded = await seen.having('succeeded', 4)
      expect(new Set(succeeded.map(({ replayOf }) => replayOf)).size).toBe(4)
    } finally {
      await other.stop()
    }
  })

  it("requires webhooks:write, and another workspace's job is not found", async () => {
    const { webhook } = await recovered('guarded', 1)
    const { job } = (await replay(webhook.id)).data(ReplayStarted)
    const { workspaceId = '' } = fixture.principal
    const reader = fixture.service.as(testPrincipal({ workspaceId, permissions: ['webhooks:read'] }))
    const stranger = fixture.service.as(testPrincipal())
    const path = `/webhooks/${webhook.id}/deliveries/replay`
    expect((await reader.post(path, {})).error().code).toBe('insufficient_scope')
    expect((await stranger.post(path, {})).error().code).toBe('not_found')
    expect((await stranger.get(jobs(webhook.id))).error().code).toBe('not_found')
    expect((await stranger.get(`${jobs(webhook.id)}/${job?.id}`)).error().code).toBe('not_found')
    expect((await stranger.post(`${jobs(webhook.id)}/${job?.id}/cancel`)).error().code).toBe('not_found')
  })
})
