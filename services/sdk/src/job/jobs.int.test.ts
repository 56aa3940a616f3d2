import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Execution, ScheduledJob } from '@opsplane/contracts'
import { testPrincipal, waitFor, waitUntilSettled } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

let world: SdkFixture
beforeAll(async () => {
  world = await startSdk()
  await world.install({
    ...{ slug: 'nightly', kind: 'scheduled', code: 'export default async function (input) { return input }' },
    inputSchema: { type: 'object', required: ['days'] },
  })
})
afterAll(() => world?.stop())

const path = '/sdk/scheduled-jobs'
const fields = { name: 'Nightly', artifact: 'nightly', input: { days: 3 }, schedule: { cron: '0 2 * * *' } }
const create = async (more: object = {}) =>
  (await world.api.post(path, { ...fields, ...more })).data(ScheduledJob)
const executionsOf = async (id: string) =>
  (await world.api.get(`/origin/api/service-sdk/executions?triggerType=scheduled_job&triggerId=${id}`)).page(
    Execution,
  ).items

it('a job runs its artifact at its scheduled times, with one execution for each', async () => {
  const job = await create({ schedule: { everySeconds: 1 } })
  await waitFor(
    async () => (await executionsOf(job.id)).filter(({ status }) => status === 'completed').length >= 2,
  )
  const [latest] = (await executionsOf(job.id)).filter(({ status }) => status === 'completed')
  expect(latest).toMatchObject({ trigger_id: job.id, input: { days: 3 }, output: { days: 3 } })
  const shown = (await world.api.get(`${path}/${job.id}`)).data(ScheduledJob)
  expect(shown.lastRunAt).not.toBeNull()
  expect((await world.api.send('DELETE', `${path}/${job.id}`)).status).toBe(204)
  const rows = await world.service.sql`select 1 from schedules where owner_id = ${job.id}`
  expect(rows).toHaveLength(0)
})

it('a job can be listed, changed, paused and resumed, and shows when it runs next', async () => {
  const job = await create()
  expect(job).toMatchObject({
    ...fields,
    status: 'active',
    nextRunAt: expect.stringMatching(/T02:00:00.000Z$/),
  })
  const paused = (await world.api.post(`${path}/${job.id}/pause`)).data(ScheduledJob)
  expect(paused).toMatchObject({ status: 'paused', nextRunAt: null })
  const changed = await world.api.patch(`${path}/${job.id}`, { schedule: { cron: '30 4 * * *' } })
  expect(changed.data(ScheduledJob)).toMatchObject({ status: 'paused', nextRunAt: null })
  const resumed = (await world.api.post(`${path}/${job.id}/resume`)).data(ScheduledJob)
  expect(resumed.nextRunAt).toMatch(/T04:30:00.000Z$/)
  expect((await world.api.get(path)).page(ScheduledJob).items).toContainEqual(resumed)
})

it('a job is rejected with an unknown artifact, an invalid input or an invalid schedule', async () => {
  const refused = async (more: object) =>
    (await world.api.post(path, { ...fields, ...more })).error().details.map((detail) => detail.path)
  expect(await refused({ artifact: 'unknown' })).toEqual(['/artifact'])
  expect(await refused({ input: {} })).toEqual([expect.stringMatching(/^\/input/)])
  expect(await refused({ schedule: { cron: 'never' } })).toEqual(['/schedule/cron'])
})

it('a job is rejected if its artifact requires rights that its creator lacks', async () => {
  const code = 'export default async function () { return 1 }'
  await world.install({ slug: 'posts', kind: 'scheduled', code, permissions: { topics: ['orders'] } })
  const { principal, service } = world
  const limited = service.as({
    ...testPrincipal({ permissions: ['sdk:write'] }),
    workspaceId: principal.workspaceId,
  })
  const refused = await limited.post(path, { ...fields, artifact: 'posts' })
  expect(refused.status).toBe(403)
  expect(refused.error().details).toMatchObject([
    { path: '/artifact', params: { missing: ['topics:write'] } },
  ])
  expect((await limited.post(path, fields)).status).toBe(201)
  expect((await world.api.post(path, { ...fields, artifact: 'posts' })).status).toBe(201)
})

it('a job can be rescheduled and resumed only by users with the rights that its artifact requires', async () => {
  const code = 'export default async function () { return 1 }'
  await world.install({ slug: 'posts-more', kind: 'scheduled', code, permissions: { topics: ['orders'] } })
  const { principal, service } = world
  const limited = service.as({
    ...testPrincipal({ permissions: ['sdk:read', 'sdk:write'] }),
    workspaceId: principal.workspaceId,
  })
  const job = await create({ artifact: 'posts-more' })
  const own = `${path}/${job.id}`
  const missing = [{ code: 'permission_not_held', params: { missing: ['topics:write'] } }]
  const refused = async (sent: ReturnType<typeof limited.post>) => {
    const answer = await sent
    expect(answer.status).toBe(403)
    expect(answer.error().details).toMatchObject(missing)
  }
  await refused(limited.patch(own, { schedule: { everySeconds: 1 } }))
  await refused(limited.patch(own, { input: { days: 4 } }))
  expect((await limited.get(own)).data(ScheduledJob)).toMatchObject({
    schedule: fields.schedule,
    status: 'active',
  })
  // Renaming and pausing do not make anything run.
  expect((await limited.patch(own, { name: 'Renamed' })).status).toBe(200)
  expect((await limited.post(`${own}/pause`)).status).toBe(200)
  await refused(limited.post(`${own}/resume`))
  expect((await limited.get(own)).data(ScheduledJob)).toMatchObject({ status: 'paused', nextRunAt: null })
  expect((await world.api.post(`${own}/resume`)).status).toBe(200)
})

it('events of a job run the matching business rules, once for each event', async () => {
  await world.install({
    slug: 'watcher',
    kind: 'business_rule',
    code: 'export default async function (event) { return event.event }',
    rule: { events: ['scheduled_job.*'], filter: { 'data.name': 'Watched' } },
  })
  const other = await create()
  const watched = await create({ name: 'Watched' })
  const related = async (recordId: string) =>
    (
      await world.api.get(`/origin/api/service-sdk/artifacts/watcher/related-executions?recordId=${recordId}`)
    ).page(Execution).items
  await waitFor(async () => (await related(watched.id)).some(({ status }) => status === 'completed'))
  await world.api.post(`${path}/${watched.id}/pause`)
  await waitFor(
    async () => (await related(watched.id)).filter(({ status }) => status === 'completed').length === 2,
  )
  const executions = await related(watched.id)
  expect(executions.map(({ output }) => output)).toEqual(['scheduled_job.updated', 'scheduled_job.created'])
  expect(executions[0]).toMatchObject({ trigger_type: 'webhook', trigger_id: expect.stringMatching(/^evt_/) })
  expect(await related(other.id)).toEqual([])
})

it('business rules that fail on failures stop at the maximum depth', async () => {
  const code = `export default async function () { throw new Error('no luck') }`
  await world.install({ slug: 'unlucky', code })
  const rule = { events: ['sdk.execution.failed'] }
  await world.install({ slug: 'mourns', kind: 'business_rule', code, rule })
  const mourned = async () =>
    (await world.api.get('/origin/api/service-sdk/artifacts/mourns/executions?success=false')).page(Execution)
      .items
  await world.api.post('/sdk/artifacts/unlucky/invoke', {})
  await waitFor(async () => (await mourned()).length === 10)
  await waitUntilSettled(world.service)
  expect(await mourned()).toHaveLength(10)
})
