import { columnOf, type Dataset, tableOf } from '../dataset/dataset.js'
import { sliceMs } from '../query/blocks.js'
import { allSketchesOf, allSumsOf, bucketSql, mergedSql, sketchName, weightSql } from '../query/measures.js'
import { lowestSketchLevel } from '../query/sources.js'

/** Blocks of one level of a dataset and tenant: `$1` workspace, `$2` environment, `$3` their numbers. */
const blocks = 'unnest($3::text[]::integer[]) as b (block)'
const columns = 'workspace_id, environment, dataset, level, block, rollup, key'

const lengthOf = (level: number) => (sliceMs / 1_000) * 4 ** level
const startOf = (block: string, level: number) =>
  `to_timestamp((${block})::double precision * ${lengthOf(level)})`

const factsIn = (dataset: Dataset, level: number) =>
  `${blocks} join ${tableOf(dataset)} f on f.workspace_id = $1 and f.environment = $2
     and f.created_at >= ${startOf('b.block', level)} and f.created_at < ${startOf('b.block + 1', level)}`

const partsIn = (table: string, { name, rollups }: Dataset, level: number) =>
  `${blocks} join ${table} r on r.workspace_id = $1 and r.environment = $2 and r.dataset = '${name}'
     and r.rollup in (${rollups.map((_, number) => number).join(', ')})
     and r.level = ${level - 1} and r.block between b.block * 4 and b.block * 4 + 3`

const keyOf = (dimensions: readonly string[]) =>
  `array[${dimensions.map((name) => `${columnOf(name)}::text`).join(', ')}]::text[]`

/** Takes out what was kept of the blocks, of rollups as well that are no longer declared. */
const clearStatements = ({ name }: Dataset, level: number): string[] =>
  ['rollups', 'rollup_sketches'].map(
    (table) =>
      `delete from ${table} where workspace_id = $1 and environment = $2 and dataset = '${name}' and level = ${level}
         and block = any($3::text[]::integer[])`,
  )

/** One statement for each rollup. */
const sumsOfFacts = (dataset: Dataset, level: number): string[] =>
  dataset.rollups.map(({ dimensions }, number) => {
    const sums = allSumsOf(dataset).map((sum) => `(${sum})::double precision`)
    return `insert into rollups (${columns}, sums)
      select $1, $2, '${dataset.name}', ${level}, b.block, ${number}, ${keyOf(dimensions)}, array[${sums.join(', ')}]
        from ${factsIn(dataset, level)} group by ${['b.block', ...dimensions.map(columnOf)].join(', ')}`
  })

/** Out of the four parts of each block. */
function sumsOfParts(dataset: Dataset, level: number): string[] {
  const sums = allSumsOf(dataset).map((_, index) => `sum(r.sums[${index + 1}])`)
  return [
    `insert into rollups (${columns}, sums)
     select $1, $2, '${dataset.name}', ${level}, b.block, r.rollup, r.key, array[${sums.join(', ')}]
       from ${partsIn('rollups', dataset, level)} group by b.block, r.rollup, r.key`,
  ]
}

const sketchesOfFacts = (dataset: Dataset, level: number): string[] =>
  dataset.rollups.flatMap(({ dimensions, sketches }, number) =>
    (sketches ? allSketchesOf(dataset) : []).map(
      (sketch) => `insert into rollup_sketches (${columns}, sketch, buckets, counts)
        select $1, $2, '${dataset.name}', ${level}, block, ${number}, key, '${sketchName(sketch)}',
            array_agg(bucket order by bucket), array_agg(weight order by bucket)
          from (select b.block, ${keyOf(dimensions)} as key, ${bucketSql(sketch)} as bucket,
              ${mergedSql(sketch, weightSql(sketch))}::integer as weight
            from ${factsIn(dataset, level)} where ${columnOf(sketch.column)} is not null
            group by ${['b.block', ...dimensions.map(columnOf), bucketSql(sketch)].join(', ')}) s
          group by block, key`,
    ),
  )

const sketchesOfParts = (dataset: Dataset, level: number): string[] =>
  allSketchesOf(dataset).map(
    (sketch) =>
      `insert into rollup_sketches (${columns}, sketch, buckets, counts)
       select $1, $2, '${dataset.name}', ${level}, block, rollup, key, '${sketchName(sketch)}',
           array_agg(bucket order by bucket), array_agg(weight order by bucket)
         from (select b.block, r.rollup, r.key, u.bucket, ${mergedSql(sketch, 'u.weight')}::integer as weight
           from ${partsIn('rollup_sketches', dataset, level)}
           cross join lateral unnest(r.buckets, r.counts) as u (bucket, weight)
           where r.sketch = '${sketchName(sketch)}'
           group by b.block, r.rollup, r.key, u.bucket) s
         group by block, rollup, key`,
  )

/** Everything that makes blocks of a level anew. */
export function sumUpStatements(dataset: Dataset, level: number): string[] {
  const sums = level === 0 ? sumsOfFacts : sumsOfParts
  const sketches = level === lowestSketchLevel ? sketchesOfFacts : sketchesOfParts
  return [
    ...clearStatements(dataset, level),
    ...sums(dataset, level),
    ...(level < lowestSketchLevel ? [] : sketches(dataset, level)),
  ]
}
