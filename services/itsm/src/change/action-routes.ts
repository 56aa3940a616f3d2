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
      summary: 'Submit a draft change',
      description:
        'Schedules a standard change, with the current content of its template; any other change requires approval. ' +
        'Requires the planned window; a normal change also requires its implementation and backout plan, a standard ' +
        'change an active template and no more time or other items than the template allows. Recomputes the risk and ' +
        'the conflicts. During a blackout, accepts only an emergency change, or a change with `acceptConflicts` and ' +
        'a `reason`. Emits `change.submitted`.',
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
        'Decides on every pending approval of the caller, or only on the specified one. The requester, editors, ' +
        'submitter and implementer of the change cannot approve it. The last pending approval of a stage moves the ' +
        'change to its authorization, or to scheduled. An approver of the technical stage must specify the ' +
        '`approvalId` to approve the authorization as well, so that a repeated request does not approve it. If the ' +
        'policy requires `distinctApprovers`, approvers of the technical stage cannot approve the authorization, and ' +
        'an approver needed for the authorization cannot approve the technical stage (409). Emits ' +
        '`change.approval_recorded` for each approval, and `change.approved` once the change is scheduled.',
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
        'Returns the change to draft and voids all its approvals. Emits `change.approval_recorded` and ' +
        '`change.rejected`.',
      body: RejectChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'reject', ...toDecider(meta), ...body }, meta),
    }),
    route.action('implement', {
      summary: 'Start implementing a change',
      description:
        'Requires a scheduled change and a caller who has not decided on it. During a blackout, or if a blackout ' +
        'begins before the planned end, accepts only emergency changes, or changes with `acceptConflicts` and a ' +
        '`reason`. Emits `change.implementation_started`.',
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      body: AcceptConflicts,
      handler: async ({ params, body, meta }) =>
        changes.implement(await changes.findId(params.id, meta.tenant), body, meta),
    }),
    route.action('complete', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Complete a change',
      description:
        'Records the outcome; the review follows. The caller must not have decided on the change. A successful ' +
        'standard change is closed immediately. Resumes incidents that wait for the change. Emits ' +
        '`change.completed`, and for a successful standard change `change.closed`.',
      body: CompleteChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'complete', ...toUserId(meta), ...body }, meta),
    }),
    route.action('rollback', {
      errors: ['invalid_state_transition', 'forbidden'],
      operationId: 'rollBackChange',
      summary: 'Roll a change back',
      description:
        'Allowed while the change is being implemented or reviewed; sets its outcome to `unsuccessful`. Emits ' +
        '`change.rolled_back`.',
      body: RollBackChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'rollback', ...toUserId(meta), ...body }, meta),
    }),
    route.action('close', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Close a change after its review',
      description:
        'The caller must not have implemented the change. Closing is final. Emits `change.closed`.',
      body: CloseChange,
      handler: ({ params, body, meta }) =>
        execute(params.id, { kind: 'close', ...toUserId(meta), ...body }, meta),
    }),
    route.action('cancel', {
      errors: ['invalid_state_transition'],
      summary: 'Cancel a change',
      description:
        'Allowed before the review, including while the change is on hold. Cancellation is final. Emits ' +
        '`change.canceled`.',
      body: CancelChange,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'cancel', ...body }, meta),
    }),
    route.action('hold', {
      errors: ['invalid_state_transition', 'forbidden'],
      summary: 'Put a change on hold',
      description:
        'The change keeps its status; until it is resumed it can only be canceled or reassigned. Emits ' +
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
