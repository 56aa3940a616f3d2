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

/** The group of an event type in the reference; events of the platform as a whole are in `Platform`. */
export function eventGroup(type: string): string {
  const [resource = ''] = type.split('.')
  return groups[resource] ?? 'Platform'
}

/** Every declared type, sorted by name. */
export const eventTypes: readonly EventType[] = Object.keys(eventCatalog)
  .map((type) => type as EventType)
  .toSorted()

/**
 * Converts a zod schema to JSON Schema. Objects stay open, so events with fields added later still validate.
 * `draft-7` is required by AsyncAPI; its definitions are under `definitions` instead of `$defs`.
 */
export function toJsonSchema(
  schema: z.ZodType,
  target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12',
): JsonSchema {
  return z.toJSONSchema(schema, {
    target,
    io: 'input',
    override: ({ jsonSchema }) => {
      // Extensions are for client generators; strict validators reject unknown keywords.
      for (const key of Object.keys(jsonSchema)) if (key.startsWith('x-')) delete jsonSchema[key]
      // OpenAPI uses `example`, JSON Schema `examples`.
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
