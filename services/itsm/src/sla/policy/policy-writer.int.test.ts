import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type CommandMeta, NewSlaPolicy, SlaCalendar, SlaPolicy } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect, type Database } from '@opsplane/postgres'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { uncheckedPeople } from '../../people.js'
import { itsm } from '../../service.js'
import { slaStores } from '../timer/stores.js'
import { createSlaPolicyWriter, type SlaPolicyWriter } from './policy-writer.js'

let service: TestService
let api: ApiClient
const databases: Database[] = []
/** Each has separate connections and queues, like separate processes. */
let replicas: SlaPolicyWriter[]
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
  replicas = Array.from({ length: 2 }, () => {
    const database = connect(service.adminUrl, { schema: 'itsm', max: 4 })
    databases.push(database)
    const store = createEventStore({ database })
    return createSlaPolicyWriter({ database, store }, slaStores(store), uncheckedPeople)
  })
})
afterAll(async () => {
  for (const database of databases) await database.close()
  await service?.stop()
})

const meta = (): CommandMeta => {
  const { workspaceId = '', environment = 'production', actor } = principal
  return { tenant: { workspaceId, environment }, actor, now: new Date().toISOString(), requestId: null }
}
const open = [{ from: '09:00', to: '17:00' }]
const calendar = async () =>
  (
    await api.post('/itsm/calendars', { name: 'Office', timeZone: 'Europe/Berlin', week: { monday: open } })
  ).data(SlaCalendar)
const policy = (calendarId: string | null) =>
  NewSlaPolicy.parse({ name: 'Gold', metric: 'resolution', goals: { critical: 60 }, calendarId })

it('deletes a calendar or creates a policy that uses it, but not both concurrently on two replicas', async () => {
  for (let round = 0; round < 20; round++) {
    const { id } = await calendar()
    const [deleting, saving] = replicas[round % 2] === replicas[0] ? replicas : replicas.toReversed()
    const outcomes = await Promise.allSettled([
      deleting?.deleteCalendar(id, meta()),
      saving?.createPolicy(policy(id), meta()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
})

it('deletes a calendar or assigns it to an existing policy, but not both concurrently', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await calendar()
    const { id: policyId } = (await api.post('/itsm/sla-policies', policy(null))).data(SlaPolicy)
    const outcomes = await Promise.allSettled([
      replicas[0]?.deleteCalendar(id, meta()),
      replicas[1]?.changePolicy(policyId, { calendarId: id }, meta()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
})

it('shortens calendar hours or saves a goal that needs the longer hours, but not both concurrently', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await calendar()
    const goals = { critical: 20_000 }
    const patch = { week: { monday: [{ from: '09:00', to: '09:30' }] } }
    const outcomes = await Promise.allSettled([
      replicas[0]?.changeCalendar(
        id,
        (policies) => ({ kind: 'patch', patch, policies, now: meta().now }),
        meta(),
      ),
      replicas[1]?.createPolicy({ ...policy(id), goals }, meta()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
})
