import {
  type AcceptConflicts,
  type ChangeConflict,
  type ChangeState,
  type ChangeStatus,
  ChangeWindowState,
  type Instant,
  type TenantScope,
} from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import type { ImpactGraph } from '../cmdb/impact.js'
import type { StatementRunner } from '../cmdb/impact-graph.js'
import { closureOf } from './closure.js'
import {
  blackoutsIn,
  conflictsIn,
  type OtherChange,
  type Plan,
  planOf,
  type Surroundings,
} from './conflicts.js'
import type { Clash } from './guard.js'
import type { Span } from './spans.js'

/** Statuses in which a change holds its time: handed in, and not carried out yet. */
export const holding: readonly ChangeStatus[] = ['assess', 'authorize', 'scheduled', 'implementing']

/** Other changes looked at, the earliest first. More are shown than a change keeps. */
export const mostOthers = 500

/** What a change collides with as things are. A change without planned times collides with nothing. */
export async function conflictsOf(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
  graph?: ImpactGraph,
): Promise<ChangeConflict[]> {
  const plan = planOf(change)
  return plan ? conflictsIn(plan, await surroundingsOf(sql, tenant, plan, graph)) : []
}

/** Everything that can collide with the plan at any of its time. */
export async function surroundingsOf(
  sql: StatementRunner,
  tenant: TenantScope,
  plan: Plan,
  graph?: ImpactGraph,
): Promise<Surroundings> {
  const read = reader(sql, tenant)
  const related = await closureOf(sql, tenant, plan.ciIds, graph)
  const classes = await read.classes(plan.ciIds)
  const others = await read.others(plan, [...plan.ciIds, ...related.keys()])
  const windows = await read.windows(plan.ciIds, [...new Set(classes.values())], plan.span)
  return { others, windows, classes, related }
}

/** What a change that is handed in collides with, and what was said to it. */
export async function clashOf(
  sql: StatementRunner,
  tenant: TenantScope,
  change: ChangeState,
  acceptance: AcceptConflicts,
): Promise<Clash> {
  return { conflicts: await conflictsOf(sql, tenant, change), acceptance }
}

/** The blackouts that a change begun now would fall into, until its planned end. */
export async function clashNow(
  sql: StatementRunner,
  tenant: TenantScope,
  { id, ciIds, assigneeId, plannedEnd }: ChangeState,
  acceptance: AcceptConflicts,
  now: Instant,
): Promise<Clash> {
  const from = Date.parse(now)
  const to = Math.max(from + 1, plannedEnd === null ? 0 : Date.parse(plannedEnd))
  const plan = { id, ciIds, assigneeId, span: { from, to } }
  const read = reader(sql, tenant)
  const classes = await read.classes(ciIds)
  const windows = await read.windows(ciIds, [...new Set(classes.values())], plan.span)
  const around = { others: [], windows, classes, related: new Map() }
  return { conflicts: blackoutsIn(plan, around), acceptance }
}

const instant = (ms: number) => new Date(ms).toISOString()

/** Those that overlap in time and share an item or the person. What overlaps is found by an index of times. */
export const othersStatement = `select id, state->>'number' as number, planned_start as "from", planned_end as "to",
        ci_ids as "ciIds", assignee_id as "assigneeId" from changes
  where workspace_id = $1 and environment = $2 and planned_start is not null
    and planned_span(planned_start, planned_end) && planned_span($3, $4)
    and status = any($5::text[]) and id <> $6
    and (ci_ids ?| $7::text[] or assignee_id = $8)
  order by planned_start, id limit ${mostOthers}`

function reader(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
  const statement = async <Row extends object>(
    text: string,
    parameters: (string | readonly string[])[],
  ): Promise<Row[]> => {
    try {
      return await sql.unsafe<Row[]>(text, [workspaceId, environment, ...parameters.map(mutable)])
    } catch (error) {
      throw translatePostgresError(error)
    }
  }
  return {
    async classes(ciIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await statement<{ id: string; class: string }>(
        `select id, class from configuration_items
          where workspace_id = $1 and environment = $2 and id in (select unnest($3::text[]))`,
        [ciIds],
      )
      return new Map(rows.map((row) => [row.id, row.class]))
    },

    async others(plan: Plan, items: readonly string[]): Promise<OtherChange[]> {
      const rows = await statement<OtherRow>(othersStatement, [
        instant(plan.span.from),
        instant(plan.span.to),
        holding,
        plan.id,
        items,
        plan.assigneeId ?? '',
      ])
      return rows.map(({ from, to, ...row }) => ({
        ...row,
        span: { from: Date.parse(from), to: Date.parse(to) },
      }))
    },

    /** Active ones that cover an item or everything: blackouts by their whole time, maintenance until it is over. */
    async windows(ciIds: readonly string[], classes: readonly string[], within: Span) {
      const rows = await statement<{ state: unknown }>(
        `select state from change_windows
          where workspace_id = $1 and environment = $2 and status = 'active'
            and planned_span(starts_at, ends_at) && planned_span($3, null)
            and (kind = 'maintenance' or starts_at is null or starts_at < $4)
            and (json_typeof(state->'ciIds') = 'null' or (state->'ciIds')::jsonb ?| $5::text[])
            and (json_typeof(state->'classes') = 'null' or (state->'classes')::jsonb ?| $6::text[])
          order by created_at, id`,
        [instant(within.from), instant(within.to), ciIds, classes],
      )
      return rows.map(({ state }) => ChangeWindowState.parse(state))
    },
  }
}

interface OtherRow extends Omit<OtherChange, 'span'> {
  from: string
  to: string
}

const mutable = (parameter: string | readonly string[]) =>
  typeof parameter === 'string' ? parameter : [...parameter]
