import { randomUUID } from 'node:crypto'
import type { StoredResponse } from '@opsplane/contracts'
import { claimMs, type IdempotencyStore } from '@opsplane/http'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { startEvery } from '../periodic.js'
import { responseColumns } from './response-columns.js'

const claimed = 'key = $1 and claim = $2 and status is null'
const claimEnd = `now() + interval '${claimMs} ms'`

interface Row {
  fingerprint: string
  status: number | null
  body: unknown
  headers: Record<string, string> | null
  dead: boolean
}

/** Stores responses by Idempotency-Key for 24 h. Keys are already bound to workspace, principal and route. */
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
        // Makes room for the request that is about to insert the key in its commit.
        await query(`delete from idempotency_keys where key = $1 and ${dead}`, [key])
        return undefined
      }
      return {
        fingerprint: row.fingerprint,
        response: row.status === null ? null : toResponse(row, row.status),
      }
    },
    async claim(key, fingerprint, isRepetition) {
      const [row] = await query<{ claim: string }>(
        `insert into idempotency_keys as k (key, fingerprint, locked_until, claim)
         values ($1, $2, ${claimEnd}, $3)
         on conflict (key) do update set fingerprint = excluded.fingerprint, status = null, body = null, headers = null,
           created_at = now(), locked_until = excluded.locked_until, expires_at = excluded.expires_at, claim = excluded.claim
         where k.expires_at <= now() or (k.status is null and (k.locked_until <= now()
           or ($4::text::bool and k.fingerprint = excluded.fingerprint)))
         returning claim`,
        [key, fingerprint, randomUUID(), String(isRepetition)],
      )
      return row?.claim
    },
    async renew(key, claim) {
      await query(`update idempotency_keys set locked_until = ${claimEnd} where ${claimed}`, [key, claim])
    },
    async complete(key, claim, response) {
      const { status, body, headers } = responseColumns(response)
      await query(
        `update idempotency_keys set status = $3::text::int, body = $4::text::json, headers = $5::text::json,
           locked_until = null where ${claimed}`,
        [key, claim, String(status), body, headers],
      )
    },
    async replace(key, fingerprint, response) {
      const { status, body, headers } = responseColumns(response)
      await query(
        `insert into idempotency_keys as k (key, fingerprint, status, body, headers)
         values ($1, $2, $3::text::int, $4::text::json, $5::text::json)
         on conflict (key) do update set status = excluded.status, body = excluded.body, headers = excluded.headers
         where k.fingerprint = excluded.fingerprint`,
        [key, fingerprint, String(status), body, headers],
      )
    },
    async release(key, claim) {
      await query(`delete from idempotency_keys where ${claimed}`, [key, claim])
    },
  }
}

function toResponse({ body, headers }: Row, status: number): StoredResponse {
  return { status, body, ...(headers ? { headers } : {}) }
}

/** Deletes keys older than 24 h, now and every hour, in small batches, until closed. */
export const startIdempotencyPurge = (sql: Database['sql'], log: Logger) =>
  startEvery(3_600_000, log, 'expired idempotency keys could not be removed', async (closing) => {
    for (let removed = 1; removed > 0 && !closing.aborted; ) {
      const result = await sql`
        delete from idempotency_keys where key in
          (select key from idempotency_keys where expires_at <= now() order by expires_at limit 1000)`
      removed = result.count
    }
  })
