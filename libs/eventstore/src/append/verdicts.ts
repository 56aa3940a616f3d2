import { quoteIdentifier, quoteLiteral } from '@opsplane/postgres'
import { lateralOne } from './columns.js'
import type { UniqueIndex } from './unique-indexes.js'

/**
 * The checks the append performs on its commits before it writes: common table expressions, and queries on them. A
 * verdict is `key` (the Idempotency-Key is taken), `raced` (an aggregate has changed), `relied` (a row the
 * decision depends on has changed), `blocked` (another transaction has locked one of its rows), `unique:<index>`,
 * or `later`.
 */
export interface Verdicts {
  parts: string[]
  /** Each selects a commit's number, the rank of the verdict among several, and the verdict. */
  losers: string[]
  /** Each selects number and verdict of commits that cannot share the statement with others. */
  later: string[]
}

interface Rows {
  table: string
  /** Name of the CTE with the rows, and prefix for the CTEs derived from it. */
  name: string
  /** Selects the rows by column, with the commit's number as `n`. */
  rows: string
  /** `skip locked`, or empty if the statement waits for locks. */
  skipping: string
}

/**
 * A commit is blocked if another transaction has locked a row it would write. It is rejected if a unique value is
 * taken.
 */
export function writeVerdicts({
  table,
  name,
  rows,
  skipping,
  uniques,
}: Rows & { uniques: readonly UniqueIndex[] }): Verdicts {
  const byId = `select from ${quoteIdentifier(table)} r where r.id = t.id`
  const all = uniques.map((index, place) =>
    uniqueVerdicts({ table, name, index, key: `${name}_key_${place}` }),
  )
  return {
    parts: [
      `${name} as materialized (${rows})`,
      `${name}_seen as materialized (select t.id from ${name} t, ${lateralOne(byId)} r)`,
      `${name}_locked as materialized (
        select t.id from (select id from ${name}_seen order by id) t, ${lateralOne(byId, `for no key update ${skipping}`)} r)`,
      ...all.flatMap(({ parts }) => parts),
    ],
    losers: [
      `select n, 3, 'blocked' from ${name}
       where id in (select id from ${name}_seen) and id not in (select id from ${name}_locked)`,
      ...all.flatMap(({ losers }) => losers),
    ],
    later: all.flatMap(({ later }) => later),
  }
}

/** Rows the commit itself writes are left out: the unique index checks them during the write. */
function uniqueVerdicts(of: { table: string; name: string; index: UniqueIndex; key: string }): Verdicts {
  const { table, name, index, key } = of
  const computed = index.generated.map(
    ({ name: column, expression }) => `${expression} as ${quoteIdentifier(column)}`,
  )
  const keys = index.columns.map((expression, place) => `${expression} as key_${place}`)
  const equals = (left: (place: number) => string, right: string) =>
    index.columns.map((_, place) => `${left(place)} = ${right}.key_${place}`).join(' and ')
  const predicate = index.predicate ?? 'true'
  return {
    parts: [
      `${key} as materialized (
        select n, id, ${keys.join(', ')} from (select *${computed.map((each) => `, ${each}`).join('')} from ${name}) t
        where ${predicate})`,
    ],
    losers: [
      `select n, 4, ${quoteLiteral(`unique:${index.name}`)} from ${key} k, ${lateralOne(`
         select from ${quoteIdentifier(table)} r where ${equals((place) => `(${index.columns[place]})`, 'k')} and (${predicate})
           and r.id <> k.id and not exists (select from ${name} own where own.n = k.n and own.id = r.id)`)} taken`,
    ],
    later: [
      `select k.n, 'later' from ${key} k join ${key} earlier
         on earlier.n < k.n and ${equals((place) => `earlier.key_${place}`, 'k')}
       where k.n not in (select n from rejected) and earlier.n not in (select n from rejected)`,
    ],
  }
}

/** Locks the rows a commit depends on against writes until the commit, and reads their latest committed state. */
export function dependencyVerdicts({ table, name, rows, skipping }: Rows): Verdicts {
  const sameRow = 'r.id = t.id and r.workspace_id = t.workspace_id and r.environment = t.environment'
  return {
    parts: [
      `${name} as materialized (${rows})`,
      `${name}_seen as materialized (
        select t.n, t.id, t.fields from ${name} t, ${lateralOne(`select from ${quoteIdentifier(table)} r where ${sameRow}`)} r)`,
      `${name}_locked as materialized (
        select t.n, t.id, r.state::jsonb @> t.fields::jsonb as held
        from (select * from ${name}_seen order by id) t, ${lateralOne(`select r.state from ${quoteIdentifier(table)} r where r.id = t.id`, `for share ${skipping}`)} r)`,
    ],
    losers: [
      `select t.n, case when s.id is null or not l.held then 2 else 3 end,
         case when s.id is null or not l.held then 'relied' else 'blocked' end
       from ${name} t left join ${name}_seen s on s.n = t.n and s.id = t.id left join ${name}_locked l on l.n = t.n and l.id = t.id
       where l.held is not true`,
    ],
    later: [],
  }
}
