import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { ApprovalRule } from './approvals.js'
import { catalogRequestEvents } from './service-request.js'

export const catalogItemStatuses = ['draft', 'active', 'retired'] as const
export const CatalogItemStatus = z.enum(catalogItemStatuses).meta({ id: 'CatalogItemStatus' })
export type CatalogItemStatus = z.infer<typeof CatalogItemStatus>

/** All actions on a catalog item; its status determines which of them apply. */
export const catalogItemActions = ['edit', 'activate', 'retire', 'delete'] as const
export const CatalogItemAction = z.enum(catalogItemActions).meta({ id: 'CatalogItemAction' })
export type CatalogItemAction = z.infer<typeof CatalogItemAction>

const At = z.iso.datetime({ precision: 3 })
const Reference = z.string().trim().min(1).max(100)

const TaskKey = z
  .string()
  .max(40)
  .regex(/^[a-z][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _, beginning with a letter')
  .meta({ description: 'Key of the task, unique within the item.', example: 'order' })

const DependsOn = z.array(TaskKey).max(20).meta({
  description: 'Keys of the tasks that must be done before this task.',
})
const taskFields = {
  key: TaskKey,
  name: z.string().trim().min(1).max(200).meta({ example: 'Order the laptop' }),
  assignmentGroup: Reference.nullable().meta({ description: 'Team to which the task is assigned.' }),
  assigneeId: Reference.nullable().meta({ description: 'User to whom the task is assigned.' }),
  dependsOn: DependsOn,
}

/** One task in the fulfillment of a request. */
export const PlannedTask = z.object(taskFields)
export type PlannedTask = z.infer<typeof PlannedTask>

const NewPlannedTask = z.strictObject({
  ...taskFields,
  assignmentGroup: taskFields.assignmentGroup.default(null),
  assigneeId: taskFields.assigneeId.default(null),
  dependsOn: DependsOn.overwrite((keys) => [...new Set(keys)]).default([]),
})

const Price = z
  .strictObject({
    amount: z
      .string()
      .regex(/^\d{1,12}(\.\d{1,4})?$/, 'must be a decimal number such as 19.90')
      .meta({ example: '1499.00' }),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')
      .meta({ example: 'EUR' }),
  })
  .nullable()
  .meta({ description: 'Price of one piece; `null` if the item is free.' })

/** Maximum persons in one rule: each may add a decision to the request, which must fit in an event. */
const maxApprovers = 20

const fields = {
  name: z.string().trim().min(1).max(200).meta({ example: 'Laptop' }),
  description: z
    .string()
    .max(10_000)
    .nullable()
    .meta({ description: 'Description of the item in Markdown.' }),
  category: Reference.nullable().meta({ example: 'hardware' }),
  tags: z
    .array(z.string().trim().min(1).max(50))
    .max(50)
    .overwrite((tags) => [...new Set(tags)])
    .meta({ description: 'Tags of the item. Duplicates are removed.', example: ['hardware'] }),
  formSchema: z.record(z.string(), z.unknown()).meta({
    description:
      'JSON Schema (2020-12) of the form data of a request. Objects accept only declared properties unless ' +
      '`additionalProperties` is true; defaults are filled in, also in objects within lists.',
    example: {
      type: 'object',
      properties: {
        costCentre: { type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' },
        size: { type: 'string', enum: ['13', '15'] },
      },
      required: ['size'],
    },
  }),
  price: Price,
  approvals: z
    .array(ApprovalRule)
    .max(5)
    .refine(
      (rules) =>
        rules.every(
          ({ approverIds, waitFor }) => Math.max(approverIds?.length ?? 0, countOf(waitFor)) <= maxApprovers,
        ),
      `may not name, or wait for, more than ${maxApprovers} persons each`,
    )
    .meta({ description: 'Approval rules, all of which must be met before a request is fulfilled.' }),
}

const plan = 'How a request is fulfilled.'
const NewPlan = z.array(NewPlannedTask).max(50).meta({ description: plan })

function countOf(waitFor: ApprovalRule['waitFor']): number {
  return typeof waitFor === 'object' && 'count' in waitFor ? waitFor.count : 1
}

/** A catalog item as contained in events. */
export const CatalogItemState = z.object({
  id: idSchema('catalogItem'),
  ...fields,
  tasks: z.array(PlannedTask).meta({ description: plan }),
  status: CatalogItemStatus,
  revision: z.int().min(1).meta({
    description: 'Revision of the item, increased by every edit; each request is pinned to one revision.',
  }),
  activatedAt: At.nullable(),
  retiredAt: At.nullable(),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type CatalogItemState = z.infer<typeof CatalogItemState>

export const CatalogItem = CatalogItemState.extend({
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    CatalogItemAction,
    requireForAll(catalogItemActions, 'catalog:write'),
    'the present status',
  ),
}).meta({ id: 'CatalogItem' })
export type CatalogItem = z.infer<typeof CatalogItem>

export const NewCatalogItem = z
  .strictObject({
    ...fields,
    description: fields.description.default(null),
    category: fields.category.default(null),
    tags: fields.tags.default([]),
    formSchema: fields.formSchema.default({ type: 'object', properties: {} }),
    price: fields.price.default(null),
    approvals: fields.approvals.default([]),
    tasks: NewPlan.default([]),
  })
  .meta({
    id: 'NewCatalogItem',
    example: {
      name: 'Laptop',
      formSchema: {
        type: 'object',
        properties: { size: { type: 'string', enum: ['13', '15'], default: '13' } },
      },
      price: { amount: '1499.00', currency: 'EUR' },
      approvals: [{ name: 'Budget owner' }],
      tasks: [
        { key: 'order', name: 'Order it' },
        { key: 'set_up', name: 'Set it up', dependsOn: ['order'] },
      ],
    },
  })
export type NewCatalogItem = z.infer<typeof NewCatalogItem>

export const CatalogItemPatch = z
  .strictObject({ ...fields, tasks: NewPlan })
  .partial()
  .meta({ id: 'CatalogItemPatch', example: { price: { amount: '1399.00', currency: 'EUR' } } })
export type CatalogItemPatch = z.infer<typeof CatalogItemPatch>

export const serviceCatalogEvents = {
  'catalog_item.created': resourceEvent(CatalogItemState, 'An item of the service catalogue was begun.'),
  'catalog_item.updated': resourceEvent(
    CatalogItemState,
    'An item was edited, which makes a revision of it.',
  ),
  'catalog_item.activated': resourceEvent(CatalogItemState, 'An item can be requested from now on.'),
  'catalog_item.retired': resourceEvent(CatalogItemState, 'An item can no longer be requested.'),
  'catalog_item.deleted': resourceEvent(CatalogItemState, 'An item that was never active was dropped.'),
  ...catalogRequestEvents,
} satisfies Record<string, EventDefinition>
export type ServiceCatalogEventType = keyof typeof serviceCatalogEvents
