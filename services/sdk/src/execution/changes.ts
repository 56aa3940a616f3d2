import {
  ChangeQuery,
  type ExecutionChange,
  ExecutionChanges,
  executionChangesPath,
} from '@opsplane/contracts'
import { type ChangeFeed, type Positions, readChanges } from '@opsplane/eventstore'
import { defineRoute, type Route } from '@opsplane/http'
import { type Database, isoText } from '@opsplane/postgres'

/** Sequence that assigns positions to changes of executions. */
export const executionPositions: Positions = { table: 'executions', sequence: 'execution_changes' }

/** Feed from which analytics counts executions, because only failures are events. See ADR 086. */
const executionFeed: ChangeFeed<ExecutionChange, ExecutionChange> = {
  ...executionPositions,
  columns: `id, workspace_id as "workspaceId", environment, artifact_slug as "artifactSlug",
    artifact_version as "artifactVersion", artifact_type as "artifactType", trigger_type as "triggerType", status,
    replay_of is not null as "isReplay", error->>'code' as "errorCode", duration_ms as "durationMs",
    memory_peak_mb as "memoryPeakMb", ${isoText('started_at')} as "startedAt", ${isoText('completed_at')} as "completedAt"`,
  changeOf: (row) => row,
}

export function executionChangeRoutes(database: Pick<Database, 'sql'>): Route[] {
  return [
    defineRoute({
      operationId: 'listExecutionChanges',
      method: 'get',
      path: executionChangesPath,
      summary: 'List executions that have ended since a position',
      tag: 'Internal',
      scope: 'service',
      callers: ['analytics'],
      query: ChangeQuery,
      response: ExecutionChanges,
      handler: ({ query }) => readChanges(database, executionFeed, query),
    }),
  ]
}
