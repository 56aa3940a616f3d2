import type { Drizzle } from '@opsplane/postgres'
import { and, type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { existsCondition, type PastOf, pastRows, pastStreamType } from './past.js'

/** A part of a statement, whose parameters are `$1` and so on. */
interface StatementPart {
  text: string
  parameters: string[]
}

const Count = z.object({ count: z.coerce.number() })

/** How many records had been created by then, those that are gone since among them. Counts no further than `most`. */
export async function countCreated(db: Drizzle, of: PastOf, most: number): Promise<number> {
  const [row] = await db.execute(
    sql`select count(*) as count from (select 1 from events where ${created(of)} limit ${most}) counted`,
  )
  return Count.parse(row).count
}

/**
 * All rows there were at an instant, to be selected from by the name of the table and with its columns. It looks up each
 * record created by then: `countCreated` tells how much that is.
 */
export function buildTableAt(of: PastOf): StatementPart {
  const { sql: text, params } = new PgDialect().sqlToQuery(sql`(
    select ${of.table}.* from (select stream_id from events where ${created(of)}) creation
      ${pastRows(of, sql`creation.stream_id`)}
    where ${existsCondition(of)}) ${of.table}`)
  return { text, parameters: z.array(z.string()).parse(params) }
}

/** The first event of each record: what the index of creations finds. */
const created = ({ tenant, asOf, ...of }: PastOf): SQL | undefined =>
  and(
    sql`workspace_id = ${tenant.workspaceId} and environment = ${tenant.environment}`,
    sql`stream_type = ${pastStreamType(of)} and version = 1`,
    sql`created_at <= ${asOf}::text::timestamptz`,
  )
