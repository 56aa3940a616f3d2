import {
  type ApprovalRule,
  type ChangeApprovalPolicy,
  type ChangePolicyPatch,
  type ChangePolicyState,
  ChangeState,
  changedFields,
  type Decider,
  filterMatches,
  type Instant,
  invalidField,
  type NewChangePolicy,
  notFound,
} from '@opsplane/contracts'
import { checkApprovalRule, countRequired } from '../../approval/approval.js'
import { checkConditions } from '../../conditions.js'
import { findUnmetAuthorization, formatRulePair } from '../approval/distinct-approvers.js'
import { applyPatch } from '../patch.js'

const anyApprover: ApprovalRule = { name: 'Approval', approverIds: null, waitFor: 'first' }

/** Applies if no policy matches. */
const defaultPolicy: ChangeApprovalPolicy = {
  id: null,
  name: 'Default',
  technical: [{ ...anyApprover, name: 'Technical approval' }],
  authorization: [{ ...anyApprover, name: 'Authorization' }],
  distinctApprovers: false,
}

/** Returns the first active policy whose conditions match. The policies are given in order. */
export function findPolicy(
  change: ChangeState,
  policies: readonly ChangePolicyState[],
): ChangeApprovalPolicy {
  const found = policies.find(
    ({ status, conditions }) => status === 'active' && filterMatches(conditions, change),
  )
  if (!found) return defaultPolicy
  const { id, name, technical, authorization, distinctApprovers } = found
  return { id, name, technical, authorization, distinctApprovers }
}

export type ChangePolicyCommand =
  | { kind: 'create'; id: string; input: NewChangePolicy; now: Instant }
  | { kind: 'patch'; patch: ChangePolicyPatch; now: Instant }
  | { kind: 'delete' }

/** Changes keep the policy they were submitted under. */
export const changePolicy: Decider<ChangePolicyState, ChangePolicyCommand> = {
  resourceType: 'change_policy',
  table: 'change_policies',
  decide: (command, state) => {
    if (command.kind === 'create') {
      const { id, input, now } = command
      checkConditions(input.conditions, ChangeState)
      const after = checkPolicy({ id, ...input, createdAt: now, updatedAt: now })
      return [{ type: 'change_policy.created', after }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'change_policy.deleted', after: null }]
    if (command.patch.conditions) checkConditions(command.patch.conditions, ChangeState)
    const wanted = applyPatch(state, command.patch)
    if (changedFields(state, wanted).length === 0) return []
    return [{ type: 'change_policy.updated', after: { ...checkPolicy(wanted), updatedAt: command.now } }]
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}

/** Maximum number of decisions that the rules of a policy can require together, because a change stores them all. */
const maxDecisions = 100

function checkPolicy(policy: ChangePolicyState): ChangePolicyState {
  const stages = ['technical', 'authorization'] as const
  for (const stage of stages)
    for (const [index, rule] of policy[stage].entries()) checkApprovalRule(rule, `/${stage}/${index}`)
  const decisions = stages.flatMap((stage) => policy[stage].map(countDecisions))
  if (decisions.reduce((sum, count) => sum + count, 0) > maxDecisions)
    throw invalidField(
      '/authorization',
      'too_many_approvals',
      `The rules of a policy can require at most ${maxDecisions} decisions together.`,
    )
  checkDistinct(policy)
  return policy
}

/** Throws validation_failed if the authorization needs approvers that the technical stage uses up. */
function checkDistinct(policy: ChangePolicyState): void {
  const technicalRules = policy.technical.map((rule) => ({
    name: rule.name,
    people: rule.approverIds,
    count: countRequired(rule, rule.approverIds?.length ?? 1),
  }))
  const unmet = findUnmetAuthorization(technicalRules, policy, [])
  if (unmet)
    throw invalidField(
      `/authorization/${unmet.index}/approverIds`,
      'unreachable',
      `${formatRulePair(unmet)} cannot be met together, as approvers of the technical stage do not count for the ` +
        'authorization: add approvers to these rules.',
    )
}

/** Maximum number of decisions: the number of approvers, or the number waited for. A rejection ends the approval. */
function countDecisions({ approverIds, waitFor }: ApprovalRule): number {
  if (waitFor === 'first') return 1
  return typeof waitFor === 'object' && 'count' in waitFor ? waitFor.count : (approverIds?.length ?? 1)
}
