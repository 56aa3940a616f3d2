import type { AnalyticsQuery, QueryAnswer, TenantScope } from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import type { CheckedQuery } from './check-query.js'
import { answerFromFacts } from './fact-answer.js'
import { sortRows } from './sort-rows.js'
import { buildPreviousTimeline, buildTimeline, type Timeline } from './timeline.js'

/** Registers of distinct counts by month and group exceed the default of 4 MB and would spill to disk. */
const workMem = '16MB'
const timeoutMs = 20_000

export interface DatasetRequest {
  tenant: TenantScope
  query: AnalyticsQuery
  checked: CheckedQuery
  /** ISO instant; relative ranges are computed from it. */
  now: string
}

/** Reads everything from one snapshot, so that rollups, marks and facts agree. */
export function inSnapshot<Result>(
  { sql }: Pick<Database, 'sql'>,
  read: (tx: StatementRunner) => Promise<Result>,
): Promise<Result> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx.unsafe(
      `select set_config('statement_timeout', '${timeoutMs}', true), set_config('work_mem', '${workMem}', true)`,
    )
    return read(tx)
  }) as Promise<Result>
}

/** Returns the version of the tenant's facts of a dataset. */
export async function readFactVersion(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  dataset: string,
): Promise<string> {
  const [row] = await sql.unsafe<{ version: string }[]>(
    'select version from fact_versions where workspace_id = $1 and environment = $2 and dataset = $3',
    [workspaceId, environment, dataset],
    { prepare: true },
  )
  return `${dataset}.${row?.version ?? 0}`
}

/** Returns rows and totals, and those of the previous period if requested. */
export function answerDataset(
  database: Pick<Database, 'sql'>,
  request: DatasetRequest,
): Promise<Omit<QueryAnswer, 'dataAsOf'>> {
  const { tenant, query, checked, now } = request
  return inSnapshot(database, async (tx) => {
    const timeRequest = { range: query.range, grain: query.grain, timeZone: query.timeZone, now }
    const dataVersion = await readFactVersion(tx, tenant, checked.dataset.name)
    const timeline = await buildTimeline(tx, timeRequest)
    const { from, to } = timeline
    const main = await answerSpan(tx, request, timeline)
    const previous = query.comparePrevious
      ? await buildPreviousTimeline(tx, timeRequest, timeline)
      : undefined
    return {
      columns: checked.columns,
      ...main,
      range: { from, to },
      ...(previous && {
        comparison: {
          range: { from: previous.from, to: previous.to },
          ...withoutTruncated(await answerSpan(tx, request, previous)),
        },
      }),
      dataVersion,
    }
  })
}

const withoutTruncated = ({ rows, totals }: Awaited<ReturnType<typeof answerSpan>>) => ({ rows, totals })

async function answerSpan(
  tx: StatementRunner,
  { tenant, query, checked }: DatasetRequest,
  timeline: Timeline,
) {
  const { dataset, measures, timeField, columns } = checked
  const { filters, dimensions, grain, limit, sort } = query
  const selection = { tenant, dataset, filters, dimensions, timeField, timeline }
  const all = await answerFromFacts(tx, selection, measures, grain !== undefined)
  const isGrouped = grain !== undefined || dimensions.length > 0
  const { from, to } = timeline
  const whole = { ...selection, dimensions: [], timeline: { from, to, bounds: [from] } }
  const [totals] = isGrouped ? await answerFromFacts(tx, whole, measures, false) : all
  return {
    rows: sortRows(all, columns, sort).slice(0, limit),
    truncated: all.length > limit,
    totals: totals ?? null,
  }
}
