import { columnName, type Dataset, factTableName } from '../dataset/dataset.js'
import { sliceMs } from '../query/blocks.js'
import { bucketSql, listSketches, listSums, mergeSql, sketchName, weightSql } from '../query/measures.js'
import { lowestSketchLevel } from '../query/sources.js'

/** Blocks of one level of a dataset and tenant: `$1` workspace, `$2` environment, `$3` block numbers. */
const blocks = 'unnest($3::text[]::integer[]) as b (block)'
const columns = 'workspace_id, environment, dataset, level, block, rollup, key'

const blockSeconds = (level: number) => (sliceMs / 1_000) * 4 ** level
const blockStart = (block: string, level: number) =>
  `to_timestamp((${block})::double precision * ${blockSeconds(level)})`

const joinFacts = (dataset: Dataset, level: number) =>
  `${blocks} join ${factTableName(dataset)} f on f.workspace_id = $1 and f.environment = $2
     and f.created_at >= ${blockStart('b.block', level)} and f.created_at < ${blockStart('b.block + 1', level)}`

const joinParts = (table: string, { name, rollups }: Dataset, level: number) =>
  `${blocks} join ${table} r on r.workspace_id = $1 and r.environment = $2 and r.dataset = '${name}'
     and r.rollup in (${rollups.map((_, number) => number).join(', ')})
     and r.level = ${level - 1} and r.block between b.block * 4 and b.block * 4 + 3`

const keySql = (dimensions: readonly string[]) =>
  `array[${dimensions.map((name) => `${columnName(name)}::text`).join(', ')}]::text[]`

/** Deletes the stored rows of the blocks, including those of rollups no longer declared. */
const clearStatements = ({ name }: Dataset, level: number): string[] =>
  ['rollups', 'rollup_sketches'].map(
    (table) =>
      `delete from ${table} where workspace_id = $1 and environment = $2 and dataset = '${name}' and level = ${level}
         and block = any($3::text[]::integer[])`,
  )

/** One statement for each rollup. */
const sumFacts = (dataset: Dataset, level: number): string[] =>
  dataset.rollups.map(({ dimensions }, number) => {
    const sums = listSums(dataset).map((sum) => `(${sum})::double precision`)
    return `insert into rollups (${columns}, sums)
      select $1, $2, '${dataset.name}', ${level}, b.block, ${number}, ${keySql(dimensions)}, array[${sums.join(', ')}]
        from ${joinFacts(dataset, level)} group by ${['b.block', ...dimensions.map(columnName)].join(', ')}`
  })

/** Computed from the four parts of each block. */
function sumParts(dataset: Dataset, level: number): string[] {
  const sums = listSums(dataset).map((_, index) => `sum(r.sums[${index + 1}])`)
  return [
    `insert into rollups (${columns}, sums)
     select $1, $2, '${dataset.name}', ${level}, b.block, r.rollup, r.key, array[${sums.join(', ')}]
       from ${joinParts('rollups', dataset, level)} group by b.block, r.rollup, r.key`,
  ]
}

const sketchFacts = (dataset: Dataset, level: number): string[] =>
  dataset.rollups.flatMap(({ dimensions, sketches }, number) =>
    (sketches ? listSketches(dataset) : []).map(
      (sketch) => `insert into rollup_sketches (${columns}, sketch, buckets, counts)
        select $1, $2, '${dataset.name}', ${level}, block, ${number}, key, '${sketchName(sketch)}',
            array_agg(bucket order by bucket), array_agg(weight order by bucket)
          from (select b.block, ${keySql(dimensions)} as key, ${bucketSql(sketch)} as bucket,
              ${mergeSql(sketch, weightSql(sketch))}::integer as weight
            from ${joinFacts(dataset, level)} where ${columnName(sketch.column)} is not null
            group by ${['b.block', ...dimensions.map(columnName), bucketSql(sketch)].join(', ')}) s
          group by block, key`,
    ),
  )

const sketchParts = (dataset: Dataset, level: number): string[] =>
  listSketches(dataset).map(
    (sketch) =>
      `insert into rollup_sketches (${columns}, sketch, buckets, counts)
       select $1, $2, '${dataset.name}', ${level}, block, rollup, key, '${sketchName(sketch)}',
           array_agg(bucket order by bucket), array_agg(weight order by bucket)
         from (select b.block, r.rollup, r.key, u.bucket, ${mergeSql(sketch, 'u.weight')}::integer as weight
           from ${joinParts('rollup_sketches', dataset, level)}
           cross join lateral unnest(r.buckets, r.counts) as u (bucket, weight)
           where r.sketch = '${sketchName(sketch)}'
           group by b.block, r.rollup, r.key, u.bucket) s
         group by block, rollup, key`,
  )

/** The statements that recompute blocks of a level. */
export function sumUpStatements(dataset: Dataset, level: number): string[] {
  const sums = level === 0 ? sumFacts : sumParts
  const sketches = level === lowestSketchLevel ? sketchFacts : sketchParts
  return [
    ...clearStatements(dataset, level),
    ...sums(dataset, level),
    ...(level < lowestSketchLevel ? [] : sketches(dataset, level)),
  ]
}
