import {
  canonicalJson,
  type EventType,
  environments,
  eventCatalog,
  eventExample,
  eventGroup,
  eventJsonSchema,
  eventTypes,
  type JsonSchema,
  type NatsNames,
  TopicMessage,
  toJsonSchema,
} from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'
import { BusMessageHeaders, busExample, EventHeaders } from './messages.js'

export type AsyncApiDocument = { asyncapi: '3.0.0' } & Record<string, unknown>

const componentPath = '#/components/schemas/'
const tenantParameters = {
  workspaceId: { description: 'Id of the workspace (`ws_`).' },
  environment: { enum: [...environments], description: 'Environment of the workspace.' },
}

/**
 * The AsyncAPI 3.0 document of the messages published to JetStream: one channel per event type, and one for the topics
 * of the event bus. Addresses are the subjects of this installation. Takes about a second, and yields to the event loop
 * meanwhile.
 */
export async function asyncApiDocument(names: NatsNames): Promise<AsyncApiDocument> {
  const slice = createSlices()
  const schemas = new Components()
  schemas.add('EventHeaders', toJsonSchema(EventHeaders, 'draft-7'))
  schemas.add('BusMessageHeaders', toJsonSchema(BusMessageHeaders, 'draft-7'))
  schemas.add('BusMessage', toJsonSchema(TopicMessage, 'draft-7'))
  const messages: Record<string, unknown> = {}
  for (const type of eventTypes) {
    schemas.add(type, eventJsonSchema(type, 'draft-7'))
    messages[type] = eventMessage(type)
    await slice()
  }

  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Opsplane events',
      version: '1',
      description:
        `Streams of NATS JetStream. ${names.eventsStream} carries every state change of the platform, and ` +
        `${names.topicsStream} carries the events that clients publish to topics of the event bus. Both deliver at ` +
        'least once: the `id` of an event identifies a repetition, and its `version` the order within its aggregate.',
    },
    defaultContentType: 'application/json',
    channels: {
      ...Object.fromEntries(eventTypes.map((type) => [type, eventChannel(names, type)])),
      topic: topicChannel(names),
    },
    operations: {
      ...Object.fromEntries(eventTypes.map((type) => [`send-${type}`, sends(type, type)])),
      'send-topic': sends('topic', 'BusMessage'),
    },
    components: {
      schemas: schemas.all,
      messages: { ...messages, BusMessage: busMessage },
    },
  }
}

function eventChannel(names: NatsNames, type: EventType) {
  return {
    address: names.eventSubjects.replace('>', `{workspaceId}.{environment}.${type}`),
    title: type,
    summary: eventCatalog[type].description,
    parameters: tenantParameters,
    messages: { [type]: { $ref: `#/components/messages/${type}` } },
    tags: [{ name: eventGroup(type) }],
  }
}

function topicChannel(names: NatsNames) {
  return {
    address: names.topicSubjects.replace('>', '{workspaceId}.{environment}.{topic}'),
    title: 'Topics of the event bus',
    summary: 'Events that clients publish with `POST /events/topics/{topic}/publish`.',
    parameters: {
      ...tenantParameters,
      topic: { description: 'Name of the topic, such as `orders` or `orders.created`.' },
    },
    messages: { BusMessage: { $ref: '#/components/messages/BusMessage' } },
    tags: [{ name: 'Event bus' }],
  }
}

function sends(channel: string, message: string) {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    messages: [{ $ref: `#/channels/${channel}/messages/${message}` }],
  }
}

function eventMessage(type: EventType) {
  const payload = eventExample(type)
  return {
    name: type,
    title: type,
    summary: eventCatalog[type].description,
    contentType: 'application/json',
    headers: { $ref: `${componentPath}EventHeaders` },
    payload: { $ref: `${componentPath}${type}` },
    correlationId: { location: '$message.header#/X-Request-ID' },
    examples: [{ headers: { 'Nats-Msg-Id': payload.id }, payload }],
    tags: [{ name: eventGroup(type) }],
  }
}

const busMessage = {
  name: 'BusMessage',
  title: 'An event of a topic',
  contentType: 'application/json',
  headers: { $ref: `${componentPath}BusMessageHeaders` },
  payload: { $ref: `${componentPath}BusMessage` },
  examples: [{ payload: busExample }],
  tags: [{ name: 'Event bus' }],
}

/** Collects schemas; definitions shared by several of them are listed once, next to them. */
class Components {
  readonly all: Record<string, JsonSchema> = {}

  add(name: string, { $schema: _, definitions, ...schema }: JsonSchema): void {
    this.#put(name, schema)
    for (const [shared, definition] of Object.entries(definitions ?? {})) this.#put(shared, definition)
  }

  #put(name: string, schema: JsonSchema): void {
    const component = JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', `"${componentPath}`))
    const known = this.all[name]
    if (known && canonicalJson(known) !== canonicalJson(component))
      throw new Error(`two schemas are named ${name}`)
    this.all[name] = component
  }
}
