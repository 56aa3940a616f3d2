import {
  type Actor,
  type ChangeData,
  type EventResource,
  type EventSource,
  type Instant,
  stringifyExact,
  type TenantScope,
} from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { translatePostgresError } from '@opsplane/postgres'

/** An event without a decider: of a machine's own history, or of rows changed by SQL. */
export interface JournalEntry {
  /** The type of the journal; must not be the name of a read-model table. */
  streamType: string
  /** Unique across all streams of the service. */
  streamId: string
  tenant: TenantScope
  type: string
  actor: Actor
  resource: EventResource
  /** `before` and `after` may contain only the changed fields, so that n steps of a long history cost O(n). */
  data: ChangeData
  requestId?: string | null
  causationId?: string | null
  source?: EventSource | null
  /** The database's current time if absent. */
  createdAt?: Instant
}

/**
 * Appends to a journal without a version check, through the function that triggers call; in the caller's
 * transaction if `sql` is one. Concurrent writers of one stream wait for each other. Returns the position. Throws
 * if the data is larger than a message may be, or if the stream belongs to another tenant.
 */
export async function appendJournal(sql: StatementRunner, entry: JournalEntry): Promise<string> {
  const { tenant, requestId = null, causationId = null, source = null, createdAt = null } = entry
  const parameters = [
    ...[entry.streamType, entry.streamId, tenant.workspaceId, tenant.environment, entry.type],
    ...[entry.actor, entry.resource, entry.data].map((part) => stringifyExact(part)),
    ...[requestId, causationId, source && JSON.stringify(source), createdAt],
  ]
  try {
    const [row] = await sql.unsafe<{ position: string }[]>(statement, parameters, { prepare: true })
    if (!row) throw new Error('a journal has answered with no position')
    return row.position
  } catch (error) {
    throw translatePostgresError(error)
  }
}

const statement = `
  select append_journal($1, $2, $3, $4, $5, $6::text::json, $7::text::json, $8::text::json,
    $9::text, $10::text, $11::text::json, coalesce($12::text::timestamptz, clock_timestamp())) as position`
