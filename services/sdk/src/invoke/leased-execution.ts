import type {
  ArtifactKind,
  Environment,
  ExecutionTrigger,
  ExecutionType,
  JsonValue,
} from '@opsplane/contracts'
import { isoText, type ResidentRow } from '@opsplane/postgres'
import type { ExecutionCaller, ExecutionIdentity, ExecutionPlan } from '../execution/model.js'

/** Columns read when an execution is taken over. */
export const leasedColumns = [
  ...['workspace_id', 'environment', 'artifact_id', 'artifact_slug', 'artifact_version', 'artifact_type'],
  ...['execution_type', 'trigger_type', 'trigger_id', 'replay_of', 'depth', 'request_id', 'input', 'plan'],
  `${isoText('started_at')} as started_at`,
] as const

export interface LeasedExecution extends ResidentRow {
  workspace_id: string
  environment: Environment
  artifact_id: string
  artifact_slug: string
  artifact_version: number
  artifact_type: ArtifactKind
  execution_type: ExecutionType
  trigger_type: ExecutionTrigger
  trigger_id: string | null
  replay_of: string | null
  depth: number
  request_id: string | null
  input: JsonValue
  plan: ExecutionPlan | null
  started_at: string
}

/** The identity of an execution from its log row. */
export const toIdentity = (row: LeasedExecution): ExecutionIdentity => ({
  id: row.key,
  tenant: { workspaceId: row.workspace_id, environment: row.environment },
  artifact: {
    ...{ id: row.artifact_id, slug: row.artifact_slug, version: row.artifact_version },
    kind: row.artifact_type,
  },
  type: row.execution_type,
  trigger: { type: row.trigger_type, id: row.trigger_id },
  replayOf: row.replay_of,
  depth: row.depth,
  requestId: row.request_id,
  startedAt: row.started_at,
})

/** Maximum number of restarts after a worker crash. */
const maxDeaths = 3

/** Whether the replica that took it over may start it: never a second time unless the artifact allows it. */
export const canStart = ({ plan, failures }: LeasedExecution): boolean =>
  plan !== null && (failures === 0 || (plan.retryable && failures <= maxDeaths))

/** The callers of an execution that was taken over. */
export const toCaller = ({ permissions, callers = [] }: ExecutionPlan): ExecutionCaller | undefined =>
  permissions === null && callers.length === 0 ? undefined : { permissions, people: callers }
