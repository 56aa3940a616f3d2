import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import {
  type ErrorCode,
  ErrorEnvelope,
  errorTable,
  Meta,
  originPrefix,
  Pagination,
} from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'
import { z } from 'zod'
import { locator } from '../route/location.js'
import { isVersioned, type Route, supportsIfNoneMatch } from '../route/route.js'
import { asLines, json, lines, responseContent, uploadContent } from './contents.js'
import { createExamples } from './examples.js'
import { type Schema, type Schemas, withNamedMembers } from './named-members.js'
import { withNullableReferences } from './nullable-references.js'
import { headerParameters, securitySchemes } from './openapi-components.js'
import { withPlainDefaults } from './plain-defaults.js'
import { createNames } from './schema-names.js'

type Definition = ConstructorParameters<typeof OpenApiGeneratorV31>[0][number]

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

/**
 * The OpenAPI 3.1 document of a service's routes. Internal routes are omitted; routes outside the API have a separate
 * server entry. Takes up to a second, so it yields to the event loop every few routes.
 */
export async function openApiDocument(service: string, routes: readonly Route[]): Promise<OpenApiDocument> {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'bearer', securitySchemes.bearer)
  for (const [name, parameter] of Object.entries(headerParameters)) {
    registry.registerComponent('parameters', name, parameter)
  }
  const shown = routes.filter(({ isDocumented }) => isDocumented)
  const head = {
    openapi: '3.1.0',
    info: { title: `Opsplane ${service}`, version: '1' },
    tags: [...new Set(shown.map(({ tag }) => tag))].map((name) => ({ name })),
  }
  const envelopes = envelopeComponents()
  const described = shown.map((route) => ({ route, envelope: envelopes(route) }))
  const names = createNames()
  const ofErrors = names.claim([ErrorEnvelope])
  const namedSchemas = described.flatMap(({ route, envelope }) => names.claim(schemasOf(route, envelope)))
  const definitions: Definition[] = [...registry.definitions]
  // The generator appends the definitions in its list to its earlier output, so the list gets one definition at a time.
  const generator = new OpenApiGeneratorV31(definitions)
  let document = generator.generateDocument(head)
  const slice = createSlices()
  const add = async (definition: Definition) => {
    definitions.splice(0, definitions.length, definition)
    document = generator.generateDocument(head)
    await slice()
  }
  for (const schema of [...ofErrors, ...namedSchemas]) await add({ type: 'schema', schema })
  for (const { route, envelope } of described)
    await add({ type: 'route', route: operation(route, envelope, locator(route, routes) !== undefined) })
  for (const { path } of shown.filter(({ isOfOrigin }) => isOfOrigin)) {
    const item = document.paths?.[shownPath(path)]
    if (item) item.servers = [...originServers]
  }
  for (const section of [document.paths ?? {}, document.components?.schemas ?? {}]) {
    for (const [name, part] of Object.entries(section)) {
      section[name] = withNullableReferences(withPlainDefaults(part))
      await slice()
    }
  }
  if (document.components?.schemas)
    document.components.schemas = withNamedMembers(document.components.schemas as Schemas)
  const exampleOf = createExamples((document.components?.schemas ?? {}) as Schemas)
  for (const item of Object.values(document.paths ?? {})) {
    for (const [mediaType, content] of successesOf(item)) {
      if (mediaType === lines) asLines(content, exampleOf)
      else content.example ??= exampleOf(content.schema as Schema)
    }
    await slice()
  }
  return document
}

/** Successful responses of the operations at a path, by media type. */
const successesOf = (item: object): [string, Schema][] =>
  Object.values(item as Record<string, { responses?: Record<string, { content?: Record<string, Schema> }> }>)
    .flatMap(({ responses = {} }) => Object.entries(responses))
    .filter(([status]) => Number(status) < 300)
    .flatMap(([, { content = {} }]) => Object.entries(content))

/** The origin of the document itself, without /api/v1. */
const originServers = [{ url: '/' }]

const shownPath = (path: string): string =>
  (path.startsWith(`${originPrefix}/`) ? path.slice(originPrefix.length) : path).replaceAll(
    /[:*](\w+)/g,
    '{$1}',
  )

/** All schemas a route describes, except for its errors. */
function schemasOf(route: Route, envelope: z.ZodType): z.ZodType[] {
  const isDescribed = route.status !== 204 && mediaTypes(route).some((type) => isOfSchema(route, type))
  return [...(isDescribed ? [envelope] : []), route.query, route.params, route.body].filter(
    (schema) => schema !== undefined,
  )
}

/**
 * Creates the success envelope of a resource once, named after it; the envelope of an unnamed
 * response is named after the operation.
 */
function envelopeComponents(): (route: Route) => z.ZodType {
  const made = { single: new Map<z.ZodType, z.ZodType>(), list: new Map<z.ZodType, z.ZodType>() }
  return ({ kind, response, operationId, bare }) => {
    if (bare) return response
    const ofResources = made[kind === 'list' ? 'list' : 'single']
    const resource = response.meta()?.id
    const subject = resource ?? operationId.charAt(0).toUpperCase() + operationId.slice(1)
    // Not "Page": an AppPage is a page of an app.
    const envelope =
      ofResources.get(response) ??
      (kind === 'list'
        ? z
            .object({ data: z.array(response), pagination: Pagination, meta: Meta })
            .meta({ id: `${subject}List` })
        : z.object({ data: response, meta: Meta }).meta({ id: `${subject}Envelope` }))
    if (resource !== undefined) ofResources.set(response, envelope)
    return envelope
  }
}

const described = ({ description = '', operator }: Route): string =>
  operator
    ? `${description} For those who operate the installation (\`OPERATORS\`), in a session of their own: an API key is refused.`
    : description

function operation(route: Route, envelope: z.ZodType, located: boolean): RouteConfig {
  return {
    operationId: route.operationId,
    method: route.method,
    path: shownPath(route.path),
    summary: route.summary,
    ...(route.description !== undefined && { description: described(route) }),
    tags: [route.tag],
    security: route.scope === 'public' ? [] : [{ bearer: [] }],
    'x-scope': route.scope,
    ...(route.deprecated && { deprecated: true }),
    parameters: headersOf(route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    request: {
      params: route.params ?? pathParameters(route.path),
      query: route.query,
      ...(route.body && { body: requestBody(route.body) }),
      ...(route.upload && { body: uploadBody(route, route.upload) }),
    },
    responses: {
      [route.status]: success(route, envelope, located),
      ...(route.wasThere && {
        200: { ...success(route, envelope, false), description: 'The resource already existed.' },
      }),
      ...(route.accepted && {
        202: {
          ...success(route, envelope, false),
          description: 'The request is accepted and processed later.',
        },
      }),
      ...(supportsIfNoneMatch(route) && {
        304: { description: 'Unchanged since the ETag in If-None-Match; no content.' },
      }),
      ...errorResponses(route),
    },
  }
}

function headersOf(route: Route): (keyof typeof headerParameters)[] {
  return [
    'RequestId',
    ...(route.workspace === 'required' ? (['Workspace', 'Environment'] as const) : []),
    ...(acceptsIdempotencyKey(route) ? (['IdempotencyKey'] as const) : []),
    ...(route.ifMatch ? (['IfMatch'] as const) : []),
    ...(supportsIfNoneMatch(route) ? (['IfNoneMatch'] as const) : []),
  ]
}

/** A raw route passes the key on to its handler. */
const acceptsIdempotencyKey = ({ kind, method, idempotency }: Route): boolean =>
  kind === 'raw' ? method !== 'get' : idempotency !== 'none'

function pathParameters(path: string): z.ZodObject {
  const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name)
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])))
}

function requestBody(body: z.ZodType) {
  const required = !body.safeParse(undefined).success && !body.safeParse({}).success
  return { required, content: { [json]: { schema: body } } }
}

const uploadBody = (route: Route, mediaTypes: readonly string[]) => ({
  required: route.kind !== 'raw',
  content: uploadContent(mediaTypes),
})

/** Media types of a successful response. */
const mediaTypes = ({ kind, answers }: Route): readonly string[] =>
  answers ?? [kind === 'stream' ? lines : json]

/** Whether the route's schema describes a response of this type; other types get a generic description. */
const isOfSchema = ({ answers }: Route, mediaType: string): boolean =>
  answers === undefined || mediaType === lines

function success(route: Route, envelope: z.ZodType, located: boolean): RouteConfig['responses'][string] {
  const headers = {
    'X-Request-ID': { schema: { type: 'string' as const } },
    ...(isVersioned(route) && {
      ETag: { description: 'Version of the resource, for If-Match.', schema: { type: 'string' as const } },
    }),
    ...(route.kind === 'stream' && {
      'Content-Disposition': {
        description: 'File name of the content.',
        schema: { type: 'string' as const },
      },
    }),
    ...(located && {
      Location: { description: 'URL of the new resource.', schema: { type: 'string' as const } },
    }),
  }
  const content = Object.fromEntries(
    mediaTypes(route).map((type) => [
      type,
      isOfSchema(route, type) ? { schema: envelope } : responseContent(type),
    ]),
  )
  const description = route.status === 204 ? 'Done; no content.' : route.summary
  return route.status === 204 ? { description, headers } : { description, headers, content }
}

/** One response per status, whose description lists its codes. */
function errorResponses(route: Route): RouteConfig['responses'] {
  const codes = [...new Set([...platformErrors(route), ...route.errors])]
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))].sort()
  const response = (status: number) => ({
    description: codes
      .filter((code) => errorTable[code].status === status)
      .map((code) => `\`${code}\``)
      .join(', '),
    content: { [json]: { schema: ErrorEnvelope } },
  })
  return Object.fromEntries(statuses.map((status) => [status, response(status)]))
}

/** Error codes the platform itself can return, in addition to those the route declares. */
function platformErrors(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = ['malformed_url', 'validation_failed', 'rate_limited', 'headers_too_large']
  codes.push('internal_error', 'upstream_error', 'service_unavailable', 'upstream_timeout')
  if (route.scope !== 'public') codes.push('unauthenticated', 'invalid_token', 'token_expired')
  if (route.scope !== 'public' && route.scope !== 'authenticated') codes.push('insufficient_scope')
  if (route.workspace === 'required')
    codes.push(
      'workspace_required',
      'workspace_forbidden',
      'environment_forbidden',
      'factor_enrolment_required',
    )
  if (route.operator) codes.push('forbidden')
  if (route.stepUp) codes.push('step_up_required')
  if (route.body)
    codes.push('malformed_json', 'payload_too_large', 'unsupported_media_type', 'request_timeout')
  if (route.upload) codes.push('payload_too_large', 'unsupported_media_type', 'request_timeout')
  if (route.kind === 'list') codes.push('invalid_cursor')
  if (route.path.includes(':')) codes.push('not_found')
  if (route.kind === 'document') codes.push('precondition_failed')
  if (route.ifMatch) codes.push('precondition_failed', 'version_conflict')
  if (route.idempotency !== 'none') {
    codes.push('idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_progress')
  }
  return codes
}
