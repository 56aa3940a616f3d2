import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Migration, newId } from '@opsplane/contracts'
import type { RunningService } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { databaseStudio } from '../service.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

let service: TestService
let api: ApiClient
let pid = 0
let second: RunningService | undefined
const workspaceId = newId('workspace')

/** Starts the service in its own process and waits until it reports its port. */
async function spawnStudio(env: Record<string, string | undefined>): Promise<RunningService> {
  const port = Number(env.PORT)
  const main = fileURLToPath(new URL('../../bundle/main.cjs', import.meta.url))
  const child = spawn(process.execPath, [main], { env: { ...process.env, ...env }, stdio: 'ignore' })
  const exited = once(child, 'exit')
  pid = child.pid ?? 0
  const url = `http://127.0.0.1:${port}`
  await waitFor(
    () =>
      fetch(`${url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false),
    { message: 'the studio' },
  )
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  return { name: 'database-studio', port, url, stop }
}

beforeAll(async () => {
  const port = String(await freePort())
  service = await startTestService(databaseStudio, {
    env: { ...unreachableServices, PORT: port },
    start: (env) => spawnStudio(env),
  })
  api = service.as(testPrincipal({ workspaceId }))
})
afterAll(async () => {
  await second?.stop()
  await service?.stop()
})

const wrote = async (name: string, up: string) =>
  (await api.post('/migrations', { name, up })).data(Migration)
const found = async ({ id }: { id: string }) => (await api.get(`/migrations/${id}`)).data(Migration)
const apply = ({ id }: { id: string }) => api.post(`/migrations/${id}/apply`, { timeoutMs: 60_000 })
const types = async () => {
  const rows = await service.sql<{ type: string }[]>`
    select type from events where workspace_id = ${workspaceId} and type <> 'migration.created' order by position`
  return rows.map(({ type }) => type)
}
const slow = 'select count(*) from generate_series(1, 20000) a, generate_series(1, 20000) b'
const sessions = () => service.sql<{ pid: number }[]>`
  select pid from pg_stat_activity where usename like ${'%\\_s\\_%\\_migrator'} and state = 'active' and query like ${'insert into kept%'}
    and datname = current_database()`

describe('a migration', () => {
  it('leaves no changes when its session is killed, and can be applied again', async () => {
    expect((await apply(await wrote('Kept', 'create table kept (n bigint)'))).status).toBe(200)
    const before = await types()
    const draft = await wrote('Killed', `create table half (a text); insert into kept (n) ${slow}`)
    const answer = apply(draft)
    const [session] = await waitFor(async () => {
      const running = await sessions()
      return running.length > 0 && running
    })
    await service.sql`select pg_terminate_backend(${session?.pid ?? 0})`
    expect((await answer).status).toBeGreaterThanOrEqual(500)
    await waitFor(async () => (await found(draft)).status === 'failed')
    expect((await types()).slice(before.length)).toEqual(['migration.failed'])
    expect((await api.post('/queries/run', { sql: 'select * from half' })).status).toBe(422)
    expect((await api.send('DELETE', `/migrations/${draft.id}`)).status).toBe(204)
  })

  it('is complete or leaves no changes when its service is killed, and another replica records which', async () => {
    const before = await types()
    const draft = await wrote('Orphaned', `create table orphan (a text); insert into kept (n) ${slow}`)
    const answer = apply(draft).catch(() => undefined)
    await waitFor(async () => (await sessions()).length > 0)
    process.kill(pid, 'SIGKILL')
    await answer
    second = await service.replica()
    // The database's clock decides when a run is due. The test expires both the sessions and the run immediately.
    for (const orphan of await sessions()) await service.sql`select pg_terminate_backend(${orphan.pid})`
    await waitFor(async () => (await sessions()).length === 0)
    await service.sql`update migration_runs set due_at = now()`
    await waitFor(async () => (await service.sql`select 1 from migration_runs`).length === 0)

    const [row] = await service.sql<
      { state: Migration }[]
    >`select state from migrations where id = ${draft.id}`
    const happened = (await types()).slice(before.length)
    const exists = await service.sql`select 1 from pg_tables where tablename = 'orphan'`
    if (row?.state.status === 'applied') {
      expect(happened).toEqual(['record.created', 'migration.applied', 'table.created'])
      expect(exists).toHaveLength(1)
    } else {
      expect(row?.state.status).toBe('failed')
      expect(happened).toEqual(['migration.failed'])
      expect(exists).toHaveLength(0)
    }
  })
})
