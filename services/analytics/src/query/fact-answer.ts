import { ApiError, type JsonValue } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import type { FactType, Measure } from '../dataset/dataset.js'
import { listColumns } from './condition.js'
import { type Sketch, sketchName, sumsToValue, toSketch, toSums } from './measures.js'
import { sketchSum } from './sketch-sum.js'
import { readStale, type Selection, sketchPieces, sumPieces } from './sources.js'

export type AnswerRow = Record<string, JsonValue>

/** Maximum number of groups in one answer. */
export const maxGroups = 50_000

interface GroupRow {
  bucket_of_time: number
  [column: string]: unknown
}

/**
 * Computes the measures of each group, in no particular order; without dimensions and grain, the single
 * row of totals.
 */
export async function answerFromFacts(
  sql: StatementRunner,
  selection: Selection,
  measures: Readonly<Record<string, Measure>>,
  withTime: boolean,
): Promise<AnswerRow[]> {
  const request = { ...selection, stale: await readStale(sql, selection) }
  const names = Object.keys(measures)
  const groups = [
    ...(withTime ? ['bucket_of_time'] : []),
    ...selection.dimensions.map((_, index) => `d${index}`),
  ]
  const rows = new Map<string, AnswerRow>()
  const rowOf = (found: GroupRow): AnswerRow => {
    const key = JSON.stringify(groups.map((group) => found[group]))
    const known = rows.get(key)
    if (known) return known
    const row: AnswerRow = {
      ...(withTime && { time: selection.timeline.bounds[found.bucket_of_time - 1] ?? null }),
      ...Object.fromEntries(
        selection.dimensions.map((name, index) => [
          name,
          dimensionValue(selection, name, found[`d${index}`]),
        ]),
      ),
      ...Object.fromEntries(names.map((name) => [name, emptyValue(measures[name])])),
    }
    rows.set(key, row)
    return row
  }
  const keep = (found: GroupRow, values: Readonly<Record<string, number | null>>) =>
    Object.assign(rowOf(found), values)
  await readSums(sql, request, { measures, groups, keep })
  for (const { sketch, named } of groupBySketch(measures))
    await readSketch(sql, request, { sketch, named, groups, keep })
  if (groups.length === 0 && rows.size === 0) rowOf({ bucket_of_time: 1 })
  return [...rows.values()]
}

type PieceRequest = Parameters<typeof sumPieces>[0]

interface Reading {
  /** Names of the grouping columns. */
  groups: readonly string[]
  keep(found: GroupRow, values: Readonly<Record<string, number | null>>): void
}

/** Reads all additive aggregates in one statement. */
async function readSums(
  sql: StatementRunner,
  request: PieceRequest,
  { measures, groups, keep }: Reading & { measures: Readonly<Record<string, Measure>> },
): Promise<void> {
  const added = Object.entries(measures).filter(([, measure]) => !toSketch(measure))
  if (added.length === 0) return
  const sums = [...new Set(added.flatMap(([, measure]) => toSums(measure)))]
  const { parameters, sql: pieces } = sumPieces(request, sums)
  const values = added.map(([, measure], index) => {
    const of = toSums(measure).map((sum) => `coalesce(sum(s${sums.indexOf(sum)}), 0)::double precision`)
    return `${sumsToValue(measure, of)} as m${index}`
  })
  const by = groups.length > 0 ? ` group by ${groups.join(', ')}` : ''
  const text = `select ${[...groups, ...values].join(', ')} from (${pieces}) pieces${by} limit ${maxGroups + 1}`
  const found = await sql.unsafe<GroupRow[]>(text, parameters.values, { prepare: false })
  if (found.length > maxGroups) throw tooManyGroups()
  for (const row of found)
    keep(row, Object.fromEntries(added.map(([name], index) => [name, numeric(row[`m${index}`])])))
}

/**
 * Computes the measures of one sketch. The pieces arrive ordered by group and are merged here, one group at a time;
 * merging in Postgres, with a row for each bucket of each piece, takes several times as long.
 */
async function readSketch(
  sql: StatementRunner,
  request: PieceRequest,
  { sketch, named, groups, keep }: Reading & { sketch: Sketch; named: readonly [string, Measure][] },
): Promise<void> {
  const { parameters, sql: pieces } = sketchPieces(request, sketch)
  const columns = [
    'bucket_of_time',
    ...request.dimensions.map((_, index) => `d${index}`),
    'buckets',
    'counts',
  ]
  const order = groups.length > 0 ? ` order by ${groups.join(', ')}` : ''
  const text = `with pieces (${columns.join(', ')}) as (${pieces})
    select ${[...groups, 'buckets', 'counts'].join(', ')} from pieces${order}`
  const sum = sketchSum(sketch)
  let current: { key: string; values: (string | null)[] } | undefined
  let count = 0
  const end = () => {
    if (!current) return
    const { values } = current
    const group = Object.fromEntries(groups.map((name, index) => [name, values[index] ?? null]))
    keep(
      { ...group, bucket_of_time: Number(group.bucket_of_time ?? 1) },
      Object.fromEntries(named.map(([name, measure]) => [name, sum.valueOf(measure)])),
    )
    sum.clear()
  }
  const addRow = (row: readonly (Uint8Array | null)[]) => {
    const values = row.slice(0, groups.length).map((value) => (value === null ? null : String(value)))
    const key = JSON.stringify(values)
    if (key !== current?.key) {
      end()
      current = { key, values }
      count++
    }
    const [buckets, counts] = row.slice(groups.length)
    if (count <= maxGroups && buckets && counts) sum.add(buckets, counts)
  }
  await sql.unsafe(text, parameters.values, { prepare: false }).raw().forEach(addRow)
  if (count > maxGroups) throw tooManyGroups()
  end()
}

/** Groups measures by sketch, so that for example several percentiles of a column are read together. */
function groupBySketch(measures: Readonly<Record<string, Measure>>) {
  const found = new Map<string, { sketch: Sketch; named: [string, Measure][] }>()
  for (const [name, measure] of Object.entries(measures)) {
    const sketch = toSketch(measure)
    if (!sketch) continue
    const known = found.get(sketchName(sketch)) ?? { sketch, named: [] }
    known.named.push([name, measure])
    found.set(sketchName(sketch), known)
  }
  return found.values()
}

const tooManyGroups = () =>
  new ApiError(
    'validation_failed',
    `The query has more than ${maxGroups} groups: ask for fewer dimensions, a coarser grain or a shorter range.`,
  )

/** A count of nothing is 0; a measurement of nothing is null. */
const emptyValue = (measure: Measure | undefined) =>
  measure && ['count', 'sum', 'distinct'].includes(measure.kind) ? 0 : null

const numeric = (value: unknown) => (value === null || value === undefined ? null : Number(value))

function dimensionValue({ dataset }: Selection, name: string, value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  const type: FactType = listColumns(dataset)[name]?.type ?? 'text'
  if (type === 'boolean') return value === 'true'
  return type === 'text' ? String(value) : type === 'timestamp' ? String(value) : Number(value)
}
