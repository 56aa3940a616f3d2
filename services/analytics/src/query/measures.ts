import { columnName, type Dataset, type Measure } from '../dataset/dataset.js'

/** Facts for which a condition holds; the rest adds nothing. */
const countSql = (where: string | undefined) =>
  where === undefined ? 'count(*)' : `count(*) filter (where ${where})`

/** What of a measure can be added up over any facts: SQL over them. */
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

/** Everything of the dataset that can be added up, each once, in the order that rollups keep it. */
export const listSums = ({ measures }: Dataset): string[] => [
  ...new Set(Object.values(measures).flatMap(toSums)),
]

/** A column whose distinct values or whose percentiles are asked for. */
export interface Sketch {
  column: string
  kind: 'distinct' | 'percentile'
}

export const toSketch = (measure: Measure): Sketch | undefined =>
  measure.kind === 'distinct' || measure.kind === 'percentile'
    ? { column: measure.of, kind: measure.kind }
    : undefined

export const sketchName = ({ kind, column }: Sketch) => `${kind}:${column}`

/** Every sketch of the dataset, each once. */
export const listSketches = ({ measures }: Dataset): Sketch[] => {
  const sketches = Object.values(measures).flatMap((measure) => toSketch(measure) ?? [])
  return [...new Map(sketches.map((sketch) => [sketchName(sketch), sketch])).values()]
}

/** The value of a measure out of its sums, which are SQL expressions over what was added up. */
export function sumsToValue(measure: Measure, sums: readonly string[]): string {
  const [first = '0', second = '0'] = sums
  if (measure.kind === 'average' || measure.kind === 'share') return `${first} / nullif(${second}, 0)`
  return first
}

/** Values of a percentile fall into buckets each 2 % wider than the one below; their middle is at most 1 % off. */
export const growth = 1.02
export const registers = 2_048
const hashBits = 60
const registerBits = Math.log2(registers)
const rankBits = hashBits - registerBits

/** SQL for the bucket a value falls into: of a percentile by its size, of a distinct count by its hash. */
export function bucketSql({ kind, column }: Sketch): string {
  const sql = columnName(column)
  if (kind === 'percentile')
    return `ceil(ln(greatest(${sql}, 1)::double precision) / ln(${growth}))::smallint`
  return `(${hashSql(sql)} & ${registers - 1})::smallint`
}

/** SQL for what a fact adds to its bucket: one more value, or how rare its hash is. */
export function weightSql({ kind, column }: Sketch): string {
  if (kind === 'percentile') return '1'
  const rest = `(${hashSql(columnName(column))} >> ${registerBits})`
  return `case when ${rest} = 0 then ${rankBits + 1} else ${rankBits} - floor(ln(${rest}::double precision) / ln(2))::integer end`
}

/** The same in every version of Postgres, as it is kept. */
const hashSql = (sql: string) =>
  `('x' || substr(md5(${sql}::text), 1, ${hashBits / 4}))::bit(${hashBits})::bigint`

/** SQL that puts the weights of a bucket together. */
export const mergeSql = ({ kind }: Sketch, weight: string) =>
  kind === 'percentile' ? `sum(${weight})` : `max(${weight})`
