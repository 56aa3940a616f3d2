import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { Approval } from './approvals.js'

export const catalogRequestStatuses = [
  'draft',
  'submitted',
  'awaiting_approval',
  'approved',
  'fulfilling',
  'closed_complete',
  'closed_incomplete',
  'closed_skipped',
  'rejected',
  'canceled',
] as const
export const CatalogRequestStatus = z.enum(catalogRequestStatuses).meta({ id: 'CatalogRequestStatus' })
export type CatalogRequestStatus = z.infer<typeof CatalogRequestStatus>

/** All actions on a request; its status determines which of them apply. */
export const catalogRequestActions = [
  'edit',
  'submit',
  'approve',
  'reject',
  'work',
  'fulfill',
  'cancel',
] as const
export const CatalogRequestAction = z.enum(catalogRequestActions).meta({
  id: 'CatalogRequestAction',
  description:
    '`work` stands for the actions on the tasks of the request; `fulfill` ends a request without tasks.',
})
export type CatalogRequestAction = z.infer<typeof CatalogRequestAction>

export const catalogTaskStatuses = [
  'pending',
  'open',
  'in_progress',
  'complete',
  'incomplete',
  'skipped',
] as const
export const CatalogTaskStatus = z.enum(catalogTaskStatuses).meta({ id: 'CatalogTaskStatus' })
export type CatalogTaskStatus = z.infer<typeof CatalogTaskStatus>

export const catalogTaskActions = ['edit', 'start', 'complete', 'fail', 'skip'] as const
export const CatalogTaskAction = z.enum(catalogTaskActions).meta({ id: 'CatalogTaskAction' })
export type CatalogTaskAction = z.infer<typeof CatalogTaskAction>

const At = z.iso.datetime({ precision: 3 })
const Reference = z.string().trim().min(1).max(100)
const TaskNotes = z.string().max(500).nullable()
const Reason = z.string().trim().min(1).max(2_000)

export const CatalogTaskState = z.object({
  id: idSchema('catalogTask'),
  key: z.string(),
  name: z.string(),
  assignmentGroup: z.string().nullable(),
  assigneeId: z.string().nullable(),
  dependsOn: z.array(z.string()),
  status: CatalogTaskStatus,
  notes: z.string().nullable(),
  startedAt: At.nullable(),
  endedAt: At.nullable(),
})
export type CatalogTaskState = z.infer<typeof CatalogTaskState>

const CatalogTask = CatalogTaskState.extend({
  allowedActions: allowedActionsSchema(
    CatalogTaskAction,
    requireForAll(catalogTaskActions, 'catalog:write'),
    'the present status',
  ),
}).meta({
  id: 'CatalogTask',
})

const FormData = z
  .record(z.string().min(1).max(200), z.unknown())
  .refine(
    (data) => new TextEncoder().encode(JSON.stringify(data)).length <= 32_768,
    'must be at most 32 KiB of JSON',
  )
  .meta({ description: 'Form data, which must match the form of the item.', example: { size: '15' } })
const Quantity = z.int().min(1).max(100)
const Notes = z.string().max(5_000).nullable()

/** A request as contained in events. */
export const CatalogRequestState = z.object({
  id: idSchema('catalogRequest'),
  number: z.string().meta({
    description: 'Number of the request, unique in the workspace and increasing.',
    example: 'REQ-12',
  }),
  itemId: idSchema('catalogItem'),
  itemRevision: z.int().min(1).meta({ description: 'Revision of the item at the time of submission.' }),
  itemName: z.string(),
  price: z
    .object({ amount: z.string(), currency: z.string() })
    .nullable()
    .meta({ description: 'Price of one piece at the time of submission.' }),
  status: CatalogRequestStatus,
  formData: z.record(z.string(), z.unknown()),
  quantity: Quantity,
  notes: z.string().nullable(),
  requestedBy: Actor,
  requesterId: z
    .string()
    .meta({ description: 'Id of the user who made the request, also if it was made with an API key.' }),
  requestedFor: z.string().meta({ description: 'Id of the user who receives the item.' }),
  approvals: z.array(Approval),
  tasks: z.array(CatalogTaskState),
  reason: z.string().nullable().meta({ description: 'Reason for the rejection or cancellation.' }),
  submittedAt: At.nullable(),
  approvedAt: At.nullable(),
  closedAt: At.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type CatalogRequestState = z.infer<typeof CatalogRequestState>

export const CatalogRequest = CatalogRequestState.extend({
  tasks: z.array(CatalogTask),
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    CatalogRequestAction,
    requireForAll(catalogRequestActions, 'catalog:request', {
      approve: 'itsm:approve',
      reject: 'itsm:approve',
      work: 'catalog:write',
      fulfill: 'catalog:write',
    }),
    'the present status',
  ),
}).meta({ id: 'CatalogRequest' })
export type CatalogRequest = z.infer<typeof CatalogRequest>

export const NewCatalogRequest = z
  .strictObject({
    itemId: Reference.meta({ description: 'Id of an active catalogue item.' }),
    formData: FormData.default({}),
    quantity: Quantity.default(1),
    requestedFor: Reference.optional().meta({
      description: 'User who receives the item. Default: the caller.',
    }),
    notes: Notes.default(null),
    draft: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether to save the request as a draft without submitting it.' }),
  })
  .meta({
    id: 'NewCatalogRequest',
    example: { itemId: 'cit_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', formData: { size: '15' } },
  })
export type NewCatalogRequest = z.infer<typeof NewCatalogRequest>

export const CatalogRequestPatch = z
  .strictObject({ formData: FormData, quantity: Quantity, notes: Notes })
  .partial()
  .meta({ id: 'CatalogRequestPatch', example: { formData: { size: '13' } } })
export type CatalogRequestPatch = z.infer<typeof CatalogRequestPatch>

export const ApproveCatalogRequest = z
  .strictObject({ comment: z.string().trim().min(1).max(500).optional() })
  .meta({ id: 'ApproveCatalogRequest', example: { comment: 'Within the budget.' } })

export const RejectCatalogRequest = z
  .strictObject({ reason: z.string().trim().min(1).max(500) })
  .meta({ id: 'RejectCatalogRequest', example: { reason: 'There is one in stock.' } })

export const CancelCatalogRequest = z
  .strictObject({ reason: Reason })
  .meta({ id: 'CancelCatalogRequest', example: { reason: 'No longer needed.' } })

export const FulfillmentOutcome = z.enum(['complete', 'incomplete', 'skipped'])
export type FulfillmentOutcome = z.infer<typeof FulfillmentOutcome>

export const FulfillCatalogRequest = z
  .strictObject({ outcome: FulfillmentOutcome })
  .meta({ id: 'FulfillCatalogRequest', example: { outcome: 'complete' } })

/** Optional note for any action on a task. */
export const CatalogTaskNote = z
  .strictObject({ notes: TaskNotes.optional() })
  .meta({ id: 'CatalogTaskNote', example: { notes: 'Ordered as 4711.' } })

export const CatalogTaskPatch = z
  .strictObject({ assigneeId: Reference.nullable(), assignmentGroup: Reference.nullable(), notes: TaskNotes })
  .partial()
  .meta({ id: 'CatalogTaskPatch', example: { assignmentGroup: 'Hardware' } })
export type CatalogTaskPatch = z.infer<typeof CatalogTaskPatch>

const requestEvent = <Extras extends z.ZodRawShape = Record<never, never>>(
  description: string,
  extras?: Extras,
) => resourceEvent(CatalogRequestState, description, extras)

export const catalogRequestEvents = {
  'request.created': requestEvent('A request for an item of the catalogue was begun.'),
  'request.updated': requestEvent(
    'A draft changed, an approval was given while others are missing, or the request went on by itself: to its ' +
      'approvals, or to being fulfilled.',
  ),
  'request.submitted': requestEvent('A request was handed in.'),
  'request.approved': requestEvent('All approvals a request needs are given.'),
  'request.rejected': requestEvent('An approver rejected the request.', {
    reason: z.string(),
  }),
  'request.task_updated': requestEvent('Something was done to a task of a request.', {
    taskId: idSchema('catalogTask'),
    action: CatalogTaskAction,
    openedTaskIds: z
      .array(idSchema('catalogTask'))
      .meta({ description: 'Ids of the tasks that this action opened for work.' }),
    skippedTaskIds: z
      .array(idSchema('catalogTask'))
      .meta({ description: 'Ids of the tasks that were skipped because a task they depend on failed.' }),
  }),
  'request.fulfilled': requestEvent('The work on a request has ended.', { outcome: FulfillmentOutcome }),
  'request.canceled': requestEvent('A request was withdrawn before it was fulfilled.', {
    reason: z.string(),
  }),
} satisfies Record<string, EventDefinition>
