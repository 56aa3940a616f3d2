import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '@opsplane/runtime'
import {
  type ApiClient,
  createClients,
  startTestService,
  type TestService,
  testKeys,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { type RunService, runService } from '../fixture/run-service.js'
import { effectFailure } from './perform/effect.js'
import type { Runs } from './runs.js'

let fixture: RunService
let service: TestService
let other: RunningService
let runs: Runs
let here: ClientOf
let there: ClientOf

type ClientOf = (userId: string) => ApiClient
const [ada, bob] = ['usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0A', 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0B']

beforeAll(async () => {
  const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
  /** Never responds, so that the run stays with its worker. */
  const http = ({ signal }: { signal: AbortSignal }) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  fixture = runService({
    leaseMs: 600_000,
    effects: { http, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
  })
  service = await startTestService(fixture.service)
  other = await service.replica()
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
  const privateKeyOf = (party: Parameters<typeof testKeys>[0]) => testKeys(party).privateKey
  const second = createClients({ name: 'workflows', url: other.url, privateKeyOf })
  const principal = (userId: string) =>
    testPrincipal({ workspaceId: fixture.tenant.workspaceId, userId, role: 'admin' })
  here = (userId) => service.as(principal(userId))
  there = (userId) => second.as(principal(userId))
})
afterAll(async () => {
  await other?.stop()
  await service?.stop()
})

const approval = { id: 'ok', type: 'approval', title: 'Go?', approvers: { roles: ['admin'] } } as const
const call = { id: 'slow', type: 'http', url: 'https://example.test', timeoutSeconds: 600 } as const
const start = async (definition: Parameters<RunService['define']>[0]) =>
  (await runs.start(fixture.define(definition)())).runId
const isAt = (runId: string, where: string) =>
  waitFor(async () => {
    const found = await service.sql.unsafe(`select 1 from runs where id = $1 and ${where}`, [runId])
    expect(found).toHaveLength(1)
    return runId
  })
const isWaitedFor = (runId: string) =>
  waitFor(async () => {
    expect(await service.sql`select 1 from run_approvers where run_id = ${runId}`).toHaveLength(1)
    return runId
  })

/** Runs that concurrent commands address: without a worker, executed by the first replica, or ended. */
const states = {
  'waits for an approval': async () =>
    isAt(await start({ steps: [approval] }), `status = 'paused' and lease_owner is null`),
  'executes other steps besides an approval': async () =>
    isWaitedFor(
      await start({
        steps: [
          {
            ...{ id: 'both', type: 'parallel' },
            branches: [
              { name: 'a', steps: [approval] },
              { name: 'b', steps: [call] },
            ],
          },
        ],
      }),
    ),
  'has failed': async () =>
    isAt(await start({ steps: [{ id: 'no', type: 'fail', message: 'no' }] }), `status = 'failed'`),
}

const commands = {
  approve: (client: ClientOf, runId: string) =>
    client(ada).post(`/runs/${runId}/resume`, { decision: 'approve' }),
  reject: (client: ClientOf, runId: string) =>
    client(bob).post(`/runs/${runId}/resume`, { decision: 'reject' }),
  cancel: (client: ClientOf, runId: string) => client(ada).post(`/runs/${runId}/cancel`, {}),
  retry: (client: ClientOf, runId: string) => client(bob).post(`/runs/${runId}/retry`, {}),
}
type Command = keyof typeof commands
const names = Object.keys(commands) as Command[]
const pairs = names.flatMap((one, index) => names.slice(index).map((two) => [one, two] as const))

/** Commands accepted according to the journal. */
async function accepted(runId: string): Promise<Command[]> {
  const lines = await service.sql<{ kind: string; decision: 'approve' | 'reject' | null }[]>`
    select entry->>'kind' as kind, entry->'decision'->>'decision' as decision from run_entries
    where run_id = ${runId} order by seq`
  return lines.flatMap(({ kind, decision }) => {
    if (kind === 'decided' && decision) return [decision]
    return kind === 'cancelling' ? ['cancel'] : kind === 'retried' ? ['retry'] : []
  })
}

describe.each(Object.keys(states) as (keyof typeof states)[])('a run that %s', (state) => {
  test.each(pairs)(
    'answers concurrent %s and %s commands in agreement with its journal',
    async (one, two) => {
      for (const [first, second] of [
        [here, here],
        [there, there],
        [here, there],
      ] as const) {
        const runId = await states[state]()
        const answers = await Promise.all([commands[one](first, runId), commands[two](second, runId)])
        const statuses = answers.map(({ status }) => status)
        for (const answer of answers)
          if (answer.status !== 200)
            expect([answer.status, answer.error().code]).toEqual([409, 'invalid_state_transition'])
        const answered = [one, two].filter((_, index) => statuses[index] === 200)
        expect(answered.sort()).toEqual((await accepted(runId)).sort())
        expect(await service.sql`select 1 from run_signals where run_id = ${runId}`).toEqual([])
        // Of two mutually exclusive commands one is accepted; so is the only applicable one.
        if (one !== two && [one, two].every((name) => name === 'approve' || name === 'reject'))
          expect(answered).toHaveLength(state === 'has failed' ? 0 : 1)
        await commands.cancel(here, runId)
      }
    },
  )
})
