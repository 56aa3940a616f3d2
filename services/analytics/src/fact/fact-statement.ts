import { columnName, type Dataset, factTableName, factTypes } from '../dataset/dataset.js'
import { dueSql, sliceSeconds } from './block-schedule.js'

const base = ['id', 'workspace_id', 'environment', 'version', 'created_at']
const factColumns = ({ columns }: Dataset) => [
  ...base,
  'happened_at',
  ...Object.keys(columns).map(columnName),
]

/**
 * Builds the single statement that writes facts of some datasets. Its parameters are text arrays, dataset by dataset:
 * ids, workspaces, environments, versions, creation instants, event times, and one array for each column. No id may
 * occur twice. The highest version of an id wins; changes are counted for the tenant and marked in the rollups.
 * `overwrite`: also writes facts that exist in the same version. Rows are locked by dataset and id, then the counters
 * by tenant, so that replicas do not deadlock.
 */
export function factStatement(datasets: readonly Dataset[], { overwrite = false } = {}): string {
  let parameters = 0
  const written = datasets.flatMap((dataset) => {
    const arrays = factColumns(dataset).map(() => `$${++parameters}::text[]`)
    return writeParts(dataset, arrays, overwrite)
  })
  const all = datasets
    .map(
      ({ name }) =>
        `select '${name}' as dataset, w.workspace_id, w.environment, w.created_at, g.happened_at from ${name}_written w
           join ${name}_given g using (id)`,
    )
    .join(' union all ')
  return `
    with ${written.join(', ')},
    written as materialized (${all}),
    marked as (${markStatement('written')})
    insert into fact_versions as v (workspace_id, environment, dataset, version, newest_at)
    select workspace_id, environment, dataset, 1, max(happened_at::timestamptz) from written group by 1, 2, 3 order by 1, 2, 3
    on conflict (workspace_id, environment, dataset) do update
      set version = v.version + 1, newest_at = greatest(v.newest_at, excluded.newest_at)
    returning workspace_id as "workspaceId", environment`
}

/** Two parts of the statement for one dataset: the given facts, and those of them that were written. */
function writeParts(dataset: Dataset, arrays: readonly string[], overwrite: boolean): string[] {
  const { name, columns } = dataset
  const names = Object.keys(columns).map(columnName)
  const values = [
    ...['id', 'workspace_id', 'environment', 'version::bigint', 'created_at::timestamptz'],
    ...Object.values(columns).map(({ type }, index) => `${names[index]}::${factTypes[type]}`),
  ]
  const replaced = ['version', ...names]
  return [
    `${name}_given as materialized (
      select * from unnest(${arrays.join(', ')}) as t (${factColumns(dataset).join(', ')}))`,
    `${name}_written as (
      insert into ${factTableName(dataset)} as f (${[...base, ...names].join(', ')})
      select ${values.join(', ')} from ${name}_given order by id
      on conflict (id) do update set ${replaced.map((column) => `${column} = excluded.${column}`).join(', ')}
        where f.version ${overwrite ? '<=' : '<'} excluded.version
      returning id, workspace_id, environment, created_at)`,
  ]
}

/**
 * Marks the quarter hours the facts lie in. `from`: a part of the statement, or a query in parentheses, with rows that
 * name their dataset.
 */
const markStatement = (from: string) => `
      insert into rollup_marks as m (id, workspace_id, environment, dataset, level, block, due_at)
      select concat_ws('/', workspace_id, environment, dataset, 0, block), workspace_id, environment,
          dataset, 0, block, ${dueSql(0)} from (
        select distinct dataset, workspace_id, environment, floor(extract(epoch from created_at) / ${sliceSeconds})::integer as block
          from ${from} order by 1, 2, 3, 4) b
      on conflict (id) do update set due_at = m.due_at`

/** Marks all blocks for which facts exist. */
export const markAll = (dataset: Dataset): string =>
  markStatement(
    `(select '${dataset.name}' as dataset, workspace_id, environment, created_at from ${factTableName(dataset)}) f`,
  )
