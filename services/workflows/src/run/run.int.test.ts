import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTestService, type TestService } from '@opsplane/testing'
import { type RunService, runService } from '../fixture/run-service.js'
import type { Runs } from './runs.js'

let world: RunService
let service: TestService
let runs: Runs
beforeAll(async () => {
  world = runService()
  service = await startTestService(world.service)
  const [first] = world.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
})
afterAll(() => service?.stop())

test('a run of three transforms comes to its end, each step recorded once', async () => {
  const request = world.define({
    steps: [
      { id: 'one', type: 'transform', value: { sum: '{{ input.a }}' } },
      { id: 'two', type: 'transform', value: { twice: '{{ steps.one.output.sum * 2 }}' } },
      { id: 'three', type: 'transform', value: '{{ steps.two.output.twice }}' },
    ],
  })
  const { runId, created } = await runs.start(request({ input: { a: 21 } }))
  expect(created).toBe(true)
  expect(await runs.waitForEnd(runId, 60_000)).toEqual({ status: 'completed', output: 42, error: null })
  const lines =
    await service.sql`select seq, entry->>'kind' as kind from run_entries where run_id = ${runId} order by seq`
  expect(lines.map(({ seq, kind }) => [seq, kind])).toEqual([
    [0, null],
    [1, 'started'],
    [2, 'completed'],
    [3, 'completed'],
    [4, 'completed'],
    [5, 'ended'],
  ])
  const [row] =
    await service.sql`select status, seq, lease_owner, ended_at is not null as ended from runs where id = ${runId}`
  expect(row).toEqual({ status: 'completed', seq: 5, lease_owner: null, ended: true })
  const events =
    await service.sql`select type, version from events where stream_id = ${runId} order by position`
  expect(events.map(({ type, version }) => [type, version])).toEqual([
    ['workflow.run_started', 1],
    ['workflow.run_completed', 2],
  ])
})
