import { z } from 'zod'
import { type EventType, eventCatalog } from './event-catalog.js'
import { eventSchema } from './typed-event.js'

export type JsonSchema = Record<string, unknown>

const groups: Readonly<Record<string, string>> = {
  incident: 'Incidents',
  change: 'Changes',
  problem: 'Problems',
  workflow: 'Workflows',
  record: 'DB records',
  sdk: 'Audit',
}

/** The group of the reference an event type stands in; what concerns the platform as a whole is `Platform`. */
export function eventGroup(type: string): string {
  const [resource = ''] = type.split('.')
  return groups[resource] ?? 'Platform'
}

/** Every declared type, in the order of its name. */
export const eventTypes: readonly EventType[] = Object.keys(eventCatalog)
  .map((type) => type as EventType)
  .toSorted()

/**
 * A zod schema as JSON Schema. Objects stay open: a field that is added to an event later still validates.
 * `draft-7` is what AsyncAPI takes, whose definitions stand under `definitions` instead of `$defs`.
 */
export function toJsonSchema(
  schema: z.ZodType,
  target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12',
): JsonSchema {
  return z.toJSONSchema(schema, {
    target,
    io: 'input',
    override: ({ jsonSchema }) => {
      // Extensions are for generators of clients; a strict validator refuses words it does not know.
      for (const key of Object.keys(jsonSchema)) if (key.startsWith('x-')) delete jsonSchema[key]
      // `example` is OpenAPI's word; JSON Schema says `examples`.
      if (!('example' in jsonSchema)) return
      jsonSchema.examples = [jsonSchema.example]
      delete jsonSchema.example
    },
  })
}

/** JSON Schema of the whole event (shape A) of one type. */
export function eventJsonSchema(type: EventType, target?: 'draft-2020-12' | 'draft-7'): JsonSchema {
  return toJsonSchema(
    eventSchema(type).meta({ title: type, description: eventCatalog[type].description }),
    target,
  )
}
