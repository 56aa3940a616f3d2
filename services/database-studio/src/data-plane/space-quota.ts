import type { StatementRunner } from '@opsplane/postgres'
import { type Limits, quotaExceeded } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'
import type { Space } from './space.js'

/** Throws `quota_exceeded` if the tables of a space have reached the workspace's limit in bytes. */
export type CheckSpaceQuota = (space: Space) => Promise<void>

/** Milliseconds for which a measured size is cached. Writes in that time may exceed the limit. */
const freshMs = 10_000
const maxRemembered = 20_000

export function createCheckSpaceQuota(sql: StatementRunner, limits: Limits): CheckSpaceQuota {
  const sizes = new LRUCache<string, Promise<number>>({ max: maxRemembered, ttl: freshMs })

  async function measure({ schema }: Space): Promise<number> {
    const [row] = await sql.unsafe<{ bytes: string }[]>(
      `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::text as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
      [schema],
      { prepare: true },
    )
    return Number(row?.bytes ?? 0)
  }

  return async (space) => {
    const maxBytes = limits.of('recordBytes', space.workspaceId)
    if (maxBytes === 0) return
    const size = sizes.get(space.id) ?? measure(space)
    if (!sizes.has(space.id)) {
      size.catch(() => sizes.delete(space.id))
      sizes.set(space.id, size)
    }
    if ((await size) >= maxBytes) throw quotaExceeded('recordBytes', maxBytes)
  }
}
