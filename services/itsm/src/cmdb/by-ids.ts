/*
 * Statements that ask for many items or relations by their ids, in the table's own columns. The tenant is `$1` and `$2`
 * of each, and a list of ids is `$3` unless it is said otherwise.
 */

/**
 * The rows that a condition on ids finds, of which those of the tenant are kept. One after the other: until the tables
 * are analyzed after an import, Postgres takes a tenant's rows for one row, and a condition next to the ids would be the
 * one it finds rows by. It then compares all of them with each id.
 *
 * Lists of ids are joined as `unnest`, not compared with `any`: for the latter Postgres weighs every element against
 * its statistics, which for thousands of them takes longer than the query.
 */
export const rowsByIds = (table: 'configuration_items' | 'ci_relations', found: string): string =>
  `(select * from (select * from ${table} where ${found} offset 0) found
     where workspace_id = $1 and environment = $2) ${table}`

/** Relations from the items to others, of the types that a parameter lists. */
export const relationsFromItems = (types: string): string =>
  rowsByIds('ci_relations', `source_id in (select unnest($3::text[])) and type = any(${types}::text[])`)

/** Relations to the items from others. */
export const relationsToItems = (types: string): string =>
  rowsByIds('ci_relations', `target_id in (select unnest($3::text[])) and type = any(${types}::text[])`)
