import { ApiError, type ErrorDetail } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { TableName } from './column-sql.js'
import type { RowCheck } from './row-checks.js'

const maxExamples = 5

const Found = z.object({
  rows: z.number(),
  examples: z.array(z.object({ id: z.string(), value: z.string().nullable() })).nullable(),
})

/**
 * Finds rows that prevent a change. Throws `conflict` with their number and examples, both for rows that make it
 * impossible and, unless `forced`, for rows that would lose values.
 */
export async function runChecks(
  tx: StatementRunner,
  checks: readonly RowCheck[],
  forced: boolean,
): Promise<void> {
  const details: ErrorDetail[] = []
  for (const { says, loses, rows } of checks) {
    if (loses && forced) continue
    const [row] = await tx.unsafe(`with found as materialized (${rows})
      select (select count(*) from found)::float8 as rows,
        (select json_agg(json_build_object('id', id, 'value', left(value, 200))) from (select * from found limit ${maxExamples}) example) as examples`)
    const { rows: count, examples } = Found.parse(row)
    if (count === 0) continue
    details.push({
      in: 'body',
      path: '',
      code: loses ? 'loses_values' : 'rows_in_the_way',
      message: `In ${count} ${count === 1 ? 'record' : 'records'} ${says}.${loses ? ' Set force to continue.' : ''}`,
      params: { rows: count, examples: examples ?? [] },
    })
  }
  const [first] = details
  if (first) throw new ApiError('conflict', first.message, { details })
}

/** Minimum number of rows for which a rewrite counts as a long lock. */
const largeRows = 100_000

/** Throws `conflict` if a large table would be locked while it is rewritten. */
export async function refuseLongLock(tx: StatementRunner, { schema, slug }: TableName): Promise<void> {
  const [row] = await tx.unsafe<{ rows: number }[]>(
    `select reltuples::float8 as rows from pg_class
     where relname = $1 and relnamespace = (select oid from pg_namespace where nspname = $2)`,
    [slug, schema],
  )
  if (!row || row.rows < largeRows) return
  const message = `All ${Math.round(row.rows)} records would be rewritten, which locks the table meanwhile. Set force to continue.`
  const detail: ErrorDetail = {
    in: 'body',
    path: '',
    code: 'locks_table',
    message,
    params: { rows: row.rows },
  }
  throw new ApiError('conflict', message, { details: [detail] })
}
