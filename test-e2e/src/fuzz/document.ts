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
  content?: Record<string, { schema?: JsonSchema; example?: unknown }>
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
  /** Absent for what the gateway answers itself. */
  scope: string | undefined
  secured: boolean
  parameters: Parameter[]
  body: JsonSchema | undefined
  /** The media type of a body that is a file. */
  upload: string | undefined
  raw: RawOperation
}

/** Every operation of the API, its parameters resolved. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(itemsOfApi(document)).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      scope: raw['x-scope'],
      secured: (raw.security ?? []).length > 0,
      parameters: (raw.parameters ?? []).map((parameter) => resolveParameter(document, parameter)),
      body: raw.requestBody?.content?.['application/json']?.schema,
      upload: Object.keys(raw.requestBody?.content ?? {}).find((type) => type !== 'application/json'),
      raw,
    })),
  )
}

/** Without the paths that have a server of their own: they are reached outside of /api/v1. */
export function itemsOfApi<Item extends object>({
  paths,
}: {
  paths: Record<string, Item>
}): Record<string, Item> {
  return Object.fromEntries(Object.entries(paths).filter(([, item]) => !('servers' in item)))
}

/** The schema itself, wherever it is written. */
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

/** The example body an operation shows. */
export function exampleBody(document: OpenApi, operation: Operation): unknown {
  if (!operation.body) return undefined
  const media = operation.raw.requestBody?.content?.['application/json']
  return media?.example ?? resolveSchema(document, operation.body).example
}

export function parametersIn(operation: Operation, place: Parameter['in']): Parameter[] {
  return operation.parameters.filter((parameter) => parameter.in === place)
}

/** Below these nothing is absent: what nobody wrote to is empty. */
export const takesAnyName = /^\/events\/(topics\/)?\{/
