import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { Criticality } from './cmdb.js'
import { defaultPriorityMatrix, Priority, PriorityMatrix } from './priority.js'

const At = z.iso.datetime({ precision: 3 })

/** A rule that proposes an incident as a major incident automatically: all conditions of the rule must hold. */
export const MajorRule = z
  .strictObject({
    name: z.string().trim().min(1).max(100).meta({ description: 'Reported as the reason.' }),
    priorities: z.array(Priority).min(1).max(5).optional().meta({ description: 'It has one of these.' }),
    criticalities: z
      .array(Criticality)
      .min(1)
      .max(4)
      .optional()
      .meta({ description: 'It is about a configuration item as critical as one of these.' }),
    minChildren: z.int().min(1).max(10_000).optional().meta({ description: 'It has so many children.' }),
  })
  .refine(
    ({ priorities, criticalities, minChildren }) => priorities ?? criticalities ?? minChildren,
    'must name priorities, criticalities or minChildren',
  )
export type MajorRule = z.infer<typeof MajorRule>

export const defaultMajorRules: readonly MajorRule[] = [{ name: 'Many children', minChildren: 10 }]

const fields = {
  priorityMatrix: PriorityMatrix.meta({
    description: 'The priority by impact (rows) and urgency (columns). Incidents keep the one they got.',
    example: defaultPriorityMatrix,
  }),
  autoCloseDays: z.int().min(0).max(365).meta({
    description: 'Days after which a resolved incident is closed by itself; 0 for never.',
    example: 7,
  }),
  resolutionRequired: z.boolean().meta({ description: 'Whether resolving needs a code and notes.' }),
  separationOfDuties: z.boolean().meta({
    description:
      'Whether changes and articles are approved, and changes reviewed, by others than those who had a hand in them. ' +
      'Set it to false in workspaces of one person; it applies to changes submitted from then on.',
    example: true,
  }),
  majorRules: z
    .array(MajorRule)
    .max(20)
    .meta({
      description:
        'When incidents are proposed as major ones by themselves; the first rule that holds counts. Held against an ' +
        'incident when it is opened, and when its priority, item or children change; editing the rules changes none.',
      example: [{ name: 'Most pressing', priorities: ['P1'] }, ...defaultMajorRules],
    }),
}

/** Service desk settings of one workspace and environment. */
export const ItsmSettingsState = z.object({
  id: idSchema('itsmSettings'),
  ...fields,
  // Absent in states stored before this field was introduced.
  majorRules: fields.majorRules.default(() => [...defaultMajorRules]),
  createdAt: At.nullable().meta({ description: 'Null until they are first changed.' }),
  updatedAt: At.nullable(),
})
export type ItsmSettingsState = z.infer<typeof ItsmSettingsState>

export const ItsmSettings = ItsmSettingsState.extend({
  version: z.int().min(0).meta({ description: 'Also the ETag; 0 until they are first changed.' }),
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
