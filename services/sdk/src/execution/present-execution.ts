import type { Execution, JsonValue } from '@opsplane/contracts'
import type { ExecutionIdentity, Outcome } from './model.js'

/** API representation of an execution; without an outcome it is running. */
export function presentExecution(
  { id, artifact, trigger, tenant, startedAt, replayOf }: ExecutionIdentity,
  input: JsonValue,
  outcome?: Outcome,
  completedAt: string | null = null,
): Execution {
  const { status = 'running', output = null, error = null, logs = [] } = outcome ?? {}
  return {
    ...{ id, artifact_slug: artifact.slug, artifact_version: artifact.version },
    ...{ trigger_type: trigger.type, trigger_id: trigger.id, status, input, output, error, logs },
    duration_ms: outcome?.durationMs ?? null,
    memory_peak_mb: outcome?.memoryPeakMb ?? null,
    ...{ started_at: startedAt, completed_at: completedAt },
    ...{ environment: tenant.environment, workspace_id: tenant.workspaceId },
    ...(replayOf !== null && { replay_of: replayOf }),
    ...(outcome?.omitted && { omitted: true }),
  }
}
