import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Moment } from '../core/moment.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { Approval } from './approvals.js'
import { ChangePlan, ChangeTitle, SuccessProbability } from './change-fields.js'
import { ChangeApprovalPolicy } from './change-policies.js'
import { Level } from './priority.js'

export const changeTypes = ['standard', 'normal', 'emergency'] as const
export const ChangeType = z.enum(changeTypes).meta({
  id: 'ChangeType',
  description:
    '`standard`: agreed on beforehand in a template, requires no approval. `normal`: requires technical ' +
    'approval, then authorization. `emergency`: requires only authorization.',
})
export type ChangeType = z.infer<typeof ChangeType>

export const changeStatuses = [
  'draft',
  'assess',
  'authorize',
  'scheduled',
  'implementing',
  'review',
  'rolled_back',
  'closed',
  'canceled',
] as const
export const ChangeStatus = z.enum(changeStatuses).meta({ id: 'ChangeStatus' })
export type ChangeStatus = z.infer<typeof ChangeStatus>

/** All actions on a change; its status, type and hold determine which of them apply. */
export const changeActions = [
  'edit',
  'submit',
  'approve',
  'reject',
  'implement',
  'complete',
  'rollback',
  'close',
  'cancel',
  'hold',
  'resume',
] as const
export const ChangeAction = z.enum(changeActions).meta({ id: 'ChangeAction' })
export type ChangeAction = z.infer<typeof ChangeAction>

/** In ascending order of severity. */
export const changeRisks = ['low', 'moderate', 'high'] as const
export const ChangeRisk = z.enum(changeRisks).meta({
  id: 'ChangeRisk',
  description: 'Risk level. The risk of a change is the highest of its risk factors.',
})
export type ChangeRisk = z.infer<typeof ChangeRisk>

// No component id: OpenAPI components of enums that are nullable somewhere become nullable everywhere.
export const ChangeOutcome = z.enum(['successful', 'successful_with_issues', 'unsuccessful'])
export type ChangeOutcome = z.infer<typeof ChangeOutcome>

export const ChangeRiskFactor = z
  .object({
    factor: z.enum(['impact_and_probability', 'ci_criticality', 'past_failures']),
    risk: ChangeRisk,
    message: z.string(),
  })
  .meta({ id: 'ChangeRiskFactor' })
export type ChangeRiskFactor = z.infer<typeof ChangeRiskFactor>

export const ChangeConflictKind = z
  .enum(['same_ci', 'dependent_ci', 'blackout', 'outside_maintenance', 'assignee_busy'])
  .meta({ id: 'ChangeConflictKind' })
export type ChangeConflictKind = z.infer<typeof ChangeConflictKind>

const At = z.iso.datetime({ precision: 3 })

/**
 * A conflict with one change or window. It is identified by `kind` and `with`, so
 * it stays the same when its times shift.
 */
export const ChangeConflict = z
  .object({
    kind: ChangeConflictKind,
    with: z
      .string()
      .nullable()
      .meta({ description: 'Id of the change or window with which the change conflicts.' }),
    ciIds: z
      .array(z.string())
      .meta({ description: 'Items of this change that the conflict concerns, limited to the first 20.' }),
    message: z.string(),
    from: At,
    to: At,
  })
  .meta({ id: 'ChangeConflict' })
export type ChangeConflict = z.infer<typeof ChangeConflict>

/** Conflicts with blackouts that a person accepted. */
export const AcceptedConflicts = z.object({ reason: z.string(), conflicts: z.array(ChangeConflict) })
export type AcceptedConflicts = z.infer<typeof AcceptedConflicts>

const Reference = z.string().trim().min(1).max(100)
const Plan = ChangePlan.nullable()
const Notes = z.string().trim().min(1).max(10_000)
const Reason = z.string().trim().min(1).max(2_000)

/** Fields a person enters. */
const fields = {
  title: ChangeTitle.meta({ example: 'Move the checkout database to new disks' }),
  description: z
    .string()
    .max(20_000)
    .nullable()
    .meta({ description: 'Content and purpose of the change, in Markdown.' }),
  type: ChangeType,
  assigneeId: Reference.nullable().meta({ description: 'User who implements the change.' }),
  assignmentGroup: Reference.nullable().meta({
    description: 'Team responsible for the change.',
    example: 'payments',
  }),
  ciIds: z
    .array(Reference)
    .max(100)
    .overwrite((ids) => [...new Set(ids)])
    .meta({ description: 'Configuration items that the change affects. Duplicates are removed.' }),
  problemId: idSchema('problem')
    .nullable()
    .meta({ description: 'The problem that the change is intended to solve.' }),
  plannedStart: Moment.nullable().meta({
    description: 'Planned start. Required together with `plannedEnd`, and to submit the change.',
  }),
  plannedEnd: Moment.nullable().meta({ description: 'Planned end. Must be later than `plannedStart`.' }),
  impact: Level.meta({ description: 'Extent of the disruption if the change fails.' }),
  successProbability: SuccessProbability,
  implementationPlan: Plan.meta({ description: 'Required to submit a normal change.' }),
  testPlan: Plan,
  backoutPlan: Plan.meta({ description: 'Required to submit a normal change.' }),
  templateId: idSchema('changeTemplate')
    .nullable()
    .meta({
      description:
        'The template agreed on beforehand. Required for standard changes, not allowed for others. Impact, ' +
        'probability and plans of the change are those of its template.',
    }),
}

/** A change as contained in events: its fields, without those only an API response adds. */
export const ChangeState = z.object({
  id: idSchema('change'),
  number: z
    .string()
    .meta({ description: 'Number of the change. Unique in the workspace and increasing.', example: 'CHG-7' }),
  ...fields,
  templateId: z.string().nullable().meta({ description: 'Template of a standard change.' }),
  plannedStart: At.nullable(),
  plannedEnd: At.nullable(),
  status: ChangeStatus,
  requester: Actor,
  requesterId: z
    .string()
    .meta({ description: 'The user who requested the change, even if an API key was used.' }),
  actualStart: At.nullable(),
  actualEnd: At.nullable(),
  risk: ChangeRisk,
  riskFactors: z.array(ChangeRiskFactor),
  onHold: z.boolean(),
  holdReason: z.string().nullable(),
  approvals: z.array(Approval).meta({ description: 'Approvals of all rounds, oldest first.' }),
  approvalPolicy: ChangeApprovalPolicy.nullable().meta({
    description:
      'Approval policy in its state at the submission of the change. `null` before the submission and for standard ' +
      'changes.',
  }),
  conflicts: z.array(ChangeConflict),
  outcome: ChangeOutcome.nullable(),
  closeNotes: z
    .string()
    .nullable()
    .meta({ description: 'Notes of the person who completed or rolled back the change.' }),
  reviewNotes: z.string().nullable().meta({ description: 'Notes of the person who closed the change.' }),
  rejectionReason: z.string().nullable(),
  cancelReason: z.string().nullable(),
  createdAt: At,
  updatedAt: At,
})
export type ChangeState = z.infer<typeof ChangeState>

export const Change = ChangeState.extend({
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    ChangeAction,
    requireForAll(changeActions, 'itsm:write', { approve: 'itsm:approve', reject: 'itsm:approve' }),
    'the combination of its status, type and hold',
  ),
}).meta({ id: 'Change' })
export type Change = z.infer<typeof Change>

export const NewChange = z
  .strictObject({
    ...fields,
    title: fields.title.optional().meta({
      description:
        'Title of the change. Optional for a standard change whose template has a title, otherwise required.',
      example: 'Move the checkout database to new disks',
    }),
    type: ChangeType.default('normal'),
    description: fields.description.default(null),
    assigneeId: fields.assigneeId.default(null),
    assignmentGroup: fields.assignmentGroup.default(null),
    ciIds: fields.ciIds.default([]),
    problemId: fields.problemId.default(null),
    plannedStart: fields.plannedStart.default(null),
    plannedEnd: fields.plannedEnd.default(null),
    impact: fields.impact
      .optional()
      .meta({ description: 'Extent of the disruption if the change fails. Default: `medium`.' }),
    successProbability: fields.successProbability.optional(),
    implementationPlan: fields.implementationPlan.optional(),
    testPlan: fields.testPlan.optional(),
    backoutPlan: fields.backoutPlan.optional(),
    templateId: fields.templateId.default(null),
  })
  .superRefine(({ title, type }, { addIssue }) => {
    if (title === undefined && type !== 'standard')
      addIssue({ code: 'invalid_type', expected: 'string', input: title, path: ['title'] })
  })
  .meta({
    id: 'NewChange',
    example: {
      title: 'Move the checkout database to new disks',
      type: 'normal',
      impact: 'high',
      successProbability: 95,
      plannedStart: '2026-03-07T22:00:00.000Z',
      plannedEnd: '2026-03-08T02:00:00.000Z',
      implementationPlan: 'Add the disks, move the volume, remove the old ones.',
      backoutPlan: 'Move the volume back.',
    },
  })
export type NewChange = z.infer<typeof NewChange>

export const ChangePatch = z
  .strictObject({ ...fields, reviewNotes: Notes.nullable(), closeNotes: Notes.nullable() })
  .partial()
  .meta({ id: 'ChangePatch', example: { assignmentGroup: 'payments', successProbability: 90 } })
export type ChangePatch = z.infer<typeof ChangePatch>

const approvalId = idSchema('approval').optional().meta({
  description: 'Id of the approval to decide on. Default: all pending approvals that you may decide.',
})

export const ApproveChange = z
  .strictObject({
    comment: Reason.optional(),
    approvalId: approvalId.meta({
      description:
        'Id of the approval to decide on. Default: all pending approvals that you may decide. Required to approve ' +
        'the authorization of a change whose technical stage you approved.',
    }),
  })
  .meta({ id: 'ApproveChange', example: { comment: 'The way back is short.' } })

export const RejectChange = z
  .strictObject({ reason: Reason, approvalId })
  .meta({ id: 'RejectChange', example: { reason: 'It falls into the quarter end.' } })

export const CompleteChange = z
  .strictObject({ outcome: ChangeOutcome, closeNotes: Notes.optional() })
  .meta({ id: 'CompleteChange', example: { outcome: 'successful' } })

export const RollBackChange = z
  .strictObject({ closeNotes: Notes.optional() })
  .meta({ id: 'RollBackChange', example: { closeNotes: 'The new disks were slower.' } })

export const CloseChange = z
  .strictObject({ reviewNotes: Notes.optional() })
  .meta({ id: 'CloseChange', example: { reviewNotes: 'As planned.' } })

export const CancelChange = z
  .strictObject({ reason: Reason.optional() })
  .meta({ id: 'CancelChange', example: { reason: 'No longer needed.' } })

export const HoldChange = z
  .strictObject({ reason: Reason })
  .meta({ id: 'HoldChange', example: { reason: 'The vendor delivers late.' } })

const changeEvent = <Extras extends z.ZodRawShape = Record<never, never>>(
  description: string,
  extras?: Extras,
) => resourceEvent(ChangeState, description, extras)

const accepting = {
  acceptedConflicts: AcceptedConflicts.optional().meta({
    description: 'Blackouts that were accepted, with the reason.',
  }),
}

export const changeEvents = {
  'change.created': changeEvent('A change was drafted.'),
  'change.updated': changeEvent('Fields changed, or it was held or resumed.', {
    approvalsVoided: z
      .boolean()
      .optional()
      .meta({ description: '`true` if approved content was changed, so that the change is a draft again.' }),
  }),
  'change.submitted': changeEvent(
    'A draft was handed in: approval is asked for, or it is scheduled.',
    accepting,
  ),
  'change.approval_recorded': changeEvent('An approver decided on an approval.', { approval: Approval }),
  'change.approved': changeEvent('The last approval was given; the change is scheduled.'),
  'change.rejected': changeEvent('An approval was refused; the change is a draft again.', {
    reason: z.string(),
  }),
  'change.implementation_started': changeEvent('Work on the change began.', accepting),
  'change.conflict_detected': changeEvent(
    'Another change, or a window, that was saved since collides with a change that waits for its time.',
    {
      newConflicts: z
        .array(ChangeConflict)
        .meta({ description: 'Conflicts that the change did not have before.' }),
    },
  ),
  'change.completed': changeEvent('Work on the change ended; the review follows.'),
  'change.rolled_back': changeEvent('The change was undone.'),
  'change.closed': changeEvent('The change was reviewed, or needed no review, and has ended.'),
  'change.canceled': changeEvent('The change will not be carried out.', { reason: z.string().nullable() }),
} satisfies Record<string, EventDefinition>
export type ChangeEventType = keyof typeof changeEvents
