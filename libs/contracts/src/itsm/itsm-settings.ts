import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { Criticality } from './cmdb.js'
import { defaultPriorityMatrix, Priority, PriorityMatrix } from './priority.js'

const At = z.iso.datetime({ precision: 3 })

/** A rule that proposes an incident as a major incident automatically: all conditions of the rule must hold. */
export const MajorRule = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .meta({ description: 'Name of the rule, reported as the reason of the proposal.' }),
    priorities: z
      .array(Priority)
      .min(1)
      .max(5)
      .optional()
      .meta({ description: 'The incident has one of these priorities.' }),
    criticalities: z
      .array(Criticality)
      .min(1)
      .max(4)
      .optional()
      .meta({ description: 'The incident concerns a configuration item with one of these criticalities.' }),
    minChildren: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .meta({ description: 'The incident has at least this number of children.' }),
  })
  .refine(
    ({ priorities, criticalities, minChildren }) => priorities ?? criticalities ?? minChildren,
    'must name priorities, criticalities or minChildren',
  )
export type MajorRule = z.infer<typeof MajorRule>

export const defaultMajorRules: readonly MajorRule[] = [{ name: 'Many children', minChildren: 10 }]

const fields = {
  priorityMatrix: PriorityMatrix.meta({
    description: 'Priority by impact (rows) and urgency (columns). Existing incidents keep their priority.',
    example: defaultPriorityMatrix,
  }),
  autoCloseDays: z.int().min(0).max(365).meta({
    description: 'Days after which a resolved incident is closed automatically; 0 for never.',
    example: 7,
  }),
  resolutionRequired: z
    .boolean()
    .meta({ description: 'Whether a resolution code and notes are required to resolve an incident.' }),
  separationOfDuties: z.boolean().meta({
    description:
      'Whether users who were involved in a change or an article are excluded from approving it, and from ' +
      'reviewing the change. Set it to `false` in workspaces with a single user. It applies to changes submitted ' +
      'afterwards.',
    example: true,
  }),
  majorRules: z
    .array(MajorRule)
    .max(20)
    .meta({
      description:
        'Rules by which incidents are automatically proposed as major incidents. The first matching rule applies. ' +
        'The rules are evaluated when an incident is opened and when its priority, item or children change; changing ' +
        'the rules does not affect existing incidents.',
      example: [{ name: 'Most pressing', priorities: ['P1'] }, ...defaultMajorRules],
    }),
}

/** Service desk settings of one workspace and environment. */
export const ItsmSettingsState = z.object({
  id: idSchema('itsmSettings'),
  ...fields,
  // Absent in states stored before this field was introduced.
  majorRules: fields.majorRules.default(() => [...defaultMajorRules]),
  createdAt: At.nullable().meta({ description: '`null` until the settings are changed for the first time.' }),
  updatedAt: At.nullable(),
})
export type ItsmSettingsState = z.infer<typeof ItsmSettingsState>

export const ItsmSettings = ItsmSettingsState.extend({
  version: z.int().min(0).meta({
    description:
      'Version number, also returned as the `ETag`. 0 until the settings are changed for the first time.',
  }),
}).meta({ id: 'ItsmSettings' })
export type ItsmSettings = z.infer<typeof ItsmSettings>

export const ItsmSettingsPatch = z
  .strictObject(fields)
  .partial()
  .meta({ id: 'ItsmSettingsPatch', example: { autoCloseDays: 14, resolutionRequired: true } })
export type ItsmSettingsPatch = z.infer<typeof ItsmSettingsPatch>

export const itsmSettingsEvents = {
  'itsm_settings.updated': resourceEvent(ItsmSettingsState, 'The settings of the ITSM desk were changed.'),
} satisfies Record<string, EventDefinition>
