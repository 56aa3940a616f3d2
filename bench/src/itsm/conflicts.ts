import { setTimeout as delay } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { ChangeState, type CiRelation, natsNames, newId, type PlatformEvent } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import postgres from 'postgres'
import { request } from 'undici'
import { type Caller, createCallerHeaders, toService } from '../limits/callers.js'
import { median } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { writeGraph } from './topology.js'

const workspaceId = 'ws_conflicts'
const changes = 200
const batch = 5_000
const goalMs = { all: 8_000, none: 3_000 }
const rounds = 5

/**
 * Time to recheck the scheduled changes after an import of 5,000 relations: when the import causes conflicts for all
 * changes, and when no change has a conflict any more. Compared with reading the same rows by plain SQL.
 */
export async function measureConflicts({
  cluster,
  say,
}: Pick<MeasureOptions, 'cluster' | 'say'>): Promise<Figure[]> {
  const caller = toService(
    cluster,
    'itsm',
    ['cmdb:read', 'cmdb:write', 'itsm:read', 'itsm:write'],
    workspaceId,
  )
  const sql = postgres(cluster.info.postgresUrl, {
    max: 2,
    onnotice: () => {},
    connection: { search_path: 'itsm' },
  })
  const log = createLogger({ service: 'bench', level: 'silent' })
  const link = connectNats({ url: cluster.info.natsUrl, name: 'bench', log })
  try {
    say('Writing 10,000 items, 30,000 relations and 200 changes…')
    const itemId = await create(caller, '/cmdb/items', { class: 'service', name: 'b', status: 'operational' })
    await writeGraph(sql, { itemId, prefix: 'C' })
    const changeId = await create(caller, '/itsm/changes', { title: 'New disks' })
    await writeChanges(sql, changeId)
    const raw: number[] = []
    for (let round = 0; round < rounds; round++) raw.push(await readAll(sql))
    const connection = await link.ready()
    const recheck = async () => {
      const events = await importOf(sql)
      const startedAt = performance.now()
      for (const event of events) connection.publish(natsNames('').eventSubject(event), JSON.stringify(event))
      await connection.flush()
      while ((await behind(connection)) > 0) await delay(10)
      return performance.now() - startedAt
    }
    say(`Rechecking for ${batch} relations…`)
    const all = await recheck()
    const again = [await recheck(), await recheck(), await recheck()]
    const reported = await withConflicts(sql)
    say(
      `  ${reported} of ${changes} changes have conflicts; ${all.toFixed(0)} ms, ${again.map(Math.round)} ms`,
    )
    const limit = median(raw)
    return [
      figure('5,000 relations rechecked, each of 200 changes reported', all, limit, goalMs.all),
      figure('5,000 relations rechecked, nothing new', median(again), limit, goalMs.none),
    ]
  } finally {
    await link.close()
    await sql.end()
  }
}

const figure = (name: string, ms: number, limit: number, goal: number): Figure => ({
  name,
  value: `${ms.toFixed(0)} ms`,
  raw: `${limit.toFixed(0)} ms plain SQL of the same rows`,
  ratio: limit / ms,
  goal: `≤ ${goal} ms`,
  met: ms <= goal,
})

async function create(caller: Caller, path: string, body: object): Promise<string> {
  const response = await request(`${caller.url}${path}`, {
    method: 'POST',
    headers: { ...(await createCallerHeaders(caller)()), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.body.text()
  if (response.statusCode !== 201) throw new Error(`${path} answered ${response.statusCode}: ${text}`)
  return String(JSON.parse(text).data.id)
}

/** Writes changes scheduled within two days, two hours each, with three items each. */
async function writeChanges(sql: postgres.Sql, changeId: string): Promise<void> {
  const [row] = await sql<{ state: object }[]>`select state from changes where id = ${changeId}`
  const template = ChangeState.parse(row?.state)
  const items = await sql<{ id: string }[]>`
    select id from configuration_items where workspace_id = ${workspaceId} order by md5(id) limit ${changes * 3}`
  const states = Array.from({ length: changes }, (_, at) => {
    const from = Date.parse('2026-06-03T00:00:00Z') + (at % 48) * 3_600_000
    return {
      ...template,
      ...{ id: newId('change'), number: `CHG-${at + 1_000}`, status: 'scheduled' },
      ciIds: items.slice(at * 3, at * 3 + 3).map(({ id }) => id),
      plannedStart: new Date(from).toISOString(),
      plannedEnd: new Date(from + 7_200_000).toISOString(),
    }
  })
  await sql`
    insert into changes (id, workspace_id, environment, version, state)
    select s->>'id', ${workspaceId}, 'production', 1, s from json_array_elements(${JSON.stringify(states)}::text::json) s`
  await sql`
    insert into stream_heads (stream_id, stream_type, workspace_id, environment, version)
    select id, 'changes', workspace_id, environment, version from changes on conflict do nothing`
  await sql`analyze changes`
}

/** The events such an import would produce. */
async function importOf(sql: postgres.Sql): Promise<PlatformEvent[]> {
  const rows = await sql<{ state: CiRelation }[]>`
    select state from ci_relations where workspace_id = ${workspaceId} order by md5(id) limit ${batch}`
  return rows.map(({ state }) => ({
    ...{ id: newId('event'), type: 'ci.relation_added', workspaceId, environment: 'production' },
    ...{ createdAt: new Date().toISOString(), actor: { id: 'usr_bench', name: 'Bench', type: 'user' } },
    resource: { type: 'ci_relation', id: state.id, displayName: '' },
    data: { before: null, after: { ...state }, changes: [] },
    ...{ version: 1, requestId: null, causationId: null, source: null },
  }))
}

/** Reads the rows that must be read at least once. */
async function readAll(sql: postgres.Sql): Promise<number> {
  const startedAt = performance.now()
  await Promise.all([
    sql`select source_id, target_id, type from ci_relations where workspace_id = ${workspaceId}`,
    sql`select id, state from changes where workspace_id = ${workspaceId}`,
  ])
  return performance.now() - startedAt
}

/** Number of events still to be handled. */
async function behind(connection: NatsConnection): Promise<number> {
  const { consumers } = await jetstreamManager(connection)
  const consumer = await consumers.info(natsNames('').eventsStream, 'itsm-item-conflicts')
  return consumer.num_pending + consumer.num_ack_pending
}

async function withConflicts(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from changes
     where workspace_id = ${workspaceId} and json_array_length(state->'conflicts') > 0`
  return row?.count ?? 0
}
