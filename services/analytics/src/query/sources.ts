import type { AnalyticsQuery, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { columnName, type Dataset, factTableName, factTypes, type Rollup } from '../dataset/dataset.js'
import { sliceSeconds } from '../fact/block-schedule.js'
import { type Block, type BlockRun, type Cover, computeCover, staleBlocks, type TimeSpan } from './blocks.js'
import { conditionsSql, listColumns } from './condition.js'
import { bucketSql, listSums, mergeSql, type Sketch, sketchName, weightSql } from './measures.js'
import { Parameters } from './parameters.js'
import type { Timeline } from './timeline.js'

/** The part of a dataset that a query reads. */
export interface Selection {
  dataset: Dataset
  tenant: TenantScope
  filters: AnalyticsQuery['filters']
  dimensions: readonly string[]
  timeField: string
  timeline: Timeline
}

/** Levels below this one store no sketches: they would hardly be smaller than the facts. */
export const lowestSketchLevel = 1
/** With more marks than this, such as directly after a bulk load, the facts are read instead. */
const maxMarks = 5_000

/** The rollup that contains all requested and filtered dimensions; `undefined` if facts have to be read. */
export function findRollup(
  { dataset, dimensions, filters, timeField }: Selection,
  needsSketches: boolean,
): { rollup: Rollup; number: number } | undefined {
  if (timeField !== 'createdAt') return undefined
  const needed = [...dimensions, ...Object.keys(filters)]
  const fitting = dataset.rollups
    .map((rollup, number) => ({ rollup, number }))
    .filter(({ rollup }) => !needsSketches || rollup.sketches)
    .filter(({ rollup }) => needed.every((name) => rollup.dimensions.includes(name)))
  return fitting.sort((a, b) => a.rollup.dimensions.length - b.rollup.dimensions.length)[0]
}

/** Blocks of the dataset that may not be read, in the snapshot of the statement. */
export async function readStale(
  sql: StatementRunner,
  { dataset, tenant }: Pick<Selection, 'dataset' | 'tenant'>,
): Promise<ReadonlySet<string> | undefined> {
  const marks = await sql.unsafe<Block[]>(
    `select level, block from rollup_marks where workspace_id = $1 and environment = $2 and dataset = $3
     limit ${maxMarks + 1}`,
    [tenant.workspaceId, tenant.environment, dataset.name],
    { prepare: true },
  )
  return marks.length > maxMarks ? undefined : staleBlocks(marks)
}

/** The spans of a timeline, clipped to its range. */
function toSpans({ from, to, bounds }: Timeline): TimeSpan[] {
  const ends = [...bounds.slice(1), to]
  return bounds
    .map((bound, index) => ({
      from: Math.max(Date.parse(bound), Date.parse(from)),
      to: Math.min(Date.parse(ends[index] ?? to), Date.parse(to)),
    }))
    .filter((span) => span.from < span.to)
}

export interface Pieces {
  parameters: Parameters
  /** SQL that returns `(bucket, d0, d1, …, …aggregates)`, possibly in several rows for each group. */
  sql: string
}

interface PieceRequest extends Selection {
  stale: ReadonlySet<string> | undefined
}

/** Reads the sums, from up-to-date rollups where available. */
export function sumPieces(request: PieceRequest, sums: readonly string[]): Pieces {
  const all = listSums(request.dataset)
  return pieces(request, {
    needsSketches: false,
    lowest: 0,
    table: 'rollups',
    ofRollup: sums.map((sum, index) => `r.sums[${all.indexOf(sum) + 1}] as s${index}`),
    ofFacts: sums.map((sum, index) => `${sum} as s${index}`),
  })
}

/** Reads the buckets and weights of a sketch, as two arrays. */
export function sketchPieces(request: PieceRequest, sketch: Sketch): Pieces {
  return pieces(request, {
    needsSketches: true,
    lowest: lowestSketchLevel,
    table: 'rollup_sketches',
    sketch: sketchName(sketch),
    ofRollup: ['r.buckets', 'r.counts'],
    ofFacts: [
      `${bucketSql(sketch)} as sketch_bucket`,
      `${mergeSql(sketch, weightSql(sketch))}::integer as weight`,
    ],
    bucketed: bucketSql(sketch),
    where: `${columnName(sketch.column)} is not null`,
  })
}

interface PieceQuery {
  needsSketches: boolean
  lowest: number
  table: string
  sketch?: string
  ofRollup: string[]
  ofFacts: string[]
  /** Additional grouping besides time and dimensions. */
  bucketed?: string
  where?: string
}

function pieces(request: PieceRequest, reading: PieceQuery): Pieces {
  const parameters = new Parameters()
  const found = request.stale && findRollup(request, reading.needsSketches)
  const cover: Cover = found
    ? computeCover(toSpans(request.timeline), request.stale ?? new Set(), reading.lowest)
    : { runs: [], spans: [{ from: Date.parse(request.timeline.from), to: Date.parse(request.timeline.to) }] }
  const parts: string[] = []
  if (found && cover.runs.length > 0) parts.push(fromRollups(request, reading, found, cover.runs, parameters))
  if (cover.spans.length > 0 || parts.length === 0)
    parts.push(fromFacts(request, reading, cover.spans, parameters))
  return { parameters, sql: parts.map((part) => `(${part})`).join(' union all ') }
}

/**
 * The subselect parses the bounds once. The cast depends on session settings, so that Postgres would otherwise repeat
 * it for each row.
 */
const bucketAt = (at: string, { timeline }: PieceRequest, parameters: Parameters) =>
  timeline.bounds.length === 1
    ? '1'
    : `width_bucket(${at}, (select ${parameters.list(timeline.bounds, 'timestamptz')}))`

function fromRollups(
  request: PieceRequest,
  { table, sketch, ofRollup }: PieceQuery,
  { rollup, number }: { rollup: Rollup; number: number },
  runs: readonly BlockRun[],
  parameters: Parameters,
): string {
  const { dataset, tenant, dimensions, filters } = request
  const keyOf = (name: string) => `r.key[${rollup.dimensions.indexOf(name) + 1}]`
  const typedKey = (name: string) =>
    `${keyOf(name)}::${factTypes[listColumns(dataset)[name]?.type ?? 'text']}`
  const lists = (['level', 'first', 'last'] as const).map((field) =>
    parameters.list(
      runs.map((run) => run[field]),
      'integer',
    ),
  )
  const start = `to_timestamp(r.block::double precision * ${sliceSeconds} * power(4, r.level))`
  const conditions = [
    `r.workspace_id = ${parameters.add(tenant.workspaceId, 'text')}`,
    `r.environment = ${parameters.add(tenant.environment, 'text')}`,
    `r.dataset = '${dataset.name}' and r.rollup = ${number}`,
    'r.level = b.level and r.block between b.first and b.last',
    ...(sketch === undefined ? [] : [`r.sketch = '${sketch}'`]),
    ...conditionsSql(dataset, filters, parameters, typedKey),
  ]
  const groups = dimensions.map((name, index) => `${keyOf(name)} as d${index}`)
  const kept = sketch === undefined ? ['r.sums'] : ['r.buckets', 'r.counts']
  const dimensionColumns = dimensions.map((_, index) => `r.d${index}`)
  // OFFSET 0 forces an index lookup for each run. Otherwise Postgres reads all rollups and joins them by level.
  return `select ${['r.bucket_of_time', ...dimensionColumns, ...ofRollup].join(', ')}
    from unnest(${lists.join(', ')}) as b (level, first, last) cross join lateral (
      select ${[`${bucketAt(start, request, parameters)} as bucket_of_time`, ...groups, ...kept].join(', ')}
      from ${table} r where ${conditions.join(' and ')} offset 0) r`
}

function fromFacts(
  request: PieceRequest,
  { ofFacts, bucketed, where }: PieceQuery,
  spans: readonly TimeSpan[],
  parameters: Parameters,
): string {
  const { dataset, tenant, dimensions, filters, timeField } = request
  const at = columnName(timeField)
  const iso = (ms: number) => new Date(ms).toISOString()
  const [only] = spans
  const inSpans =
    spans.length === 1 && only
      ? `${at} >= ${parameters.add(iso(only.from), 'timestamptz')} and ${at} < ${parameters.add(iso(only.to), 'timestamptz')}`
      : `${at} >= span.first and ${at} < span.last`
  const joined =
    spans.length === 1
      ? ''
      : `unnest(${parameters.list(
          spans.map(({ from }) => iso(from)),
          'timestamptz',
        )}, ${parameters.list(
          spans.map(({ to }) => iso(to)),
          'timestamptz',
        )}) as span (first, last) cross join `
  const conditions = [
    `workspace_id = ${parameters.add(tenant.workspaceId, 'text')}`,
    `environment = ${parameters.add(tenant.environment, 'text')}`,
    inSpans,
    ...(where === undefined ? [] : [where]),
    ...conditionsSql(dataset, filters, parameters),
  ]
  const groups = [bucketAt(at, request, parameters), ...dimensions.map((name) => `${columnName(name)}::text`)]
  const columns = groups.map((sql, index) => `${sql} as ${index === 0 ? 'bucket_of_time' : `d${index - 1}`}`)
  // A constant in GROUP BY would be interpreted as a column number.
  const grouped = [
    ...groups.map((_, index) => String(index + 1)),
    ...(bucketed === undefined ? [] : [bucketed]),
  ]
  const found = `select ${[...columns, ...ofFacts].join(', ')} from ${joined}${factTableName(dataset)} f
    where ${conditions.join(' and ')} group by ${grouped.join(', ')}`
  if (bucketed === undefined) return found
  const listed = groups.map((_, index) => (index === 0 ? 'bucket_of_time' : `d${index - 1}`)).join(', ')
  return `select ${listed}, array_agg(sketch_bucket) as buckets, array_agg(weight) as counts
    from (${found}) found group by ${listed}`
}
