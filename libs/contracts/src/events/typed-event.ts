import { z } from 'zod'
import { PlatformEvent } from './event.js'
import { type EventType, eventCatalog } from './event-catalog.js'

type Typed<Type extends EventType> = Omit<PlatformEvent, 'type' | 'data'> & {
  type: Type
  data: z.infer<(typeof eventCatalog)[Type]['data']>
}

/** A platform event with the `data` of its type; of several types, a union distinguished by `type`. */
export type EventOf<Type extends EventType> = { [T in Type]: Typed<T> }[Type]

/** The declared types a pattern covers: itself, all below `prefix.*`, or all of them. */
export type TypesMatching<Pattern extends string> = Pattern extends '*' | 'audit.*'
  ? EventType
  : Pattern extends `${infer Prefix}.*`
    ? Extract<EventType, `${Prefix}.${string}`>
    : Extract<EventType, Pattern>

type Prefixes<Type extends string> = Type extends `${infer Head}.${infer Rest}`
  ? Head | (Rest extends `${string}.${string}` ? `${Head}.${Prefixes<Rest>}` : never)
  : never

/** Valid entries of a typed subscription. */
export type CatalogPattern = EventType | `${Prefixes<EventType>}.*` | '*' | 'audit.*'

function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventCatalog, type)
}

/** Shape A with the `data` schema of one type. */
export function eventSchema<Type extends EventType>(type: Type) {
  return PlatformEvent.extend({ type: z.literal(type), data: eventCatalog[type].data })
}

/**
 * Parses an event of any declared type; `null` if its type is not declared here, for example because the sender is
 * newer. Fields the schema does not declare are dropped. Throws ZodError if the event violates the schema.
 */
export function parseEvent(input: unknown): EventOf<EventType> | null {
  const { type } = z.looseObject({ type: z.string() }).parse(input)
  // Each type's schema yields exactly the event of that type, which a lookup by a union cannot express.
  return isEventType(type) ? (schemaOf(type).parse(input) as EventOf<EventType>) : null
}

const schemas = new Map<EventType, z.ZodType>()

function schemaOf(type: EventType): z.ZodType {
  const schema = schemas.get(type) ?? eventSchema(type)
  schemas.set(type, schema)
  return schema
}
