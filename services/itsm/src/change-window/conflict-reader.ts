import { type ChangeStatus, ChangeWindowState, type TenantScope } from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import type { OtherChange, Plan } from './conflicts.js'
import type { Span } from './spans.js'

/** Statuses in which a change occupies its planned time: submitted and not yet completed. */
export const occupyingStatuses: readonly ChangeStatus[] = ['assess', 'authorize', 'scheduled', 'implementing']

/**
 * Maximum number of other changes that are considered, the
 * earliest first. More than the conflicts stored with a change.
 */
export const maxOthers = 500

const instant = (ms: number) => new Date(ms).toISOString()

const columns = `o.id, o.state->>'number' as number, o.planned_start as "from", o.planned_end as "to",
        o.ci_ids as "ciIds", o.assignee_id as "assigneeId"`

/** Selects changes that overlap in time and share an item or the assignee. An index on times finds the overlaps. */
export const othersStatement = `select ${columns} from changes o
  where workspace_id = $1 and environment = $2 and planned_start is not null
    and planned_span(planned_start, planned_end) && planned_span($3, $4)
    and status = any($5::text[]) and id <> $6
    and (ci_ids ?| $7::text[] or assignee_id = $8)
  order by planned_start, id limit ${maxOthers}`

/** Selects changes that overlap any of these spans, whatever items they touch. */
export const overlappingStatement = `select ${columns} from unnest($3::text[], $4::text[]) s(starts, ends)
  join changes o on o.workspace_id = $1 and o.environment = $2 and o.planned_start is not null
    and planned_span(o.planned_start, o.planned_end) && planned_span(s.starts, s.ends)
  where o.status = any($5::text[])
  limit $6::int`

/** Reads everything that a plan can collide with. */
export function createReader(sql: StatementRunner, { workspaceId, environment }: TenantScope) {
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
        occupyingStatuses,
        plan.id,
        items,
        plan.assigneeId ?? '',
      ])
      return rows.map(otherChange)
    },

    /**
     * Returns all changes that overlap one of the spans, in the order
     * used by `others`; `null` if there are more than `maxRows`.
     */
    async overlapping(spans: readonly Span[], maxRows: number): Promise<OtherChange[] | null> {
      const rows = await statement<OtherRow>(overlappingStatement, [
        spans.map(({ from }) => instant(from)),
        spans.map(({ to }) => instant(to)),
        occupyingStatuses,
        String(maxRows + 1),
      ])
      if (rows.length > maxRows) return null
      const found = new Map(rows.map((row) => [row.id, otherChange(row)]))
      return [...found.values()].sort((a, b) => a.span.from - b.span.from || (a.id < b.id ? -1 : 1))
    },

    /**
     * Returns active windows that cover one of the items or all items: blackouts that overlap `within` between their
     * first beginning and last end, and maintenance windows that are not over yet.
     */
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

function otherChange({ from, to, ...row }: OtherRow): OtherChange {
  return { ...row, span: { from: Date.parse(from), to: Date.parse(to) } }
}

interface OtherRow extends Omit<OtherChange, 'span'> {
  from: string
  to: string
}

const mutable = (parameter: string | readonly string[]) =>
  typeof parameter === 'string' ? parameter : [...parameter]
