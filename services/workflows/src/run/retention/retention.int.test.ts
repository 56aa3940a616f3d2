import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idTime } from '@opsplane/contracts'
import { listPartitions } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { startTestService, type TestService, waitFor } from '@opsplane/testing'
import { type Definition, runService } from '../../fixture/run-service.js'
import { deleteOldRuns } from './runs.js'

const fixture = runService()
let service: TestService
beforeAll(async () => {
  service = await startTestService(fixture.service)
})
afterAll(() => service?.stop())

const log = createLogger({ service: 'test', level: 'silent', tenantData: false })
const dayMs = 24 * 3_600_000
const environment = 'production'
const keptDays = { ws_short: 10, ws_usual: 90, ws_long: 365 }
const asked: string[][] = []

/** Runs the deletion as if `days` had passed. */
const deleteIn = (days: number) => {
  const daysOf = async (ids: string[]) => {
    asked.push(ids)
    return keptDays
  }
  const nowMs = () => Date.now() + days * dayMs
  return deleteOldRuns({ sql: service.sql, log, daysOf, nowMs }, new AbortController().signal)
}
const start = async (workspaceId: string, definition: Definition) => {
  const request = fixture.define(definition)({
    tenant: { workspaceId, environment },
    triggerKey: workspaceId,
  })
  return (await fixture.replicas[0]?.start(request))?.runId ?? ''
}
const finished = async (workspaceId: string) => {
  const runId = await start(workspaceId, { steps: [{ id: 'one', type: 'transform', value: 1 }] })
  expect(await fixture.replicas[0]?.waitForEnd(runId, 60_000)).toMatchObject({ status: 'completed' })
  return runId
}
const relatedRows = ['run_entries', 'run_triggers', 'run_signals', 'run_event_waits', 'run_approvers']
/** Ids of the remaining runs, and of the runs of remaining related rows. */
const left = async () => {
  const ids = async (text: string) => (await service.sql.unsafe(text)).map(({ id }) => id as string)
  const parts = relatedRows.map((name) => `select run_id as id from ${name}`).join(' union ')
  return { runs: await ids('select id from runs order by id'), relatedRows: await ids(`${parts} order by 1`) }
}
const only = (...ids: string[]) => ({ runs: [...ids].sort(), relatedRows: [...ids].sort() })

test('ended runs are deleted with their related rows after the retention of their workspace, open runs are not', async () => {
  const { sql } = service
  const [short, usual, long] = [
    await finished('ws_short'),
    await finished('ws_usual'),
    await finished('ws_long'),
  ]
  const open = await start('ws_usual', { steps: [{ id: 'nap', type: 'wait', seconds: 3_600 }] })
  await waitFor(async () => {
    expect(await sql`select status from runs where id = ${open}`).toMatchObject([{ status: 'waiting' }])
    return true
  })
  for (const id of [short, usual, long]) {
    await sql`insert into run_signals (run_id, signal) values (${id}, '{}')`
    await sql`insert into run_event_waits values (${id}, 't', 'ws', ${environment}, '{}', null, '{}')`
    await sql`insert into run_approvers values (${id}, 't', 'ws', ${environment}, 'user:1')`
  }

  await deleteIn(9)
  expect(await left()).toEqual(only(short, usual, long, open))
  await deleteIn(11)
  expect(await left()).toEqual(only(usual, long, open))
  await deleteIn(150)
  expect(await left()).toEqual(only(long, open))
  await deleteIn(400)
  expect(await left()).toEqual(only(open))
  expect(asked[0]).toEqual(['ws_long', 'ws_short', 'ws_usual'])
})

test('a month is dropped as a whole only when none of its runs is kept', async () => {
  const { sql } = service
  const months = () => listPartitions(sql, 'runs')
  const ended = await finished('ws_usual')
  const kept = await finished('ws_long')
  const month = new Date(idTime(kept)).toISOString().replace(/^(\d+)-(\d+)-.*/, 'runs_$1$2')
  await deleteIn(150)
  const { runs } = await left()
  expect([runs.includes(ended), runs.includes(kept)]).toEqual([false, true])
  expect(await months()).toContain(month)
  await sql`update runs set ended_at = now(), status = 'cancelled' where ended_at is null`
  await deleteIn(150)
  expect(await left()).toEqual(only(kept))
  await sql`update runs set workspace_id = 'ws_usual'`
  await deleteIn(150)
  expect(await left()).toEqual(only())
  expect(await months()).not.toContain(month)
})

test('concurrency keys and test versions without runs are deleted, and old skipped triggers', async () => {
  const { sql } = service
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  const keyed = { steps: [{ id: 'nap', type: 'wait', seconds: 3_600 }], concurrency: { limit: 5 } } as const
  await sql`select add_run_month(now()::date)`
  const open = await start('ws_beside', keyed)
  await sql`insert into run_concurrency values ('unused', 1)`
  const [{ workflow_id: tested }] = (await sql`select workflow_id from runs where id = ${open}`) as [
    { workflow_id: string },
  ]
  await sql`update runs set workflow_version = 0, queued_at = ${at(3)} where id = ${open}`
  for (const [name, workflowId, days] of [
    ['kept', tested, 3],
    ['gone', 'wf_gone', 3],
    ['new', 'wf_gone', 0],
  ] as const)
    await sql`insert into workflow_versions (id, workspace_id, environment, version, state) values (
      ${`${workflowId}.0.${name}`}, 'ws_beside', ${environment}, 1,
      ${JSON.stringify({ workflowId, number: 0, publishedAt: at(days), awaitedKeys: [] })}::text::json)`
  for (const days of [89, 91])
    await sql`insert into skipped_triggers values ('wf_1', ${`evt_${days}`}, 'ws_beside', ${environment}, 'event', ${at(days)}, 'too_deep')`
  await deleteIn(0)
  const ids = async (text: string) => (await sql.unsafe(text)).map(({ id }) => id)
  expect(await ids('select key as id from run_concurrency')).toEqual([tested])
  expect(await ids('select id from workflow_versions order by 1')).toEqual(
    [`${tested}.0.kept`, 'wf_gone.0.new'].sort(),
  )
  expect(await ids('select trigger_id as id from skipped_triggers')).toEqual(['evt_89'])
})
