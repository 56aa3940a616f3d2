import {
  AcceptConflicts,
  ApproveChange,
  CancelChange,
  type Change,
  CloseChange,
  CompleteChange,
  HoldChange,
  RejectChange,
  RollBackChange,
} from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import { type ChangeStore, newApprovalIds } from './change-store.js'
import type { ChangeStep } from './commands.js'
import { route } from './routes.js'

const toUserId = ({ principal }: RequestMeta) => ({ userId: principal.userId })
const toDecider = (meta: RequestMeta) => ({ by: meta.actor, ...toUserId(meta) })

/** Routes of the actions that have a dedicated path. */
export function changeActionRoutes(changes: ChangeStore): Route[] {
  const execute = async (reference: string, step: ChangeStep, meta: RequestMeta): Promise<Change> => {
    const id = await changes.findId(reference, meta.tenant)
    return changes.handle(id, { ...step, now: meta.now }, meta)
  }
  return [
    route.action('submit', {
      summary: 'Submit a draft',
      description:
        'A standard change is scheduled, with the present content of its template; any other requires approval. Needs the ' +
        'planned window; a normal change also needs its implementation and backout plan, a standard one an active ' +
        'template and no more time or other items than that allows. Recomputes the risk and the ' +
        'conflicts. In a blackout only an emergency is accepted, or a change with `acceptConflicts` and a `reason`. Emits ' +
        '`change.submitted`.',
      errors: ['invalid_state_transition', 'conflict'],
      body: AcceptConflicts,
      handler: async ({ params, body, meta }) =>
        changes.submit(await changes.findId(params.id, meta.tenant), body, meta),
    }),
    route.action('approve', {
      scope: 'itsm:approve',
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      summary: 'Approve a change',
      description:
        'Decides on every pending approval of the caller, or on the one named. The requester, editors, submitter and ' +
        'implementer of the change cannot approve it. The last pending approval of a stage moves the change on: to its ' +
        'authorization, or to scheduled. An approver of the technical stage must name the `approvalId` to approve the ' +
        'authorization too, so that a repeated request does not; if the policy requires `distinctApprovers` they ' +
        'cannot, and an approver needed for the authorization cannot approve the technical stage (409). Emits `change.approval_recorded` for each, and ' +
        '`change.approved` once it is scheduled.',
      body: ApproveChange,
      handler: ({ params, body, meta }) =>
        execute(
          params.id,
          { kind: 'approve', ...toDecider(meta), ...body, approvalIds: newApprovalIds() },
          meta,
        ),
    }),
    route.action('reject', {
      errors: ['invalid_state_transition', 'forbidden'],
      scope: 'itsm:approve',
      summary: 'Reject a change',
      description:
        'It becomes a draft again, and all its approvals are void. Emits `change.approval_recorded` and ' +
        '`change.rejected`.',
      body: RejectChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'reject', ...toDecider(meta), ...body }, meta),
    }),
    route.action('implement', {
      summary: 'Begin to implement a change',
      description:
        'From scheduled, by a person who has not decided on it. During a blackout, or if one begins before the planned end, only for emergencies, or with ' +
        '`acceptConflicts` and a `reason`. Emits `change.implementation_started`.',
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      body: AcceptConflicts,
      handler: async ({ params, body, meta }) =>
        changes.implement(await changes.findId(params.id, meta.tenant), body, meta),
    }),
    route.action('complete', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Complete a change',
      description:
        'With its outcome, by a person who has not decided on it; the review follows. A successful standard change is closed immediately. Resumes ' +
        'incidents that wait for it. Emits `change.completed`, and for a standard change `change.closed`.',
      body: CompleteChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'complete', ...toUserId(meta), ...body }, meta),
    }),
    route.action('rollback', {
      errors: ['invalid_state_transition', 'forbidden'],
      operationId: 'rollBackChange',
      summary: 'Roll a change back',
      description:
        'While it is implemented or reviewed; its outcome is `unsuccessful`. Emits `change.rolled_back`.',
      body: RollBackChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'rollback', ...toUserId(meta), ...body }, meta),
    }),
    route.action('close', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Close a change after its review',
      description: 'By a person who did not implement it. Final. Emits `change.closed`.',
      body: CloseChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'close', ...toUserId(meta), ...body }, meta),
    }),
    route.action('cancel', {
      errors: ['invalid_state_transition'],
      summary: 'Cancel a change',
      description: 'Before its review, also on hold. Final. Emits `change.canceled`.',
      body: CancelChange,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'cancel', ...body }, meta),
    }),
    route.action('hold', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Put a change on hold',
      description:
        'It keeps its status; until it is resumed it can only be canceled or reassigned. Emits ' +
        '`change.updated`.',
      body: HoldChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'hold', ...toUserId(meta), ...body }, meta),
    }),
    route.action('resume', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Resume a change that is on hold',
      description: 'Emits `change.updated`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'resume', ...toUserId(meta) }, meta),
    }),
  ]
}
