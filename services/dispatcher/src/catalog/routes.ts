import {
  ApiError,
  describeEvent,
  EventDescription,
  EventPattern,
  eventTypes,
  type NatsNames,
  patternMatches,
} from '@opsplane/contracts'
import {
  type CachedDocument,
  cacheDocument,
  cacheJson,
  defineDocument,
  defineList,
  defineRoute,
  type Route,
  stringifyInSlices,
} from '@opsplane/http'
import { type CursorCodec, createSlices } from '@opsplane/runtime'
import { z } from 'zod'
import { asyncApiDocument } from './asyncapi.js'

// The catalogue is the same for every workspace, so a signed-in caller need not name one.
const access = { tag: 'Events', scope: 'authenticated', workspace: 'none' } as const

/** Routes of the event catalogue and the AsyncAPI document. Each part is built on its first request and then cached. */
export function catalogRoutes({ names, cursors }: { names: NatsNames; cursors: CursorCodec }): Route[] {
  const described = new Map<string, EventDescription>()
  const describe = (type: (typeof eventTypes)[number]): EventDescription => {
    const entry = described.get(type) ?? cacheJson(describeEvent(type))
    described.set(type, entry)
    return entry
  }
  let document: Promise<CachedDocument> | undefined
  const make = async () =>
    cacheDocument('application/json', await stringifyInSlices(await asyncApiDocument(names)))

  const list = defineList({
    ...access,
    operationId: 'listEventTypes',
    path: '/events/catalog',
    summary: 'List the event types available for subscription',
    description: 'Returns each event type with the JSON Schema of its events and an example.',
    query: z.object({
      type: EventPattern.optional().meta({ description: 'An event type, `prefix.*` or `*`.' }),
    }),
    sorts: ['type'],
    response: EventDescription,
    handler: async ({ query: { type = '*', after, limit, sort }, binding }) => {
      const ordered = sort.direction === 'asc' ? eventTypes : eventTypes.toReversed()
      const matching = ordered.filter((name) => patternMatches(type, name))
      // The cursor contains the last type shown: all replicas of a release list the same types in the same order.
      const [last] = after === undefined ? [] : cursors.decode(after, binding)
      const from = last === undefined ? 0 : (matching as readonly string[]).indexOf(String(last)) + 1
      const items: EventDescription[] = []
      const slice = createSlices()
      for (const name of matching.slice(from, from + limit)) {
        items.push(describe(name))
        await slice()
      }
      const more = from + limit < matching.length
      return { items, nextCursor: more ? cursors.encode([items.at(-1)?.type], binding) : null, limit }
    },
  })

  const get = defineRoute({
    ...access,
    operationId: 'getEventType',
    method: 'get',
    path: '/events/catalog/:type',
    summary: 'Get an event type',
    description: 'Returns the JSON Schema of the events of this type, and an example.',
    response: EventDescription,
    handler: async ({ params }) => {
      const type = eventTypes.find((name) => name === params.type)
      if (!type) throw new ApiError('not_found', 'There is no such event type.')
      return describe(type)
    },
  })

  const asyncApi = defineDocument({
    ...access,
    operationId: 'getAsyncApi',
    path: '/events/asyncapi.json',
    summary: 'Get the event streams as an AsyncAPI 3.0 document',
    description: 'Describes every channel with its messages. The document changes only with a new release.',
    response: z.looseObject({ asyncapi: z.literal('3.0.0') }),
    handler: async () => {
      document ??= make()
      return { document: await document, headers: { 'Cache-Control': 'no-cache' } }
    },
  })

  return [list, get, asyncApi]
}
