import { consecutiveFailuresToPause, systemActor } from '@opsplane/contracts'
import type { EventStore, Unit } from '@opsplane/eventstore'
import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import type { Target } from '../../webhook/target.js'
import type { WebhookAggregate } from '../../webhook/webhook-store.js'
import { type ResultRow, recordResults } from './record-statement.js'

/** The outcome of an attempt, as recorded. */
export interface AttemptRecording {
  row: Omit<ResultRow, 'seq'>
  target: Target
  eventId: string
  /** The endpoint answered 410. */
  gone: boolean
}

export interface RecordingOptions {
  database: Database
  store: EventStore
  webhooks: WebhookAggregate
  clock: Clock
  /** Names this replica on leases. Unchanged after a restart, so that the replica can reclaim its earlier leases. */
  owner: string
}

/**
 * Records results in the order in which attempts ended; resolves with the ids of their
 * webhooks that are now paused.
 */
export type RecordBatch = (batch: readonly AttemptRecording[]) => Promise<readonly string[]>

/** A webhook that must be paused because of these results is paused in the same transaction. */
export function createRecordBatch(options: RecordingOptions): RecordBatch {
  const { database, owner } = options
  const recording = { owner, failuresToPause: consecutiveFailuresToPause }

  async function recordAndPause(
    tx: Parameters<typeof recordResults>[0],
    batch: readonly AttemptRecording[],
    rows: ResultRow[],
  ) {
    const failing = batch.flatMap(({ row, target }) => (row.status === 'failed' ? target : []))
    // Same lock order as a change of a webhook: first its row, then the revision of its
    // tenant, which a fan-out waits for.
    const tenants = failing.map(({ tenant }) => tenant)
    await tx.unsafe(lockWebhooks, [failing.map(({ id }) => id)], { prepare: true })
    await tx.unsafe(
      lockRevisions,
      [tenants.map(({ workspaceId }) => workspaceId), tenants.map(({ environment }) => environment)],
      { prepare: true },
    )
    const recorded = await recordResults(tx, rows, recording)
    for (const { webhookId, epoch, failures } of recorded.failing) {
      const last = batch.findLast(({ target }) => target.id === webhookId)
      if (last)
        await pause(tx, last, { reason: 'consecutive_failures', epoch, consecutiveFailures: failures })
    }
    for (const result of batch.filter(({ gone }) => gone))
      await pause(tx, result, { reason: 'gone', epoch: result.target.epoch, consecutiveFailures: 1 })
    const failingIds = recorded.failing.map(({ webhookId }) => webhookId)
    const goneIds = batch.filter((result) => result.gone).map(({ target }) => target.id)
    return [...recorded.paused, ...failingIds, ...goneIds]
  }

  async function pause(
    tx: Parameters<typeof recordResults>[0],
    { target, eventId }: AttemptRecording,
    why: { reason: 'consecutive_failures' | 'gone'; epoch: number; consecutiveFailures: number },
  ) {
    const now = options.clock.now()
    const meta = { tenant: target.tenant, actor: systemActor, now, requestId: null, causationId: eventId }
    await options.store.within(tx, meta, async (unit: Unit) => {
      if (await unit.find(options.webhooks, target.id))
        await unit.handle(options.webhooks, target.id, { kind: 'auto_pause', now, ...why })
    })
  }

  return async (batch) => {
    const rows = batch.map(({ row }, seq) => ({ ...row, seq }))
    if (rows.some(({ status }) => status === 'failed'))
      return database.sql.begin((tx) => recordAndPause(tx, batch, rows))
    return (await recordResults(database.sql, rows, recording)).paused
  }
}

const lockWebhooks = 'select from webhooks where id = any ($1::text[]) order by id for no key update'

const lockRevisions = `
select from webhook_revisions where (workspace_id, environment) in (select * from unnest($1::text[], $2::text[]))
order by workspace_id, environment for no key update`
