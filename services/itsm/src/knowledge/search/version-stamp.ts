import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Tells one set of versions from another, whatever order they are read in. Added up by themselves, versions cannot: when
 * an article is retired and another one published, the sum often stays.
 */
export const versionStamp = (id: PgColumn, version: PgColumn): SQL =>
  sql`sum(hashtextextended(${id} || '.' || ${version}, 0))`
