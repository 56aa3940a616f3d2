import { z } from 'zod'
import { eventCatalog } from './event-catalog.js'
import { eventExample } from './event-example.js'
import { eventGroup, eventJsonSchema, type eventTypes } from './event-json-schema.js'

/** One entry of the event catalogue served by the API. */
export const EventDescription = z
  .object({
    type: z.string().meta({ example: 'incident.created' }),
    description: z.string(),
    group: z.string().meta({ example: 'Incidents' }),
    schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'JSON Schema (2020-12) of the whole event, with the `data` of this type.' }),
    example: z
      .record(z.string(), z.unknown())
      .meta({ description: 'A fictitious event that is valid against the schema.' }),
  })
  .meta({ id: 'EventDescription' })
export type EventDescription = z.infer<typeof EventDescription>

/** Takes about 4 ms of CPU. */
export function describeEvent(type: (typeof eventTypes)[number]): EventDescription {
  return {
    type,
    description: eventCatalog[type].description,
    group: eventGroup(type),
    schema: eventJsonSchema(type),
    example: eventExample(type),
  }
}
