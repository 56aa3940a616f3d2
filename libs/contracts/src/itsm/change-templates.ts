import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ChangePlan, ChangeTitle, SuccessProbability } from './change-fields.js'
import { CiClassName } from './cmdb.js'
import { Level } from './priority.js'

const At = z.iso.datetime({ precision: 3 })

const fields = {
  name: z.string().trim().min(1).max(100).meta({ example: 'Swap a disk' }),
  description: z.string().max(2_000).nullable().meta({ description: 'When it is to be used, in Markdown.' }),
  status: z
    .enum(['active', 'inactive'])
    .meta({ description: 'Nothing is drafted or submitted from an inactive one.' }),
  title: ChangeTitle.nullable().meta({
    description: 'Of changes that are drafted without a title of their own.',
    example: 'Swap a disk of the checkout database',
  }),
  implementationPlan: ChangePlan.meta({ example: 'Take it out of the array, swap it, let it rebuild.' }),
  testPlan: ChangePlan.nullable(),
  backoutPlan: ChangePlan.meta({ example: 'Put the old one back.' }),
  impact: Level.meta({ description: 'How much it takes down if it fails.' }),
  successProbability: SuccessProbability,
  ciClasses: z
    .array(CiClassName)
    .min(1)
    .max(50)
    .overwrite((names) => [...new Set(names)])
    .nullable()
    .meta({
      description: 'Its changes touch items of these classes alone; null for any.',
      example: ['database'],
    }),
  maxDurationMinutes: z
    .int()
    .min(1)
    .max(525_600)
    .nullable()
    .meta({ description: 'Longest planned window of its changes; null for any.', example: 120 }),
}

/** A pre-approved change template, as contained in events. */
export const ChangeTemplateState = z.object({
  id: idSchema('changeTemplate'),
  ...fields,
  createdAt: At,
  updatedAt: At,
})
export type ChangeTemplateState = z.infer<typeof ChangeTemplateState>

export const ChangeTemplate = ChangeTemplateState.extend({
  version: z.int().positive().meta({ description: 'Also the ETag; send it as If-Match.' }),
}).meta({ id: 'ChangeTemplate' })
export type ChangeTemplate = z.infer<typeof ChangeTemplate>

export const NewChangeTemplate = z
  .strictObject({
    ...fields,
    description: fields.description.default(null),
    status: fields.status.default('active'),
    title: fields.title.default(null),
    testPlan: fields.testPlan.default(null),
    impact: fields.impact.default('low'),
    successProbability: fields.successProbability.default(null),
    ciClasses: fields.ciClasses.default(null),
    maxDurationMinutes: fields.maxDurationMinutes.default(null),
  })
  .meta({
    id: 'NewChangeTemplate',
    example: {
      name: 'Swap a disk',
      title: 'Swap a disk',
      implementationPlan: 'Take it out of the array, swap it, let it rebuild.',
      backoutPlan: 'Put the old one back.',
      impact: 'low',
      successProbability: 98,
      ciClasses: ['database', 'storage'],
      maxDurationMinutes: 240,
    },
  })
export type NewChangeTemplate = z.infer<typeof NewChangeTemplate>

export const ChangeTemplatePatch = z
  .strictObject(fields)
  .partial()
  .meta({ id: 'ChangeTemplatePatch', example: { maxDurationMinutes: 180 } })
export type ChangeTemplatePatch = z.infer<typeof ChangeTemplatePatch>

export const changeTemplateEvents = {
  'change_template.created': resourceEvent(ChangeTemplateState, 'A template of standard changes was made.'),
  'change_template.updated': resourceEvent(
    ChangeTemplateState,
    'A template of standard changes was altered; drafts take it over when they are submitted.',
  ),
  'change_template.deleted': resourceEvent(
    ChangeTemplateState,
    'A template of standard changes was deleted.',
  ),
} satisfies Record<string, EventDefinition>
