import type { Drizzle } from '@opsplane/postgres'
import { and, type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { existsCondition, type PastOf, pastRows, pastStreamType } from './past.js'

/** A part of a statement, with parameters numbered from `$1`. */
interface StatementPart {
  text: string
  parameters: string[]
}

const Count = z.object({ count: z.coerce.number() })

/** The number of records created by the instant, including those deleted since. Stops counting at `maxCount`. */
export async function countCreated(db: Drizzle, of: PastOf, maxCount: number): Promise<number> {
  const [row] = await db.execute(
    sql`select count(*) as count from (select 1 from events where ${created(of)} limit ${maxCount}) counted`,
  )
  return Count.parse(row).count
}

/**
 * All rows that existed at an instant, as a table expression with the name and columns of the table. It looks up
 * each record created by then: `countCreated` returns how many those are.
 */
export function buildTableAt(of: PastOf): StatementPart {
  const { sql: text, params } = new PgDialect().sqlToQuery(sql`(
    select ${of.table}.* from (select stream_id from events where ${created(of)}) creation
      ${pastRows(of, sql`creation.stream_id`)}
    where ${existsCondition(of)}) ${of.table}`)
  return { text, parameters: z.array(z.string()).parse(params) }
}

/** The first event of each record; matches the index of creations. */
const created = ({ tenant, asOf, ...of }: PastOf): SQL | undefined =>
  and(
    sql`workspace_id = ${tenant.workspaceId} and environment = ${tenant.environment}`,
    sql`stream_type = ${pastStreamType(of)} and version = 1`,
    sql`created_at <= ${asOf}::text::timestamptz`,
  )
