import { type CommandMeta, IdempotencyRaceError, stringifyExact } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'

/**
 * Stores the response for the request's Idempotency-Key in the transaction of its effect. Only the key named by the
 * proof of the actor can be stored. Throws IdempotencyRaceError if another request stored it first.
 */
export async function keepAnswer(
  tx: StatementRunner,
  { idempotency }: CommandMeta,
  data: unknown,
): Promise<void> {
  if (!idempotency) return
  const { fingerprint, respond } = idempotency
  const { status, body, headers } = respond(data)
  const parameters = [
    fingerprint,
    String(status),
    stringifyExact(body ?? null),
    headers ? JSON.stringify(headers) : null,
  ]
  const [kept] = await tx.unsafe<{ kept: boolean }[]>(
    'select studio.keep_answer($1::text, $2::text::int4, $3::text::json, $4::text::json) as kept',
    parameters,
    { prepare: true },
  )
  if (!kept?.kept) throw new IdempotencyRaceError()
}
