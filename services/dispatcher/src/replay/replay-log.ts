import { assertNever, type CommandMeta, type Decider, type ReplayJob } from '@opsplane/contracts'
import type { EventStore, Transaction } from '@opsplane/eventstore'
import { toStatementRunner } from '@opsplane/postgres'

export type ReplayState = ReplayJob & { webhookName: string }
/** `job` is the state of its row after the command. */
export type ReplayCommand =
  | { kind: 'start'; job: ReplayJob; webhookName: string }
  | { kind: 'cancel' | 'complete'; job: ReplayJob }

/** Start and end of replay jobs in the log; progress is stored only in `replay_jobs`. See ADR 018. */
export const replay: Decider<ReplayState, ReplayCommand, ReplayJob> = {
  resourceType: 'webhook',
  table: 'webhook_replays',
  decide(command, state) {
    const { kind, job } = command
    const { id: replayId, filter, total, replayed } = job
    if (kind === 'start') {
      const after = { ...job, webhookName: command.webhookName }
      return [{ type: 'webhook.replay_started', after, extras: { replayId, filter, total } }]
    }
    if (state === null) throw new Error('a replay that was not started')
    const after = { ...state, ...job }
    const extras = { replayId, replayed }
    switch (kind) {
      case 'cancel':
        return [{ type: 'webhook.replay_canceled', after, extras }]
      case 'complete':
        return [{ type: 'webhook.replay_completed', after, extras }]
      default:
        return assertNever(kind)
    }
  },
  expose: ({ webhookName: _, ...shown }) => shown,
  describe: ({ webhookId, webhookName }) => ({ id: webhookId, displayName: webhookName }),
}

/**
 * Appends the event of a job's start or end, in the transaction that writes its row. That transaction has locked the
 * row, so no other one can end the same job.
 */
export type RecordReplay = (tx: Transaction, meta: CommandMeta, command: ReplayCommand) => Promise<void>

export function replayLog(store: EventStore): RecordReplay {
  const replays = store.aggregate(replay)
  // A job has no ETag, so If-Match does not apply to it.
  return async (tx, { expectedVersion: _, ...meta }, command) => {
    const { id } = command.job
    await store.within(toStatementRunner(tx), meta, (unit) =>
      command.kind === 'start' ? unit.create(replays, id, command) : unit.handle(replays, id, command),
    )
  }
}
