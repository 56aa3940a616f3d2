import type { StoredResponse } from '@opsplane/contracts'
import { claimMs, type IdempotencyStore } from '@opsplane/http'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { startEvery } from '../periodic.js'

const claimEnd = `now() + interval '${claimMs} ms'`

interface Row {
  fingerprint: string
  status: number | null
  body: unknown
  headers: Record<string, string> | null
  dead: boolean
}

/** Requests by Idempotency-Key, kept for 24 h. Keys are already bound to workspace, principal and route. */
export function createIdempotencyStore(sql: Database['sql']): IdempotencyStore {
  const query = async <Result extends object>(text: string, parameters: (string | number | null)[]) => {
    try {
      return await sql.unsafe<Result[]>(text, parameters, { prepare: true })
    } catch (error) {
      throw translatePostgresError(error)
    }
  }
  const dead = `(expires_at <= now() or (status is null and locked_until <= now()))`

  return {
    async find(key) {
      const [row] = await query<Row>(
        `select fingerprint, status, body, headers, ${dead} as dead from idempotency_keys where key = $1`,
        [key],
      )
      if (!row) return undefined
      if (row.dead) {
        // Out of the way of the request that is about to insert the key in its commit.
        await query(`delete from idempotency_keys where key = $1 and ${dead}`, [key])
        return undefined
      }
      return {
        fingerprint: row.fingerprint,
        response: row.status === null ? null : toResponse(row, row.status),
      }
    },
    async claim(key, fingerprint) {
      const rows = await query(
        `insert into idempotency_keys as k (key, fingerprint, locked_until)
         values ($1, $2, ${claimEnd})
         on conflict (key) do update set fingerprint = excluded.fingerprint, status = null, body = null,
           headers = null, created_at = now(), locked_until = excluded.locked_until, expires_at = excluded.expires_at
         where k.expires_at <= now() or (k.status is null and k.locked_until <= now())
         returning key`,
        [key, fingerprint],
      )
      return rows.length === 1
    },
    async hold(key) {
      await query(
        `update idempotency_keys set locked_until = ${claimEnd} where key = $1 and status is null`,
        [key],
      )
    },
    async complete(key, { status, body, headers }) {
      await query(
        `update idempotency_keys set status = $2::text::int, body = $3::text::json, headers = $4::text::json,
           locked_until = null where key = $1 and status is null`,
        [key, String(status), JSON.stringify(body ?? null), headers ? JSON.stringify(headers) : null],
      )
    },
    async release(key) {
      await query('delete from idempotency_keys where key = $1 and status is null', [key])
    },
  }
}

function toResponse({ body, headers }: Row, status: number): StoredResponse {
  return { status, body, ...(headers ? { headers } : {}) }
}

/** Removes keys older than their 24 h, now and every hour, in small bites, until closed. */
export const startIdempotencyPurge = (sql: Database['sql'], log: Logger) =>
  startEvery(3_600_000, log, 'expired idempotency keys could not be removed', async (closing) => {
    for (let removed = 1; removed > 0 && !closing.aborted; ) {
      const result = await sql`
        delete from idempotency_keys where key in
          (select key from idempotency_keys where expires_at <= now() order by expires_at limit 1000)`
      removed = result.count
    }
  })
