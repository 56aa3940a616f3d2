import { changedFields, type ExecutionState, newId, stringifyExact, systemActor } from '@opsplane/contracts'
import type { JournalRow } from '@opsplane/eventstore'
import type { EndedExecution } from './model.js'

/** Returns the log row for a failed execution; empty if it has not failed. */
export function buildFailureRow(execution: EndedExecution): JournalRow[] {
  const { identity, completedAt, outcome } = execution
  if (outcome.status !== 'failed' && outcome.status !== 'timeout') return []
  const [before, after] = [runningState(execution), endedState(execution)]
  const { workspaceId, environment } = identity.tenant
  return [
    {
      id: newId('event'),
      ...{ streamType: 'executions', streamId: identity.id, left: 0, type: 'sdk.execution.failed' },
      ...{ workspaceId, environment, actor: stringifyExact(systemActor) },
      resource: stringifyExact({
        type: 'sdk_execution',
        id: identity.id,
        displayName: identity.artifact.slug,
      }),
      data: stringifyExact({ before, after, changes: changedFields(before, after) }),
      ...{ requestId: identity.requestId, causationId: findCauseId(execution), createdAt: completedAt },
    },
  ]
}

/** The cause of an execution is its trigger, if that is an event. */
const findCauseId = ({ identity: { trigger } }: EndedExecution) =>
  trigger.id?.startsWith('evt_') ? trigger.id : null

function runningState({ identity }: EndedExecution): ExecutionState {
  const { id, artifact, trigger, tenant, startedAt, replayOf } = identity
  return {
    ...{ id, artifact_slug: artifact.slug, artifact_version: artifact.version },
    ...{ trigger_type: trigger.type, trigger_id: trigger.id, status: 'running', error: null },
    ...{ duration_ms: null, memory_peak_mb: null, started_at: startedAt, completed_at: null },
    ...{ environment: tenant.environment, workspace_id: tenant.workspaceId },
    ...(replayOf !== null && { replay_of: replayOf }),
  }
}

function endedState(execution: EndedExecution): ExecutionState {
  const { status, error, durationMs, memoryPeakMb } = execution.outcome
  return {
    ...runningState(execution),
    ...{ status, duration_ms: durationMs, memory_peak_mb: memoryPeakMb, completed_at: execution.completedAt },
    error: error && { code: error.code, message: error.message },
  }
}
