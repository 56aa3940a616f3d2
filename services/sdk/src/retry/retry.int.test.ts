import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Execution, ExecutionRetry, ExecutionRetryStarted, FailureGroup } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

let world: SdkFixture
beforeAll(async () => {
  world = await startSdk()
})
afterAll(() => world?.stop())

const log = '/origin/api/service-sdk/executions'

/** Installs an artifact that fails with the reason given in its input. */
async function failing(slug: string) {
  const id = await world.install({
    slug,
    code: `export default async function ({ order, why = 'out of stock' }) { throw new Error(why + ' ' + order) }`,
  })
  const fail = async (input: object) =>
    (await world.api.post(`/sdk/artifacts/${slug}/invoke`, { input })).data(Execution).id
  const groups = async () =>
    (await world.api.get(`${log}/failures?limit=200`))
      .page(FailureGroup)
      .items.filter(({ target }) => target.id === id)
  const replaysOf = async (of: string) =>
    [...(await world.service.sql`select id from executions where replay_of = ${of}`)].length
  return { id, fail, groups, replaysOf }
}
const retry = (
  group: FailureGroup | undefined,
  body: object,
  api: Pick<SdkFixture['api'], 'post'> = world.api,
) => api.post(`${log}/failures/${group?.id}/retry`, body)
const retryJob = async (id: string | undefined) =>
  (await world.api.get(`${log}/retries/${id}`)).data(ExecutionRetry)
const over = (id: string | undefined) =>
  waitFor(async () => {
    const job = await retryJob(id)
    return job.status !== 'running' && job
  })

describe('a retry of a group of failed executions', () => {
  it('replays each failure listed in the group once, and counts those that cannot be replayed', async () => {
    const { id, fail, groups, replaysOf } = await failing('sold-out')
    const first = [await fail({ order: 1 }), await fail({ order: 2 })]
    const masked = await fail({ order: 3, password: 'hunter2' })
    const other = await fail({ order: 4, why: 'no such order' })
    const group = (await groups()).find(({ count }) => count === 3)
    const later = await fail({ order: 5 })

    const counted = (await retry(group, { to: group?.to, dryRun: true })).data(ExecutionRetryStarted)
    expect(counted).toEqual({ dryRun: true, count: 3, job: null })
    const answer = await retry(group, { to: group?.to })
    expect(answer.status).toBe(202)
    const { job } = answer.data(ExecutionRetryStarted)
    expect(await over(job?.id)).toMatchObject({
      ...{ artifactId: id, failures: group?.id, status: 'completed', total: 3, retried: 2, refused: 1 },
      finishedAt: expect.any(String),
    })
    const replays = await Promise.all([...first, masked, other, later].map(replaysOf))
    expect(replays).toEqual([1, 1, 0, 0, 0])

    // The replays fail again and join the group; a separate retry replays them once more.
    await waitFor(async () => (await groups()).find((each) => each.id === group?.id)?.count === 4)
    const listed = (await world.api.get(`${log}/retries`)).page(ExecutionRetry).items
    expect(listed.map((each) => each.id)).toContain(job?.id)
    const cancel = await world.api.post(`${log}/retries/${job?.id}/cancel`)
    expect(cancel.error().code).toBe('invalid_state_transition')
  })

  it('counts the replays of a step whose replica died', async () => {
    const { id, fail, groups, replaysOf } = await failing('crashed')
    const stepIds = [await fail({ order: 1 }), await fail({ order: 2 })]
    const [group] = await groups()
    const { job } = (await retry(group, { to: group?.to })).data(ExecutionRetryStarted)
    await over(job?.id)
    // Simulates a crash in the middle of a step.
    await world.service.sql`
      update execution_retries set status = 'running', retried = 0, last_execution_id = '', finished_at = null,
        step_ids = ${world.service.sql.json(stepIds)} where artifact_id = ${id}`
    await retry(group, { to: group?.to, dryRun: true })
    expect(await over(job?.id)).toMatchObject({ status: 'completed', total: 2, retried: 2, refused: 0 })
    expect(await Promise.all(stepIds.map(replaysOf))).toEqual([1, 1])
  })

  it('runs with the rights of its requester', async () => {
    const { fail, groups } = await failing('by-rights')
    const original = await fail({ order: 1 })
    const [group] = await groups()
    const agent = { ...world.principal, permissions: ['sdk:invoke', 'executions:read'] }
    const { job } = (await retry(group, { to: group?.to }, world.service.as(agent))).data(
      ExecutionRetryStarted,
    )
    await over(job?.id)
    const [replay] = await world.service.sql<{ trigger: string; by: string }[]>`
      select trigger_type as trigger, trigger_id as by from executions where replay_of = ${original}`
    expect(replay).toEqual({ trigger: 'manual', by: agent.userId })
    const [row] = await world.service.sql<{ caller: { permissions: string[] } }[]>`
      select caller from execution_retries where id = ${job?.id ?? ''}`
    expect(row?.caller.permissions).toEqual(agent.permissions)
  })

  it('is canceled when its requester may no longer invoke artifacts', async () => {
    const { fail, groups, replaysOf } = await failing('left')
    const original = await fail({ order: 1 })
    const [group] = await groups()
    const left = { ...world.principal, userId: 'usr_left' }
    world.settings.rights.set(left.userId, null)
    const { job } = (await retry(group, { to: group?.to }, world.service.as(left))).data(
      ExecutionRetryStarted,
    )
    expect(await over(job?.id)).toMatchObject({ status: 'canceled', retried: 0, refused: 0 })
    expect(await replaysOf(original)).toBe(0)
  })

  it('stops after the current step when canceled, and blocks another retry while it runs', async () => {
    const { fail, groups } = await failing('many')
    for (let order = 0; order < 25; order++) await fail({ order })
    const [group] = await groups()
    // The first step waits until the first replay can be written.
    let goOn = () => {}
    const canGoOn = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    const holding = world.service.sql.begin(async (tx) => {
      await tx`lock table executions in share row exclusive mode`
      locked()
      await canGoOn
    })
    await isLocked
    try {
      const { job } = (await retry(group, { to: group?.to })).data(ExecutionRetryStarted)
      expect(job?.total).toBe(25)
      await waitFor(async () => {
        const [row] = await world.service
          .sql`select lease_owner from execution_retries where id = ${job?.id ?? ''}`
        return row?.lease_owner !== null
      })
      expect((await retry(group, { to: group?.to })).error().code).toBe('conflict')
      const canceled = (await world.api.post(`${log}/retries/${job?.id}/cancel`)).data(ExecutionRetry)
      expect(canceled).toMatchObject({ status: 'canceled', finishedAt: expect.any(String) })
      goOn()
      await holding
      const after = await waitFor(async () => {
        const found = await retryJob(job?.id)
        return found.retried > 0 && found
      })
      expect(after).toMatchObject({ status: 'canceled', retried: 20, refused: 0 })
      // A retry of the remaining ones may start.
      const [rest] = await groups()
      const { job: second } = (await retry(rest, { to: rest?.to })).data(ExecutionRetryStarted)
      expect(await over(second?.id)).toMatchObject({ status: 'completed' })
    } finally {
      goOn()
      await holding
    }
  })

  it('is visible in its own tenant only, and accepts only its own `to`', async () => {
    const { fail, groups } = await failing('guarded')
    await fail({ order: 1 })
    const [group] = await groups()
    expect((await retry(group, { to: 'x' })).error()).toMatchObject({
      ...{ code: 'validation_failed', details: [{ in: 'body', path: '/to' }] },
    })
    const stranger = world.service.as(testPrincipal())
    expect((await retry(group, { to: group?.to }, stranger)).error().code).toBe('not_found')
    const reader = world.service.as({ ...world.principal, permissions: ['executions:read'] })
    expect((await retry(group, { to: group?.to }, reader)).error().code).toBe('insufficient_scope')
    const { job } = (await retry(group, { to: group?.to })).data(ExecutionRetryStarted)
    for (const reply of [
      await stranger.get(`${log}/retries/${job?.id}`),
      await stranger.post(`${log}/retries/${job?.id}/cancel`),
    ])
      expect(reply.error().code).toBe('not_found')
    expect((await stranger.get(`${log}/retries`)).page(ExecutionRetry).items).toEqual([])
    expect((await world.api.get(`${log}/retries?after=x`)).error().code).toBe('invalid_cursor')
  })
})
