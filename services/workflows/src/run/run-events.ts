import { type Actor, changedFields, newId, type RunState, type TenantScope } from '@opsplane/contracts'
import type { JournalRow } from '@opsplane/eventstore'
import type { Entry } from '../engine/history.js'
import type { Origin, RunFace, RunIdentity } from './model.js'

/** The catalogue's word for what has happened in a run; undefined for what concerns its steps alone. */
export type RunEventType =
  | 'workflow.run_started'
  | 'workflow.run_completed'
  | 'workflow.run_failed'
  | 'workflow.run_paused'
  | 'workflow.run_resumed'
  | 'workflow.run_cancelled'
  | 'workflow.run_retried'
  | 'workflow.run_dead'

/** What of a run its events carry. */
export function stateOf(identity: RunIdentity, face: RunFace): RunState {
  const { id, workflowId, workflowName, workflowVersion, triggerType, parentRunId, queuedAt } = identity
  return { id, workflowId, workflowName, workflowVersion, triggerType, parentRunId, queuedAt, ...face }
}

export const workflowActor = ({ workflowId, workflowName }: RunIdentity): Actor => ({
  id: workflowId,
  name: workflowName,
  type: 'workflow',
})

/** Events of a change from one face to another, by entries in their order. */
export function eventTypesOf(before: RunFace, after: RunFace, entries: readonly Entry[]): RunEventType[] {
  const types: RunEventType[] = []
  for (const entry of entries) {
    if (entry.kind === 'started') types.push('workflow.run_started')
    if (entry.kind === 'retried') types.push('workflow.run_retried')
    if (entry.kind === 'ended') types.push(`workflow.run_${entry.status}`)
  }
  const paused = [before.status, after.status].map((status) => status === 'paused')
  if (!paused[0] && paused[1]) types.push('workflow.run_paused')
  if (paused[0] && !paused[1] && after.endedAt === null) types.push('workflow.run_resumed')
  return types
}

export interface EventContext {
  identity: RunIdentity
  origin: Pick<Origin, 'causationId' | 'requestId'>
  actor: Actor
  requestId: string | null
  at: string
}

/** Rows of the log for a change of a run; each shows the whole change. */
export function eventRowsOf(
  { identity, origin, actor, requestId, at }: EventContext,
  [before, after]: readonly [RunFace | null, RunFace],
  types: readonly RunEventType[],
): JournalRow[] {
  if (types.length === 0) return []
  const [old, present] = [before && stateOf(identity, before), stateOf(identity, after)]
  const data = JSON.stringify({ before: old, after: present, changes: changedFields(old, present) })
  const resource = JSON.stringify({
    type: 'workflow_run',
    id: identity.id,
    displayName: identity.workflowName,
  })
  const { workspaceId, environment } = identity.tenant satisfies TenantScope
  return types.map((type, n) => ({
    id: newId('event'),
    streamType: 'runs',
    streamId: identity.id,
    left: types.length - 1 - n,
    type,
    ...{ workspaceId, environment },
    actor: JSON.stringify(actor),
    ...{ resource, data },
    requestId: requestId ?? origin.requestId,
    causationId: origin.causationId,
    createdAt: at,
  }))
}
