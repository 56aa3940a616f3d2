import { columnName, type Dataset, type Measure } from '../dataset/dataset.js'

/** Counts facts for which a condition holds. */
const countSql = (where: string | undefined) =>
  where === undefined ? 'count(*)' : `count(*) filter (where ${where})`

/** SQL of the additive aggregates needed for a measure. */
export function toSums(measure: Measure): string[] {
  switch (measure.kind) {
    case 'count':
      return [countSql(measure.where)]
    case 'sum':
      return [`coalesce(sum(${columnName(measure.of)}), 0)`]
    case 'average':
      return [`coalesce(sum(${columnName(measure.of)}), 0)`, `count(${columnName(measure.of)})`]
    case 'share':
      return [countSql(measure.where), countSql(measure.of)]
    case 'distinct':
    case 'percentile':
      return []
  }
}

/** All distinct additive aggregates of the dataset, in the order in which rollups store them. */
export const listSums = ({ measures }: Dataset): string[] => [
  ...new Set(Object.values(measures).flatMap(toSums)),
]

/** A column whose distinct values or percentiles are queried. */
export interface Sketch {
  column: string
  kind: 'distinct' | 'percentile'
}

export const toSketch = (measure: Measure): Sketch | undefined =>
  measure.kind === 'distinct' || measure.kind === 'percentile'
    ? { column: measure.of, kind: measure.kind }
    : undefined

export const sketchName = ({ kind, column }: Sketch) => `${kind}:${column}`

/** All distinct sketches of the dataset. */
export const listSketches = ({ measures }: Dataset): Sketch[] => {
  const sketches = Object.values(measures).flatMap((measure) => toSketch(measure) ?? [])
  return [...new Map(sketches.map((sketch) => [sketchName(sketch), sketch])).values()]
}

/** SQL for the value of a measure, from SQL expressions for its sums. */
export function sumsToValue(measure: Measure, sums: readonly string[]): string {
  const [first = '0', second = '0'] = sums
  if (measure.kind === 'average' || measure.kind === 'share') return `${first} / nullif(${second}, 0)`
  return first
}

/** Percentile values fall into buckets, each 2 % wider than the one below; a bucket's middle is at most 1 % off. */
export const growth = 1.02
export const registers = 2_048
const hashBits = 60
const registerBits = Math.log2(registers)
const rankBits = hashBits - registerBits

/** SQL for the bucket of a value: by size for a percentile, by hash for a distinct count. */
export function bucketSql({ kind, column }: Sketch): string {
  const sql = columnName(column)
  if (kind === 'percentile')
    return `ceil(ln(greatest(${sql}, 1)::double precision) / ln(${growth}))::smallint`
  return `(${hashSql(sql)} & ${registers - 1})::smallint`
}

/** SQL for the weight a fact adds to its bucket: 1 for a percentile, the rank of its hash for a distinct count. */
export function weightSql({ kind, column }: Sketch): string {
  if (kind === 'percentile') return '1'
  const rest = `(${hashSql(columnName(column))} >> ${registerBits})`
  return `case when ${rest} = 0 then ${rankBits + 1} else ${rankBits} - floor(ln(${rest}::double precision) / ln(2))::integer end`
}

/** Identical in every version of Postgres, because the results are stored. */
const hashSql = (sql: string) =>
  `('x' || substr(md5(${sql}::text), 1, ${hashBits / 4}))::bit(${hashBits})::bigint`

/** SQL that merges the weights of a bucket. */
export const mergeSql = ({ kind }: Sketch, weight: string) =>
  kind === 'percentile' ? `sum(${weight})` : `max(${weight})`
