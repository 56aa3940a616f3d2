import { Actor } from '../core/principal.js'
import { EventSource } from './event.js'
import type { EventType } from './event-catalog.js'
import { eventCatalog } from './event-catalog.js'
import { type JsonSchema, toJsonSchema } from './event-json-schema.js'
import { type EventOf, eventSchema } from './typed-event.js'

const ulid = '01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
/** Verbs of events that bring their subject into existence. */
const beginnings = new Set([
  'created',
  'class_created',
  'relation_added',
  'delivery_retried',
  'delivery_replayed',
  'replay_started',
  'exported',
])
/** Verbs of events that end the existence of their subject. */
const endings = new Set(['deleted', 'relation_removed'])
const earlier = '2026-01-15T09:00:00.000Z'
const at = '2026-01-15T09:30:00.000Z'

/** An example event of a type with all fields of its schema. It is valid against that schema. */
export function eventExample<Type extends EventType>(type: Type): EventOf<Type> {
  const [resourceType = '', verb = ''] = type.split('.')
  const { before: _, after, ...extras } = object(sample(toJsonSchema(eventCatalog[type].data), 'data'))
  const resource = object(after)
  const version = beginnings.has(verb) ? 1 : 2
  const event = {
    id: `evt_${ulid}`,
    type,
    workspaceId: `ws_${ulid}`,
    environment: 'production',
    createdAt: at,
    actor: sample(toJsonSchema(Actor), 'actor'),
    resource: {
      type: resourceType,
      // The event's subject can be a part of the resource, such as a replay of a webhook.
      id: String(resource[`${resourceType}Id`] ?? resource.id),
      ...(typeof resource.number === 'string' && { number: resource.number }),
      displayName: String(resource.title ?? resource.name ?? resource.id),
    },
    data: { ...extras, version, ...changeOf(verb, resource) },
    version,
    requestId: null,
    causationId: null,
    source: sample(toJsonSchema(EventSource), 'source'),
  }
  // Parsed, so that an example that violates its schema is never shown.
  return eventSchema(type).parse(event) as EventOf<Type>
}

/**
 * Changes of a resource for a verb such as `created`: everything is new, everything
 * is removed, or only `updatedAt` changes.
 */
function changeOf(verb: string, after: JsonSchema) {
  if (beginnings.has(verb)) return { before: null, after, changes: Object.keys(after) }
  if (endings.has(verb)) return { before: after, after: null, changes: Object.keys(after) }
  const changes = Object.keys(after).filter((name) => name === 'updatedAt' || name === 'updated_at')
  return {
    before: { ...after, ...Object.fromEntries(changes.map((name) => [name, earlier])) },
    after,
    changes,
  }
}

/** A value that is valid against a JSON Schema: its example, otherwise the simplest value. */
function sample(schema: JsonSchema, name: string, root: JsonSchema = schema): unknown {
  const { examples, anyOf, $ref } = schema
  if (Array.isArray(examples)) return examples[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof $ref === 'string')
    return sample(object(object(root.$defs)[$ref.slice('#/$defs/'.length)]), name, root)
  if (Array.isArray(anyOf)) return sampleOfUnion(anyOf, name, root)
  if (Array.isArray(schema.type) && schema.type.includes('null')) return null
  if (schema.type === 'object') return sampleObject(schema, root)
  if (schema.type === 'array')
    return Number(schema.minItems ?? 0) > 0 ? [sample(object(schema.items), name, root)] : []
  if (schema.type === 'boolean') return false
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(0, Number(schema.minimum ?? 0))
  return sampleText(schema, name)
}

/** Nullable values are `null`, except for the resource itself and values with an example. */
function sampleOfUnion(options: unknown[], name: string, root: JsonSchema): unknown {
  const [first, ...others] = options.map(object)
  const nullable = others.some(({ type }) => type === 'null')
  if (!nullable || name === 'before' || name === 'after' || Array.isArray(first?.examples)) {
    return sample(first ?? {}, name, root)
  }
  return null
}

function sampleObject({ properties, required }: JsonSchema, root: JsonSchema): JsonSchema {
  const names = Array.isArray(required) ? required.map(String) : []
  return Object.fromEntries(names.map((name) => [name, sample(object(object(properties)[name]), name, root)]))
}

function sampleText({ pattern, format }: JsonSchema, name: string): string {
  const idPrefix = /^\^([a-z]+_)\[/.exec(String(pattern ?? ''))?.[1]
  if (idPrefix !== undefined) return `${idPrefix}${ulid}`
  if (name === 'createdAt' || name === 'created_at') return earlier
  if (format === 'date-time' || /(At|_at)$/.test(name)) return at
  if (name === 'email') return 'ada@example.com'
  if (name === 'url') return 'https://example.com/hook'
  return name
}

function object(value: unknown): JsonSchema {
  return value !== null && typeof value === 'object' ? { ...value } : {}
}
