import type { CiImpact, TenantScope } from '@opsplane/contracts'
import { type StatementRunner, statement } from '../cmdb/columns.js'
import { openIncidentsText } from '../schema/cmdb.js'
import { changeEntity } from '../sla/entity/change-entity.js'
import { problemEntity } from '../sla/entity/problem-entity.js'

type SlaAtRisk = NonNullable<CiImpact['slasAtRisk']>[number]
interface SlasAtRisk {
  slasAtRisk: SlaAtRisk[]
  slasTruncated: boolean
}

/** Maximum number of clocks returned. If there are more, `slasTruncated` is true. */
const maxShown = 100
/**
 * Beyond this number of items, all open changes and problems are scanned instead of using the indexes on their
 * items.
 */
const maxIndexed = 100

/**
 * Returns the running and paused clocks of open incidents, changes and problems of the items, the earliest due
 * first.
 */
export async function findSlasAtRisk(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  itemIds: string[],
): Promise<SlasAtRisk> {
  const rows = await statement<Row>(sql, clocksStatement, [
    ...[workspaceId, environment, itemIds],
    ...[[...changeEntity.openStatuses], [...problemEntity.openStatuses]],
  ])
  const places = new Map(itemIds.map((id, place) => [id, place]))
  const placeOf = (id: string) => places.get(id) ?? itemIds.length
  const shown = rows.slice(0, maxShown).map(({ ciIds, ...clock }) => ({
    ...clock,
    ciId: ciIds.reduce((nearest, id) => (placeOf(id) < placeOf(nearest) ? id : nearest)),
  }))
  return { slasAtRisk: shown, slasTruncated: rows.length > maxShown }
}

/** Safe cast: the values were validated when they were written. */
type Row = Omit<SlaAtRisk, 'ciId'> & { ciIds: string[] }

/**
 * Within `or` and `case`, Postgres hashes the subquery once and probes it for each row, whatever sizes it
 * estimates.
 */
const touched = `case when cardinality($3::text[]) <= ${maxIndexed} then ci_ids ?| $3::text[] else exists (
    select from jsonb_array_elements_text(ci_ids) touched(id)
     where (touched.id in (select unnest($3::text[]))) is true) end`

/*
 * Each item is looked up in the index of open incidents, and each entity found in the index of clocks. With plain joins
 * Postgres would compare all rows with each other while the tables are not analyzed.
 */
const clocksStatement = `
  with touching as materialized (
    select found.id, jsonb_build_array(item.id) as ci_ids
      from unnest($3::text[]) item(id) cross join lateral (
        select id from incidents
         where workspace_id = $1 and environment = $2 and ci_id = item.id
           and ${openIncidentsText} offset 0) found
    union all
    select id, ci_ids from changes
     where workspace_id = $1 and environment = $2 and status = any($4::text[]) and ${touched}
    union all
    select id, ci_ids from problems
     where workspace_id = $1 and environment = $2 and status = any($5::text[]) and ${touched}
  ), clocks as (
    select clock.*, touching.ci_ids from touching cross join lateral (
      select * from sla_timers where incident_id = touching.id offset 0) clock
     where workspace_id = $1 and environment = $2 and clock_state in ('running', 'paused')
     order by due_order, id limit ${maxShown + 1}
  )
  select id as "timerId", entity_type as "entityType", incident_id as "entityId", state->>'entityNumber' as "entityNumber",
      state->>'policyName' as "policyName", metric, due_at as "dueAt", clock_state as state, breached = 'true' as breached,
      ci_ids as "ciIds"
    from clocks order by due_order, id`
