import { columnOf, type Dataset, factTypes, tableOf } from '../dataset/dataset.js'
import { dueSql, sliceSeconds } from './rest.js'

/**
 * The one statement that writes facts of a dataset: `$1` ids, `$2` workspaces, `$3` environments, `$4` versions, `$5`
 * instants, `$6` when the events happened, and then a list of texts for each column. No id may come twice. Of an id the
 * highest version stays; what changed is counted for the tenant and marked in the rollups. `anew`: what is there in the same
 * version is written as well.
 */
export function factStatement(dataset: Dataset, { anew = false } = {}): string {
  const names = Object.keys(dataset.columns).map(columnOf)
  const types = Object.values(dataset.columns).map(({ type }) => factTypes[type])
  const base = ['id', 'workspace_id', 'environment', 'version', 'created_at']
  const given = [...base, 'happened_at', ...names]
  const arrays = given.map((_, index) => `$${index + 1}::text[]`)
  const values = [
    ...['id', 'workspace_id', 'environment', 'version::bigint', 'created_at::timestamptz'],
    ...names.map((name, index) => `${name}::${types[index]}`),
  ]
  const replaced = ['version', ...names]
  return `
    with given as (
      select * from unnest(${arrays.join(', ')}) as t (${given.join(', ')})),
    written as (
      insert into ${tableOf(dataset)} as f (${[...base, ...names].join(', ')})
      select ${values.join(', ')} from given order by id
      on conflict (id) do update set ${replaced.map((name) => `${name} = excluded.${name}`).join(', ')}
        where f.version ${anew ? '<=' : '<'} excluded.version
      returning id, workspace_id, environment, created_at),
    marked as (${markStatement(dataset, 'written')})
    insert into fact_versions as v (workspace_id, environment, dataset, version, newest_at)
    select w.workspace_id, w.environment, '${dataset.name}', 1, max(g.happened_at::timestamptz)
      from written w join given g using (id) group by 1, 2 order by 1, 2
    on conflict (workspace_id, environment, dataset) do update
      set version = v.version + 1, newest_at = greatest(v.newest_at, excluded.newest_at)
    returning workspace_id as "workspaceId", environment`
}

/** Marks the quarter hours that facts of a dataset lie in, of a table or a part of a statement. */
const markStatement = ({ name }: Dataset, from: string) => `
      insert into rollup_marks as m (id, workspace_id, environment, dataset, level, block, due_at)
      select concat_ws('/', workspace_id, environment, '${name}', 0, block), workspace_id, environment,
          '${name}', 0, block, ${dueSql(0)} from (
        select distinct workspace_id, environment, floor(extract(epoch from created_at) / ${sliceSeconds})::integer as block
          from ${from} order by 1, 2, 3) b
      on conflict (id) do update set due_at = m.due_at`

/** Marks whatever there are facts of. */
export const markAll = (dataset: Dataset): string => markStatement(dataset, tableOf(dataset))
