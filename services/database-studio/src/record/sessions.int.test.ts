import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { StudioRecord } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { unreachableServices } from '../unreachable-services.fixture.js'
import { startStudio } from './studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
beforeAll(async () => {
  at = await startStudio({ ...unreachableServices, DATA_SESSIONS: '2' })
})
afterAll(() => at?.studio.stop())

it('a request that occupies a database session waits for no other request', async () => {
  const principal = testPrincipal()
  const api = at.studio.as(principal)
  await api.post('/tables', { slug: 'things', columns: [{ name: 'name', type: 'text' }] })
  const path = '/tables/things/records'
  const [held, free] = (await Promise.all([api.post(path, {}), api.post(path, {})])).map((made) =>
    made.data(StudioRecord),
  )
  const other = postgres(at.studio.adminUrl, { max: 1, onnotice: () => {} })
  const [space] = await at.studio
    .sql`select schema_name as schema from spaces where workspace_id = ${principal.workspaceId ?? ''}`
  await other.unsafe(`begin; select from ${space?.schema}.things where id = '${held?.id}' for update`)
  const waiting = api.patch(`${path}/${held?.id}`, { name: 'Waits' })
  const blocked = () =>
    at.studio
      .sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%things%'`
  await waitFor(async () => (await blocked()).length > 0)
  expect((await api.patch(`${path}/${free?.id}`, {})).status).toBe(200)
  const once = { 'idempotency-key': 'gone' }
  const gone = `${path}/rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F`
  expect((await api.patch(gone, { name: 'x' }, once)).status).toBe(404)
  expect(await blocked()).toHaveLength(1)
  await other.unsafe('rollback')
  expect((await waiting).status).toBe(200)
  await other.end()
})
