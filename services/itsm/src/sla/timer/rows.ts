import {
  Environment,
  IncidentState,
  SlaCalendarState,
  type SlaEntityType,
  SlaPolicyState,
  SlaTimer,
  type TenantScope,
} from '@opsplane/contracts'
import { nowSql, type StatementRunner } from '@opsplane/postgres'
import { dueTimers } from '../../schema/sla.js'
import type { SlaEntity } from '../entity/entity.js'
import type { Change } from './timer.js'

export type { StatementRunner }

export interface StoredTimer {
  tenant: TenantScope
  version: number
  state: SlaTimer
}

interface Row {
  workspace_id: string
  environment: string
  version: number
  state: unknown
}

const toTenant = (row: Pick<Row, 'workspace_id' | 'environment'>): TenantScope => ({
  workspaceId: row.workspace_id,
  environment: Environment.parse(row.environment),
})
export const toStoredTimer = (row: Row): StoredTimer => ({
  tenant: toTenant(row),
  version: row.version,
  state: SlaTimer.parse(row.state),
})

const prepared = { prepare: true }

/** Returns the ids of entities that have or may get clocks. For the others there is no policy. */
export async function findTimedEntities(
  sql: StatementRunner,
  entities: readonly SlaEntity[],
  ids: readonly string[],
): Promise<string[]> {
  const ofKind = ({ table, entityType }: SlaEntity) =>
    `select e.id from ${table} e where e.id = any($1::text[]) and (
       exists (select 1 from sla_progress p where p.incident_id = e.id)
       or exists (select 1 from sla_policies p where p.workspace_id = e.workspace_id
                  and p.environment = e.environment and p.status = 'active'
                  and p.state->>'entityType' = '${entityType}'))`
  const rows = await sql.unsafe<{ id: string }[]>(
    entities.map(ofKind).join(' union all '),
    [[...ids]],
    prepared,
  )
  return rows.map(({ id }) => id)
}

/** Returns the id of the entity with this id or number such as `INC-12`; `undefined` if there is none. */
export async function findEntityId(
  sql: StatementRunner,
  { table, numberPrefix }: SlaEntity,
  reference: string,
  { workspaceId, environment }: TenantScope,
): Promise<string | undefined> {
  const digits = reference.startsWith(numberPrefix) ? reference.slice(numberPrefix.length) : ''
  const [row] = await sql.unsafe<{ id: string }[]>(
    `select id from ${table} where workspace_id = $1 and environment = $2 and (id = $3 or number_value = $4::int)`,
    [workspaceId, environment, reference, /^[1-9]\d{0,8}$/.test(digits) ? digits : null],
    prepared,
  )
  return row?.id
}

/**
 * Locks the progress rows of entities or clocks, sorted by id to
 * avoid deadlocks. Returns the last version applied for each.
 */
export async function lockProgress(
  tx: StatementRunner,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.unsafe<{ incident_id: string; version: number }[]>(
    `insert into sla_progress as p (incident_id, version)
     select id, 0 from unnest($1::text[]) as t (id) order by id
     on conflict (incident_id) do update set version = p.version
     returning incident_id, version`,
    [[...ids].sort()],
    prepared,
  )
  return new Map(rows.map((row) => [row.incident_id, row.version]))
}

/** Returns for each entity the last version whose events the clocks have applied. */
export async function appliedVersions(
  sql: StatementRunner,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql.unsafe<{ incident_id: string; version: number }[]>(
    'select incident_id, version from sla_progress where incident_id = any($1::text[])',
    [[...ids]],
    prepared,
  )
  return new Map(rows.map((row) => [row.incident_id, row.version]))
}

export async function saveProgress(tx: StatementRunner, applied: ReadonlyMap<string, number>): Promise<void> {
  await tx.unsafe(
    `update sla_progress p set version = t.v::int
     from unnest($1::text[], $2::text[]) as t (id, v) where p.incident_id = t.id`,
    [[...applied.keys()], [...applied.values()].map(String)],
    prepared,
  )
}

export interface EntityChange extends Change {
  entityType: SlaEntityType
  tenant: TenantScope
}

/**
 * Returns the events of entities after these versions, in order; all types or only the given ones. Reads the log, so no
 * event is missed or reported twice.
 */
export async function readChangesAfter(
  tx: StatementRunner,
  entities: readonly SlaEntity[],
  versions: ReadonlyMap<string, number>,
  types: readonly string[] | null = null,
): Promise<Map<string, EntityChange[]>> {
  if (versions.size === 0) return new Map()
  const kinds = new Map(entities.map((entity) => [entity.table, entity]))
  const rows = await tx.unsafe<
    (Omit<Row, 'state'> & {
      id: string
      stream_id: string
      stream_type: string
      created_at: Date | string
      after: unknown
      type: string
      comment: unknown
    })[]
  >(
    `select e.id, e.stream_id, e.stream_type, e.type, e.version, e.workspace_id, e.environment, e.created_at,
            e.data->'after' as after, e.data->'comment' as comment
     from unnest($1::text[], $2::text[]) as t (id, v)
     join events e on e.stream_id = t.id and e.stream_type = any($3::text[]) and e.version > t.v::int
     where $4::text[] is null or e.type = any($4::text[])
     order by e.stream_id, e.version`,
    [[...versions.keys()], [...versions.values()].map(String), [...kinds.keys()], types && [...types]],
    prepared,
  )
  const changes = new Map<string, EntityChange[]>()
  for (const row of rows) {
    const kind = kinds.get(row.stream_type)
    if (row.after === null || !kind) continue
    const change = {
      eventId: row.id,
      version: row.version,
      at: new Date(row.created_at).toISOString(),
      entityType: kind.entityType,
      entity: kind.facts(row.after, row),
      tenant: toTenant(row),
    }
    const known = changes.get(row.stream_id)
    if (known) known.push(change)
    else changes.set(row.stream_id, [change])
  }
  return changes
}

/** Returns all clocks of these entities, locked until the transaction ends. */
export async function lockTimers(tx: StatementRunner, ids: readonly string[]): Promise<StoredTimer[]> {
  const rows = await tx.unsafe<Row[]>(
    `select workspace_id, environment, version, state from sla_timers
     where incident_id = any($1::text[]) order by id for update`,
    [[...ids]],
    prepared,
  )
  return rows.map(toStoredTimer)
}

export interface ActivePolicy {
  tenant: TenantScope
  policy: SlaPolicyState
  calendar: SlaCalendarState | null
}

/**
 * Excludes policies whose calendar was deleted at the moment
 * they were saved, because they must not count around the clock.
 */
export async function readActivePolicies(
  tx: StatementRunner,
  tenants: TenantScope[],
): Promise<ActivePolicy[]> {
  const rows = await tx.unsafe<(Row & { calendar: unknown })[]>(
    `select p.workspace_id, p.environment, p.version, p.state, c.state as calendar
     from (select distinct * from unnest($1::text[], $2::text[])) as t (workspace_id, environment)
     join sla_policies p using (workspace_id, environment)
     left join sla_calendars c on c.id = p.state->>'calendarId'
       and c.workspace_id = p.workspace_id and c.environment = p.environment
     where p.status = 'active' and (c.id is not null or p.state->>'calendarId' is null)`,
    [tenants.map(({ workspaceId }) => workspaceId), tenants.map(({ environment }) => environment)],
    prepared,
  )
  return rows.map((row) => ({
    tenant: toTenant(row),
    policy: SlaPolicyState.parse(row.state),
    calendar: row.calendar === null ? null : SlaCalendarState.parse(row.calendar),
  }))
}

/**
 * SQL condition: the entity of a clock has events that are not applied yet. It is true for unknown kinds of entity,
 * which are left to a newer replica.
 */
export const unappliedCondition = (entities: readonly SlaEntity[]) => {
  const behind = ({ table, entityType }: SlaEntity) =>
    `when '${entityType}' then exists (
       select 1 from ${table} e left join sla_progress p on p.incident_id = e.id
       where e.id = sla_timers.incident_id and e.version > coalesce(p.version, 0))`
  return `case sla_timers.entity_type ${entities.map(behind).join(' ')} else true end`
}

/** Returns the entities of the first due clocks that have events not applied by the clocks yet. */
export async function findUnappliedEntities(
  sql: StatementRunner,
  entities: readonly SlaEntity[],
  at: string | null,
  limit: number,
): Promise<{ key: string; failures: number }[]> {
  const rows = await sql.unsafe<{ key: string; failures: number }[]>(
    `select incident_id as key, max(failures) as failures from (
       select incident_id, entity_type, failures from sla_timers
       where ${dueTimers.waiting} and ${dueTimers.due} <= ${nowSql}
       order by ${dueTimers.due} limit $2::int) sla_timers
     where ${unappliedCondition(entities)} group by incident_id`,
    [at, limit],
    prepared,
  )
  return [...rows]
}

export async function readIncidents(
  tx: StatementRunner,
  ids: readonly string[],
): Promise<Map<string, IncidentState>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.unsafe<{ id: string; state: unknown }[]>(
    'select id, state from incidents where id = any($1::text[])',
    [[...ids]],
    prepared,
  )
  return new Map(rows.map(({ id, state }) => [id, IncidentState.parse(state)]))
}
