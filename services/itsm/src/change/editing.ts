import {
  ApiError,
  type ChangePatch,
  type ChangeState,
  type ChangeStatus,
  changedFields,
  type ErrorDetail,
} from '@opsplane/contracts'
import { reassigned } from './approval-record.js'
import { withdrawn } from './approving.js'
import type { CommandOf } from './commands.js'
import { hashOf } from './content.js'
import type { ChangeDecision } from './domain.js'
import { checked } from './opened.js'
import { withPatch } from './patch.js'
import { riskOf } from './risk.js'
import { statusAfter } from './transitions.js'

type Field = keyof ChangePatch

/** Where it lies. Nobody has approved these, so they can be edited at any time, also on hold. */
const routing: readonly Field[] = ['assignmentGroup', 'problemId']
const working: readonly Field[] = [...routing, 'assigneeId']
const described: readonly Field[] = [
  ...working,
  'title',
  'description',
  'ciIds',
  'plannedStart',
  'plannedEnd',
  'impact',
  'successProbability',
  'implementationPlan',
  'testPlan',
  'backoutPlan',
]
/** The reviewer must not be the assignee, who therefore stays as they are once the work is done. */
const reviewed: readonly Field[] = [...routing, 'closeNotes', 'reviewNotes']

/** The fields each status lets be edited. */
export const editable: Record<ChangeStatus, readonly Field[]> = {
  draft: [...described, 'type', 'templateId'],
  assess: described,
  authorize: described,
  scheduled: described,
  implementing: working,
  review: reviewed,
  rolled_back: reviewed,
  closed: [],
  canceled: [],
}

/** What changes nothing is not told. What alters what approvals stand for voids them, and it is a draft again. */
export function edited({ patch, facts, now }: CommandOf<'edit'>, state: ChangeState): ChangeDecision[] {
  statusAfter('edit', state)
  const wanted = withPatch(state, patch)
  const names = changedFields(state, wanted)
  if (names.length === 0) return []
  checkEditable(names, state)
  const risk = bearsOnRisk(names, state) ? riskOf(wanted, facts) : {}
  const after = { ...checked({ ...wanted, ...risk }), updatedAt: now }
  if (state.status === 'draft') return [{ type: 'change.updated', after }]
  if (hashOf(after) === hashOf(state))
    return [{ type: 'change.updated', after: reassigned(state, after, now) }]
  const status = statusAfter('edit', state, 'draft')
  return [
    {
      type: 'change.updated',
      after: { ...withdrawn(after, now), status },
      extras: { approvalsVoided: true },
    },
  ]
}

/** Another assignee must not send a change back because the criticality of an item was altered meanwhile. */
function bearsOnRisk(names: readonly string[], { status }: ChangeState): boolean {
  return status === 'draft' || ['impact', 'successProbability', 'ciIds'].some((name) => names.includes(name))
}

function checkEditable(names: readonly string[], { status, onHold }: ChangeState): void {
  const allowed: readonly string[] = onHold ? working : editable[status]
  const where = onHold ? 'on hold' : status
  const details = names
    .filter((name) => !allowed.includes(name))
    .map((name): ErrorDetail => {
      return {
        in: 'body',
        path: `/${name}`,
        code: 'not_editable',
        message: `cannot be edited while ${where}`,
      }
    })
  if (details.length > 0)
    throw new ApiError('validation_failed', `Some of these fields cannot be edited while ${where}.`, {
      details,
    })
}
