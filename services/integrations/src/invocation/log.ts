import type { TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { connectorInvocations } from '../schema.js'

/** One invocation to be stored; its texts are redacted but not yet truncated. */
export interface InvocationEntry {
  id: string
  tenant: TenantScope
  connectorId: string
  action: string
  trigger: string
  run: string | null
  callerId: string
  requestId: string | null
  attempts: number
  durationMs: number
  error: { code: string; message: string } | null
  request: string
  response: string | null
  createdAt: string
}

const keptBytes = 64 * 1024
const keptOfMessage = 2_000

export type StoreInvocation = (entry: InvocationEntry) => Promise<void>

/**
 * Stores invocations.
 *
 * @param keptDays - retention in days
 */
export function createInvocationLog({ db }: Pick<Database, 'db'>, keptDays: number): StoreInvocation {
  return async ({ tenant, error, request, response, ...entry }) => {
    const cappedRequest = capped(request)
    const cappedResponse = response === null ? null : capped(response)
    await db.insert(connectorInvocations).values({
      ...entry,
      ...tenant,
      status: error === null ? 'succeeded' : 'failed',
      errorCode: error?.code ?? null,
      errorMessage: error?.message.slice(0, keptOfMessage) ?? null,
      request: cappedRequest.text,
      response: cappedResponse?.text ?? null,
      truncated: cappedRequest.cut || cappedResponse?.cut === true,
      expiresAt: sql`now() + ${keptDays} * interval '1 day'`,
    })
  }
}

/** At most 64 KiB, cut between characters. Replaces zero bytes, which Postgres does not allow in texts. */
function capped(text: string): { text: string; cut: boolean } {
  const clean = text.replaceAll('\0', '\ufffd')
  if (Buffer.byteLength(clean) <= keptBytes) return { text: clean, cut: false }
  const bytes = Buffer.from(clean).subarray(0, keptBytes)
  return { text: bytes.toString().replace(/\ufffd$/, ''), cut: true }
}
