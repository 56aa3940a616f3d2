import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { ResolvedTable } from './resolved-table.js'

/** Of a table without statistics: by the least size of its records. */
const bytesOfRecord = 100

/**
 * How many records a table has about: as many to a page as when Postgres last counted them, for the pages there are now.
 * Cheap, however large it is. Asked as the service: tenants do not read the catalogue.
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

/** How many rows Postgres expects, of the one row EXPLAIN answers. */
export function parseExpectedRows(explained: unknown): number {
  const { 'QUERY PLAN': plan } = Explained.parse(explained)
  return plan[0].Plan['Plan Rows']
}
