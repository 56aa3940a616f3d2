import { originPrefix } from '@opsplane/contracts'

/** The part of JSON Schema that the platform's document uses. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  example?: unknown
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: JsonSchema
}

interface Content {
  content?: Record<string, { schema?: JsonSchema; example?: unknown; 'x-itemSchema'?: JsonSchema }>
}

interface RawOperation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  'x-scope'?: string
  security?: unknown[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content & { description?: string }>
}

export interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, RawOperation>>
  components: { schemas: Record<string, JsonSchema>; parameters: Record<string, Parameter> }
}

export interface Operation {
  id: string
  method: string
  path: string
  /** Server URL if the path is outside of /api/v1. */
  server: string | undefined
  /** Absent for operations that the gateway answers itself. */
  scope: string | undefined
  secured: boolean
  parameters: Parameter[]
  body: JsonSchema | undefined
  /** The media type if the body is a file. */
  upload: string | undefined
  raw: RawOperation
}

/** Every operation of the API, with resolved parameters. */
export function listOperations(document: OpenApi): Operation[] {
  return listAllOperations(document).filter(({ server }) => server === undefined)
}

/** Every operation, including those outside of /api/v1. */
export function listAllOperations(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, { servers, ...item }]) =>
    Object.entries(item).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      server: (servers as unknown as { url: string }[] | undefined)?.[0]?.url,
      scope: raw['x-scope'],
      secured: (raw.security ?? []).length > 0,
      parameters: (raw.parameters ?? []).map((parameter) => resolveParameter(document, parameter)),
      body: raw.requestBody?.content?.['application/json']?.schema,
      upload: Object.keys(raw.requestBody?.content ?? {}).find((type) => type !== 'application/json'),
      raw,
    })),
  )
}

/** The path as its service defines it. */
export const toServicePath = ({ path, server }: Pick<Operation, 'path' | 'server'>): string =>
  server === undefined ? path : `${originPrefix}${path}`

/** Paths without their own server: those with one are outside of /api/v1. */
export function listApiPaths<Item extends object>({
  paths,
}: {
  paths: Record<string, Item>
}): Record<string, Item> {
  return Object.fromEntries(Object.entries(paths).filter(([, item]) => !('servers' in item)))
}

/** The schema itself; follows references. */
export function resolveSchema(document: OpenApi, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema
  const found = document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
  if (!found) throw new Error(`the document has no ${schema.$ref}`)
  return resolveSchema(document, found)
}

function resolveParameter(document: OpenApi, parameter: Parameter | { $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  const found = document.components.parameters[parameter.$ref.split('/').at(-1) ?? '']
  if (!found) throw new Error(`the document has no ${parameter.$ref}`)
  return found
}

/** The example body of an operation. */
export function exampleBody(document: OpenApi, operation: Operation): unknown {
  if (!operation.body) return undefined
  const media = operation.raw.requestBody?.content?.['application/json']
  return media?.example ?? resolveSchema(document, operation.body).example
}

export function parametersIn(operation: Operation, place: Parameter['in']): Parameter[] {
  return operation.parameters.filter((parameter) => parameter.in === place)
}

/** A plain value for each required parameter. */
export function requiredValues(operation: Operation, place: Parameter['in']): Record<string, unknown> {
  const required = parametersIn(operation, place).filter(({ required }) => required)
  return Object.fromEntries(required.map(({ name, schema }) => [name, plainValue(schema)]))
}

const plainValue = ({ type, enum: values }: JsonSchema): unknown =>
  values?.[0] ?? (type === 'integer' || type === 'number' ? 1 : 'example')

/** Any name exists below these paths: one that was never written to is empty. */
export const acceptsAnyName = /^\/events\/(topics\/)?\{/
