import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

interface Scan {
  table: KeysetTable
  conditions: (SQL | undefined)[]
  /** Read by one ordered scan per value. */
  each: AnyOf | undefined
  sort: Sort
}

interface Search {
  /** Finds all matches by an index. */
  condition: SQL
  /** The same condition for single rows: fast for a few rows, too slow for a whole list. */
  ofRow: SQL | undefined
}

/** Number of rows of a list to test for a search before an index is used to find all matches. */
const nearest = 2_000
/** Number of rows to test if the nearest ones contain so many matches that the page is likely to be full by then. */
const farther = 12_000
/**
 * Maximum number of matches to sort. If there are more, they are so frequent that walking on in order soon fills a
 * page.
 */
const maxSorted = 5_000

/** The first rows in order; with `each`, one scan per value, merged. */
export function orderedScanSql(scan: Scan, limit: number): SQL {
  const { table, each } = scan
  if (!each) return first(scan, undefined, limit)
  const scans = each.values.map((value) => sql`(${first(scan, eq(each.column, value), limit)})`)
  // Aliased to the table's own name, so that its columns can be referenced in the same way on every level.
  return sql`select * from (${sql.join(scans, sql` union all `)}) ${table} order by ${orderOf(scan)} limit ${limit}`
}

/**
 * The first matches in order. Which strategy is fast depends on how many rows match and where they are, which
 * statistics over all tenants and times do not show. Each strategy is therefore abandoned at a bound, and Postgres
 * runs the next one only then: test the nearest rows, and more rows if those contain enough matches; find all
 * matches by their index and sort them; walk in order to the end. If single rows are slow to test (`ofRow`), they
 * are not walked: then all matches are sorted, however many.
 */
export function searchSql(scan: Scan, { condition, ofRow }: Search, limit: number): SQL {
  const { table, conditions, each } = scan
  const order = orderOf(scan)
  const place = sql`${table.id}, ${scan.sort.column}`
  const all = and(...conditions, each && sql`${each.column} in (${sql.join([...each.values], sql`, `)})`)
  // An `is true` test cannot use the search index, so the index of the order is walked.
  const walking = and(all, sql`(${condition}) is true`)
  const few = sql`(select count(*) from few) <= ${maxSorted}`
  const promising = Math.ceil((limit * nearest) / farther)
  const notNear = sql`not (select yes from near_will_do)`
  const notFound = sql`${notNear} and (select count(*) from far) < ${limit}`
  const far = ofRow
    ? sql`select ${place} from near ${table} where false`
    : sql`select ${place} from (${orderedScanSql(scan, farther)}) ${table}
        where ${condition} and ${notNear} and (select count(*) from near) >= ${promising} order by ${order} limit ${limit}`
  const unfound = sql`${notFound} and not (${few})`
  const inEach = { ...scan, conditions: [...conditions, sql`(${condition}) is true`, unfound] }
  const walkedRows = each?.leadsOrder
    ? sql`union all (select id from (${orderedScanSql(inEach, limit)}) ${table})`
    : sql`
    union all (select id from ${table} where ${walking} and ${unfound} order by ${order} limit ${limit})`
  return sql`
    with near as materialized (
      select ${place} from (${orderedScanSql(scan, nearest)}) ${table} where ${ofRow ?? condition} order by ${order} limit ${limit}
    ), near_will_do as materialized (
      select case when (select count(*) from near) >= ${limit} then true
        else not exists (select 1 from (${orderedScanSql(scan, nearest)}) ${table} offset ${nearest - 1}) end as yes
    ), far as materialized (
      ${far}
    ), found as materialized (
      select ${place} from ${table} where ${and(all, condition)}
    ), few as materialized (
      select * from found limit ${ofRow ? sql`all` : maxSorted + 1}
    ), sorted as materialized (
      select * from few ${table} where ${notFound} and ${ofRow ? sql`true` : few} order by ${order} limit ${limit}
    )
    select id from near where (select yes from near_will_do)
    union all select id from far where (select count(*) from far) >= ${limit}
    union all select id from sorted
    ${ofRow ? sql`` : walkedRows}`
}

function first(scan: Scan, condition: SQL | undefined, limit: number): SQL {
  const all = and(...scan.conditions, condition)
  return sql`select * from ${scan.table} where ${all} order by ${orderOf(scan)} limit ${limit}`
}

function orderOf({ table, sort }: Scan): SQL {
  const direction = sort.direction === 'asc' ? asc : desc
  return sql`${direction(sort.column)}, ${direction(table.id)}`
}

/** A column and the values it may have. */
export interface AnyOf {
  column: PgColumn
  values: readonly (string | number)[]
  /** Whether the order is indexed only within each value, so that it can be walked in no other way. */
  leadsOrder?: boolean
}

export interface KeysetTable extends PgTable {
  id: PgColumn
  workspaceId: PgColumn
  environment: PgColumn
  version: PgColumn
  state: PgColumn
}

export interface Sort {
  column: PgColumn
  direction: 'asc' | 'desc'
}
