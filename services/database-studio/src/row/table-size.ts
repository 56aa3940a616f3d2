import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { ResolvedTable } from './resolved-table.js'

/** Minimum record size in bytes, used to estimate a table without statistics. */
const bytesOfRecord = 100

/**
 * Estimates the number of records: the rows per page when Postgres last counted them, times the current number of
 * pages. Cheap for any table size. Runs as the service, because tenants may not read the catalogue.
 */
export async function estimateRows(
  sql: StatementRunner,
  { space, table }: Pick<ResolvedTable, 'space' | 'table'>,
): Promise<number> {
  const [row] = await sql.unsafe<{ rows: string }[]>(
    `select round(case when c.relpages > 0 and c.reltuples >= 0
        then c.reltuples * (pg_relation_size(c.oid) / 8192.0) / c.relpages
        else pg_relation_size(c.oid) / ${bytesOfRecord}.0 end)::text as rows
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`,
    [space.schema, table.slug],
    { prepare: true },
  )
  return Number(row?.rows ?? 0)
}

const Explained = z.object({
  'QUERY PLAN': z.tuple([z.object({ Plan: z.object({ 'Plan Rows': z.number() }) })]),
})

/** The number of rows Postgres expects, from the single row that EXPLAIN returns. */
export function parseExpectedRows(explained: unknown): number {
  const { 'QUERY PLAN': plan } = Explained.parse(explained)
  return plan[0].Plan['Plan Rows']
}
