import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Hash of a set of versions that does not depend on their order. The sum of version numbers would not suffice: it often
 * stays the same when one article is retired and another published.
 */
export const versionStamp = (id: PgColumn, version: PgColumn): SQL =>
  sql`sum(hashtextextended(${id} || '.' || ${version}, 0))`
