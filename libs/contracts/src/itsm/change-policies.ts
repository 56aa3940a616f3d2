import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ApprovalRule } from './approvals.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)

/** Maximum approvals of one stage. */
export const maxApprovalRules = 5
const Rules = z.array(ApprovalRule).min(1).max(maxApprovalRules)

const overChange = {
  description:
    'Conditions on the change, all of which must be met. Without conditions, the policy applies to every change.',
  example: { risk: 'high' },
}

const fields = {
  name: Name.meta({ example: 'Payments' }),
  order: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'Of the policies that apply, the one with the lowest order is used.' }),
  conditions: NewFilter.meta(overChange),
  technical: Rules.meta({
    description: 'Approvals requested first, all of which are required. Emergency changes skip them.',
  }),
  authorization: Rules.meta({
    description: 'Approvals requested before the change is scheduled, all of which are required.',
  }),
  distinctApprovers: z.boolean().meta({
    description: 'Whether a user who approves the technical stage is excluded from the authorization.',
  }),
  status: z.enum(['active', 'inactive']),
}

/** The rules a change was submitted under. `id` is `null` if no policy applied. */
export const ChangeApprovalPolicy = z.object({
  id: idSchema('changePolicy').nullable(),
  name: z.string(),
  technical: z.array(ApprovalRule),
  authorization: z.array(ApprovalRule),
  distinctApprovers: z.boolean().meta({
    description: 'Whether a user who approved the technical stage is excluded from the authorization.',
  }),
})
export type ChangeApprovalPolicy = z.infer<typeof ChangeApprovalPolicy>

export const ChangePolicyState = z.object({
  id: idSchema('changePolicy'),
  ...fields,
  // Stored policies from before the bounds may exceed them.
  conditions: Filter.meta(overChange),
  createdAt: At,
  updatedAt: At,
})
export type ChangePolicyState = z.infer<typeof ChangePolicyState>

export const ChangePolicy = ChangePolicyState.extend({
  version: ResourceVersion,
}).meta({ id: 'ChangePolicy' })
export type ChangePolicy = z.infer<typeof ChangePolicy>

const anyone: ApprovalRule = { name: 'Approval', approverIds: null, waitFor: 'first' }

export const NewChangePolicy = z
  .strictObject({
    ...fields,
    order: fields.order.default(100),
    conditions: fields.conditions.default({}),
    technical: fields.technical.default([anyone]),
    authorization: fields.authorization.default([anyone]),
    distinctApprovers: fields.distinctApprovers.default(false),
    status: fields.status.default('active'),
  })
  .meta({
    id: 'NewChangePolicy',
    example: {
      name: 'Risky changes',
      order: 10,
      conditions: { risk: 'high' },
      technical: [{ name: 'Peer review' }],
      authorization: [{ name: 'Advisory board', waitFor: { count: 2 } }],
    },
  })
export type NewChangePolicy = z.infer<typeof NewChangePolicy>

export const ChangePolicyPatch = z
  .strictObject(fields)
  .partial()
  .meta({ id: 'ChangePolicyPatch', example: { status: 'inactive' } })
export type ChangePolicyPatch = z.infer<typeof ChangePolicyPatch>

export const changePolicyEvents = {
  'change_policy.created': resourceEvent(ChangePolicyState, 'A policy of who approves changes was made.'),
  'change_policy.updated': resourceEvent(ChangePolicyState, 'A policy of who approves changes was altered.'),
  'change_policy.deleted': resourceEvent(ChangePolicyState, 'A policy of who approves changes was deleted.'),
} satisfies Record<string, EventDefinition>
