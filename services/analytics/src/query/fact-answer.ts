import { ApiError, type JsonValue } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import type { FactType, Measure } from '../dataset/dataset.js'
import { columnsOf } from './condition.js'
import { estimateSql, mergedSql, type Sketch, sketchName, sketchOf, sumsOf, valueOfSums } from './measures.js'
import { readStale, type Selection, sketchPieces, sumPieces } from './sources.js'

export type AnswerRow = Record<string, JsonValue>

/** Groups of one answer at most. */
export const mostGroups = 50_000

interface GroupRow {
  bucket_of_time: number
  [column: string]: unknown
}

/** The measures for each group, in no order; without any dimension and grain the one row of totals. */
export async function answerFromFacts(
  sql: StatementRunner,
  selection: Selection,
  measures: Readonly<Record<string, Measure>>,
  withTime: boolean,
): Promise<AnswerRow[]> {
  const asked = { ...selection, stale: await readStale(sql, selection) }
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
  for (const statement of statements(asked, measures, groups)) {
    const found = await sql.unsafe<GroupRow[]>(statement.text, statement.values, { prepare: false })
    if (found.length > mostGroups) throw tooManyGroups()
    for (const each of found)
      for (const [index, name] of statement.names.entries()) rowOf(each)[name] = numeric(each[`m${index}`])
  }
  if (groups.length === 0 && rows.size === 0) rowOf({ bucket_of_time: 1 })
  return [...rows.values()]
}

interface Statement {
  text: string
  values: (string | null)[]
  /** The measures its columns m0, m1, … are. */
  names: string[]
}

/** One for everything that can be added up, and one for each sketch that measures need. */
function statements(
  asked: Parameters<typeof sumPieces>[0],
  measures: Readonly<Record<string, Measure>>,
  groups: readonly string[],
): Statement[] {
  const listed = groups.map((group) => `${group}, `).join('')
  const by = groups.length > 0 ? ` group by ${groups.join(', ')}` : ''
  const added = Object.entries(measures).filter(([, measure]) => !sketchOf(measure))
  const made: Statement[] = []
  if (added.length > 0) {
    const sums = [...new Set(added.flatMap(([, measure]) => sumsOf(measure)))]
    const { parameters, sql } = sumPieces(asked, sums)
    const values = added.map(([, measure], index) => {
      const of = sumsOf(measure).map((sum) => `coalesce(sum(s${sums.indexOf(sum)}), 0)::double precision`)
      return `${valueOfSums(measure, of)} as m${index}`
    })
    made.push({
      text: `select ${listed}${values.join(', ')} from (${sql}) pieces${by} limit ${mostGroups + 1}`,
      values: parameters.values,
      names: added.map(([name]) => name),
    })
  }
  for (const { sketch, named } of bySketch(measures)) {
    const { parameters, sql } = sketchPieces(asked, sketch)
    const columns = ['bucket_of_time', ...asked.dimensions.map((_, index) => `d${index}`), 'bucket', 'weight']
    const merged = `${mergedSql(sketch, 'weight')} as weight`
    const estimates = estimateSql(
      named.map(([, measure]) => measure),
      groups,
    )
    made.push({
      text: `with pieces (${columns.join(', ')}) as (${sql}),
        buckets as (select ${listed}bucket, ${merged} from pieces group by ${listed}bucket)
        ${estimates} limit ${mostGroups + 1}`,
      values: parameters.values,
      names: named.map(([name]) => name),
    })
  }
  return made
}

/** Measures of the same sketch are read together, such as several percentiles of a column. */
function bySketch(measures: Readonly<Record<string, Measure>>) {
  const found = new Map<string, { sketch: Sketch; named: [string, Measure][] }>()
  for (const [name, measure] of Object.entries(measures)) {
    const sketch = sketchOf(measure)
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
    `The query has more than ${mostGroups} groups: ask for fewer dimensions, a coarser grain or a shorter range.`,
  )

/** Nothing was counted is a number; nothing was measured is none. */
const emptyValue = (measure: Measure | undefined) =>
  measure && ['count', 'sum', 'distinct'].includes(measure.kind) ? 0 : null

const numeric = (value: unknown) => (value === null || value === undefined ? null : Number(value))

function dimensionValue({ dataset }: Selection, name: string, value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  const type: FactType = columnsOf(dataset)[name]?.type ?? 'text'
  if (type === 'boolean') return value === 'true'
  return type === 'text' ? String(value) : type === 'timestamp' ? String(value) : Number(value)
}
