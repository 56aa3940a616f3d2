import { type CommandMeta, IdempotencyRaceError } from '@opsplane/contracts'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../consume/transaction.js'
import { responseColumns } from './response-columns.js'

/**
 * Stores the response under the request's Idempotency-Key in the transaction of its effect, for services that open
 * that transaction themselves. Throws IdempotencyRaceError if another request was first.
 */
export async function storeIdempotentResponse(
  tx: Transaction,
  { idempotency }: CommandMeta,
  data: unknown,
): Promise<void> {
  if (!idempotency) return
  const { key, fingerprint, respond } = idempotency
  const { status, body, headers } = responseColumns(respond(data))
  const kept = await tx.execute(sql`
    insert into idempotency_keys (key, fingerprint, status, body, headers)
    values (${key}, ${fingerprint}, ${status}, ${body}::text::json, ${headers}::text::json)
    on conflict (key) do nothing returning key`)
  if (kept.length === 0) throw new IdempotencyRaceError()
}
