/*
 * Statements that read many items or relations by their ids. They return the table's own columns. `$1` and `$2` are the
 * tenant, and `$3` is the list of ids unless stated otherwise.
 */

/**
 * Subquery for the rows that match a condition on ids, then filtered by tenant. The two steps are separate (`offset 0`)
 * because until the tables are analyzed after an import, Postgres estimates one row per tenant. It would then find rows
 * by the tenant condition and compare all of them with each id.
 *
 * Lists of ids are joined with `unnest` rather than compared with `any`. For `any`, Postgres weighs every element
 * against its statistics, which takes longer than the query itself for thousands of ids.
 */
export const rowsByIds = (table: 'configuration_items' | 'ci_relations', found: string): string =>
  `(select * from (select * from ${table} where ${found} offset 0) found
     where workspace_id = $1 and environment = $2) ${table}`

/** Relations from the given items, of the types listed by a parameter. */
export const relationsFromItems = (types: string): string =>
  rowsByIds('ci_relations', `source_id in (select unnest($3::text[])) and type = any(${types}::text[])`)

/** Relations to the given items, of the types listed by a parameter. */
export const relationsToItems = (types: string): string =>
  rowsByIds('ci_relations', `target_id in (select unnest($3::text[])) and type = any(${types}::text[])`)
