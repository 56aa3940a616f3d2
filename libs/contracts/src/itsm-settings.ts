import { z } from 'zod'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { idSchema } from './ids.js'
import { defaultPriorityMatrix, PriorityMatrix } from './priority.js'

const At = z.iso.datetime({ precision: 3 })

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
}

/** How the desk of one workspace and environment works. */
export const ItsmSettingsState = z.object({
  id: idSchema('itsmSettings'),
  ...fields,
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
export type ItsmSettingsEventType = keyof typeof itsmSettingsEvents
