import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ChangePlan, ChangeTitle, SuccessProbability } from './change-fields.js'
import { CiClassName } from './cmdb.js'
import { Level } from './priority.js'

const At = z.iso.datetime({ precision: 3 })

const fields = {
  name: z.string().trim().min(1).max(100).meta({ example: 'Swap a disk' }),
  description: z
    .string()
    .max(2_000)
    .nullable()
    .meta({ description: 'Intended use of the template, in Markdown.' }),
  status: z
    .enum(['active', 'inactive'])
    .meta({ description: 'Changes cannot be drafted or submitted from an inactive template.' }),
  title: ChangeTitle.nullable().meta({
    description: 'Default title of changes drafted from the template.',
    example: 'Swap a disk of the checkout database',
  }),
  implementationPlan: ChangePlan.meta({ example: 'Take it out of the array, swap it, let it rebuild.' }),
  testPlan: ChangePlan.nullable(),
  backoutPlan: ChangePlan.meta({ example: 'Put the old one back.' }),
  impact: Level.meta({ description: 'Extent of the disruption if the change fails.' }),
  successProbability: SuccessProbability,
  ciClasses: z
    .array(CiClassName)
    .min(1)
    .max(50)
    .overwrite((names) => [...new Set(names)])
    .nullable()
    .meta({
      description:
        'Classes of the configuration items that changes of this template may affect. `null` for any.',
      example: ['database'],
    }),
  maxDurationMinutes: z.int().min(1).max(525_600).nullable().meta({
    description:
      'Maximum length of the planned window of changes of this template, in minutes. `null` for any length.',
    example: 120,
  }),
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
  version: ResourceVersion,
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
