import { afterAll, beforeAll, expect, it } from '@jest/globals'
import {
  type CommandMeta,
  type Decider,
  eventCatalog,
  newId,
  resourceEvent,
  type SlaPolicyState,
  SlaTimer,
  systemActor,
} from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { attemptDueWork, connect, type Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../../service.js'
import { createClocks } from '../timer/clocks.js'
import { incidentEntity } from './incident-entity.js'
import { TicketState, ticket, ticketEntity } from './other-entity.fixture.js'

const log = createLogger({ service: 'test', level: 'silent' })
/** The service's clock is far in the past, so nothing in this test is due for it. */
const past = '2025-01-01T00:00:00.000Z'
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const now = () => new Date(nowMs).toISOString()

const tickets: Decider<TicketState, { kind: 'put'; state: TicketState }> = {
  resourceType: 'ticket',
  table: ticketEntity.table,
  decide: ({ state }, before) => [{ type: before ? 'ticket.updated' : 'ticket.created', after: state }],
  expose: (state) => state,
  describe: ({ number }) => ({ displayName: number, number }),
}
const checkedAgainst = {
  ...eventCatalog,
  'ticket.created': resourceEvent(TicketState, 'A ticket was opened.'),
  'ticket.updated': resourceEvent(TicketState, 'A ticket was changed.'),
}

let service: TestService
let database: Database
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock: { now: () => past } } })
  database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
  await database.sql.unsafe(
    `create table ${ticketEntity.table} (id text primary key, workspace_id text not null,
      environment text not null, version integer not null, state json not null)`,
  )
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

it('runs the SLA clocks of another entity type from its description alone, in addition to those of incidents', async () => {
  const { workspaceId } = testPrincipal()
  const tenant = { workspaceId: workspaceId ?? '', environment: 'production' as const }
  const policy: SlaPolicyState = {
    ...{ id: newId('slaPolicy'), name: 'Problems', entityType: 'problem', metric: 'resolution' },
    ...{ goalsBy: 'priority', goalUnit: 'minutes', goals: { P1: 30, P2: 60 } },
    ...{ calendarId: null, conditions: {} },
    ...{ pauseReasons: [], pauseStatuses: ['assess'], warnings: [], escalations: [] },
    ...{ status: 'active', revision: 1 },
    ...{ activeSince: past, createdAt: past, updatedAt: past },
  }
  const rows = [
    ['sla_policies', policy.id],
    ['sla_policy_revisions', `${policy.id}.1`],
  ] as const
  for (const [table, id] of rows)
    await database.sql`insert into ${database.sql(table)} (id, workspace_id, environment, version, state)
      values (${id}, ${tenant.workspaceId}, ${tenant.environment}, 1, ${JSON.stringify(policy)}::text::json)`

  const store = createEventStore({ database, checkedAgainst })
  const aggregate = store.aggregate(tickets)
  const meta = (): CommandMeta => ({ tenant, actor: systemActor, now: now(), requestId: null })
  const entities = [incidentEntity, ticketEntity]
  const clocks = createClocks({ database, store, clock: { now }, entities })
  const state = ticket({ id: newId('problem'), createdAt: now() })
  const put = (fields: Partial<TicketState>) =>
    aggregate.handle(state.id, { kind: 'put', state: { ...state, ...fields } }, meta())
  const clock = async () => {
    const [row] = await database.sql`select state from sla_timers where incident_id = ${state.id}`
    return SlaTimer.parse(row?.state)
  }

  await aggregate.create(state.id, { kind: 'put', state }, meta())
  await clocks.apply([state.id])
  expect(await clock()).toMatchObject({ entityType: 'problem', entityNumber: 'PRB-1', goalKey: 'P2' })
  nowMs += 20 * 60_000
  await put({ status: 'assess' })
  nowMs += 20 * 60_000
  await put({ status: 'fix_in_progress', priority: 'P1' })
  nowMs += 25 * 60_000
  // No consumer has handled those events. The sweep finds them before it reports anything that seems due.
  const sweep = { sql: database.sql, log, simulated: { now } }
  expect(await attemptDueWork(clocks.worker, sweep)).toMatchObject({ done: 1 })
  const breachedAt = '2026-03-02T09:50:00.000Z'
  expect(await clock()).toMatchObject({ goalKey: 'P1', cycle: 2, breached: true, breachedAt })
  await put({ status: 'resolved' })
  await clocks.apply([state.id])

  const reported = await database.sql<{ type: string }[]>`
    select type from events where workspace_id = ${tenant.workspaceId} and type not like 'ticket.%'
    order by position`
  expect(reported.map(({ type }) => type)).toEqual([
    'sla.started',
    'sla.paused',
    'sla.retargeted',
    'sla.resumed',
    'sla.breached',
    'sla.missed',
  ])
})
