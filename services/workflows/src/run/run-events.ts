import {
  type Actor,
  type ApprovalNotice,
  changedFields,
  newId,
  type RunState,
  stringifyExact,
  type TenantScope,
} from '@opsplane/contracts'
import type { JournalRow } from '@opsplane/eventstore'
import type { Entry, Place } from '../engine/history.js'
import type { AwaitedInput } from '../engine/tasks.js'
import type { Origin, RunIdentity, RunProgress } from './model.js'

/** Types of the events about changes of a run. */
export type RunEventType =
  | 'workflow.run_started'
  | 'workflow.run_completed'
  | 'workflow.run_failed'
  | 'workflow.run_paused'
  | 'workflow.run_resumed'
  | 'workflow.run_cancelled'
  | 'workflow.run_retried'
  | 'workflow.run_dead'
  | 'workflow.approval_requested'
  | 'workflow.approval_reminded'

/** An event to publish, with the data it contains in addition to the run. */
export interface RunEventDraft {
  type: RunEventType
  approval?: ApprovalNotice
}

/** The fields of a run contained in its events. */
export function toRunState(identity: RunIdentity, progress: RunProgress): RunState {
  const { id, workflowId, workflowName, workflowVersion, triggerType, parentRunId, queuedAt } = identity
  return { id, workflowId, workflowName, workflowVersion, triggerType, parentRunId, queuedAt, ...progress }
}

export const workflowActor = ({ workflowId, workflowName }: RunIdentity): Actor => ({
  id: workflowId,
  name: workflowName,
  type: 'workflow',
})

/** Events for a change of progress, in the order of the entries. `awaiting`: returns the inputs awaited after them. */
export function draftRunEvents(
  before: RunProgress,
  after: RunProgress,
  entries: readonly Entry[],
  awaiting: () => readonly AwaitedInput[] = () => [],
): RunEventDraft[] {
  const drafts: RunEventDraft[] = []
  for (const entry of entries) {
    if (entry.kind === 'started') drafts.push({ type: 'workflow.run_started' })
    if (entry.kind === 'retried') drafts.push({ type: 'workflow.run_retried' })
    if (entry.kind === 'ended') drafts.push({ type: `workflow.run_${entry.status}` })
    if (entry.kind === 'waiting' && entry.waiting.for === 'approval')
      drafts.push(...draftNotices('workflow.approval_requested', entry.place, awaiting()))
    if (entry.kind === 'reminded')
      drafts.push(...draftNotices('workflow.approval_reminded', entry.place, awaiting()))
  }
  const paused = [before.status, after.status].map((status) => status === 'paused')
  if (!paused[0] && paused[1]) drafts.push({ type: 'workflow.run_paused' })
  if (paused[0] && !paused[1] && after.endedAt === null) drafts.push({ type: 'workflow.run_resumed' })
  return drafts
}

const longestTitle = 200

/** Notices for approvers who have not decided; empty if the approval is no longer awaited. */
function draftNotices(type: RunEventType, step: Place, awaiting: readonly AwaitedInput[]): RunEventDraft[] {
  return awaiting.flatMap(({ place, waiting, decided }) => {
    if (place !== step || waiting.for !== 'approval') return []
    const { title, users, roles } = waiting.approval
    const approval = {
      ...{ step, roles, title: title.slice(0, longestTitle) },
      users: users.filter((user) => !decided.includes(user)),
      dueAt: waiting.dueAt === null ? null : new Date(waiting.dueAt).toISOString(),
    }
    return [{ type, approval }]
  })
}

export interface EventContext {
  identity: RunIdentity
  origin: Pick<Origin, 'causationId' | 'requestId'>
  actor: Actor
  requestId: string | null
  at: string
}

/** Log rows for a change of a run; each contains the whole change. */
export function buildEventRows(
  { identity, origin, actor, requestId, at }: EventContext,
  [before, after]: readonly [RunProgress | null, RunProgress],
  drafts: readonly RunEventDraft[],
): JournalRow[] {
  if (drafts.length === 0) return []
  const [old, present] = [before && toRunState(identity, before), toRunState(identity, after)]
  const change = { before: old, after: present, changes: changedFields(old, present) }
  const resource = stringifyExact({
    type: 'workflow_run',
    id: identity.id,
    displayName: identity.workflowName,
  })
  const { workspaceId, environment } = identity.tenant satisfies TenantScope
  return drafts.map(({ type, ...extras }, n) => ({
    id: newId('event'),
    streamType: 'runs',
    streamId: identity.id,
    left: drafts.length - 1 - n,
    type,
    ...{ workspaceId, environment },
    actor: stringifyExact(actor),
    ...{ resource, data: stringifyExact({ ...change, ...extras }) },
    requestId: requestId ?? origin.requestId,
    causationId: origin.causationId,
    createdAt: at,
  }))
}
