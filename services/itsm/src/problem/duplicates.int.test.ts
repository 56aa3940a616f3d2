import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type CommandMeta, Problem } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect, type Database } from '@opsplane/postgres'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { uncheckedPeople } from '../people.js'
import { itsm } from '../service.js'
import { settingsStore } from '../settings/settings-store.js'
import { type ProblemStore, problemStore } from './problem-store.js'

let service: TestService
let api: ApiClient
const databases: Database[] = []
/** Each has separate connections and queues, like separate processes. */
let replicas: ProblemStore[]
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
  replicas = Array.from({ length: 3 }, () => {
    const database = connect(service.adminUrl, { schema: 'itsm', max: 4 })
    databases.push(database)
    const ctx = { database, store: createEventStore({ database }), relay: { wake: () => {} } }
    return problemStore(ctx, { settings: settingsStore(ctx), people: uncheckedPeople })
  })
})
afterAll(async () => {
  for (const database of databases) await database.close()
  await service?.stop()
})

const assessed = async (): Promise<Problem> => {
  const { id } = (await api.post('/itsm/problems', { title: 'Connections leak' })).data(Problem)
  return (await api.post(`/itsm/problems/${id}/assess`)).data(Problem)
}
const meta = (): CommandMeta => {
  const { workspaceId = '', environment = 'production', actor } = principal
  return { tenant: { workspaceId, environment }, actor, now: new Date().toISOString(), requestId: null }
}

/**
 * Concurrently closes each problem as a duplicate of the next,
 * and the last as one of the first, on alternating replicas.
 */
async function closeInCircle(round: number, problems: Problem[]) {
  const closing = problems.map(({ id }, at) => {
    const duplicateOf = problems[(at + 1) % problems.length]?.id
    const replica = replicas[(at + round) % replicas.length]
    return replica?.end(id, { kind: 'close', resolution: 'duplicate', duplicateOf }, meta())
  })
  const outcomes = await Promise.allSettled(closing)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ details: [{ path: '/duplicateOf', code: 'duplicate' }] })
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

describe('duplicates closed concurrently on several replicas', () => {
  it('never refer to each other', async () => {
    for (let round = 0; round < 25; round++) {
      const closed = await closeInCircle(round, [await assessed(), await assessed()])
      expect([round, closed]).toEqual([round, 1])
    }
  })

  it('never form a cycle', async () => {
    for (let round = 0; round < 15; round++) {
      const problems = [await assessed(), await assessed(), await assessed()]
      const closed = await closeInCircle(round, problems)
      expect(closed).toBeGreaterThan(0)
      expect(closed).toBeLessThan(3)
    }
  })
})
