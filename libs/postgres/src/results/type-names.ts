import { LRUCache } from 'lru-cache'
import type { StatementRunner } from '../database.js'

/** Postgres' type names by oid, in the order requested. */
export type TypeNames = (types: readonly number[]) => Promise<string[]>

const maxRemembered = 10_000

/** Reads type names from the catalogue, which tenants may not read, and caches them: oids are not reused. */
export function createTypeNames(sql: StatementRunner): TypeNames {
  const known = new LRUCache<number, string>({ max: maxRemembered })
  return async (types) => {
    const missing = [...new Set(types)].filter((type) => !known.has(type))
    if (missing.length > 0) {
      const found = await sql.unsafe<{ type: string; name: string }[]>(
        `select oid::text as type, case when typnamespace = 'pg_catalog'::regnamespace then format_type(oid, null) else typname end as name
         from pg_type where oid::text = any(string_to_array($1, ','))`,
        [missing.join()],
      )
      for (const { type, name } of found) known.set(Number(type), name)
    }
    return types.map((type) => known.get(type) ?? 'text')
  }
}
