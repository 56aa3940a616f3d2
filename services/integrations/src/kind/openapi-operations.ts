import { isObject, type JsonSchema } from '@opsplane/json-schema'
import type { OpenApiDocument } from './openapi-document.js'
import { dereference, toStandaloneSchema } from './openapi-schemas.js'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const
/** Operations beyond this number are ignored. */
export const maxOperations = 1_000

export type ParameterPlace = 'path' | 'query' | 'header'

export interface Parameter {
  name: string
  place: ParameterPlace
  required: boolean
  description: string
  schema: unknown
  /** Whether a list is sent as repeated parameters rather than as one text. */
  explode: boolean
  /** Whether an object is sent as `name[key]`. */
  deep: boolean
}

/** The request body of an operation, as declared in the document. */
export interface Body {
  contentType: string
  required: boolean
  schema: unknown
}

export interface Operation {
  name: string
  method: (typeof methods)[number]
  path: string
  title: string
  description: string
  parameters: Parameter[]
  body: Body | undefined
  /** Schema of the first success response, if it is JSON. */
  answer: unknown
}

const read = new WeakMap<OpenApiDocument, Operation[]>()

/** Every operation of a document, with a name that is unique in the document. */
export function listOperations(document: OpenApiDocument): Operation[] {
  const operations = read.get(document) ?? readOperations(document)
  read.set(document, operations)
  return operations
}

function readOperations(document: OpenApiDocument): Operation[] {
  const names = new Set<string>()
  const operations: Operation[] = []
  for (const [path, given] of Object.entries(document.paths)) {
    const item = dereference(document, given)
    if (!item) continue
    for (const method of methods) {
      const operation = item[method]
      if (!isObject(operation) || operations.length >= maxOperations) continue
      const name = uniqueName(names, operation.operationId, `${method}_${path}`)
      operations.push(readOperation(document, { name, method, path, item, operation }))
    }
  }
  return operations
}

function uniqueName(usedNames: Set<string>, operationId: unknown, otherwise: string): string {
  const preferredName = typeof operationId === 'string' && operationId !== '' ? operationId : otherwise
  const plain =
    preferredName
      .replaceAll(/[^A-Za-z0-9.-]+/g, '_')
      .replaceAll(/^_|_$/g, '')
      .slice(0, 190) || 'operation'
  let name = plain
  for (let count = 2; usedNames.has(name); count++) name = `${plain}_${count}`
  usedNames.add(name)
  return name
}

function readOperation(
  document: OpenApiDocument,
  found: Pick<Operation, 'name' | 'method' | 'path'> & { item: JsonSchema; operation: JsonSchema },
): Operation {
  const { name, method, path, item, operation } = found
  const summary = text(operation.summary, 200)
  return {
    ...{ name, method, path },
    title: summary === '' ? name : summary,
    description: text(operation.description, 2_000),
    parameters: parametersOf(document, [item.parameters, operation.parameters]),
    body: bodyOf(document, operation.requestBody),
    answer: answerOf(document, operation.responses),
  }
}

const text = (value: unknown, maxLength: number) =>
  typeof value === 'string' ? value.slice(0, maxLength) : ''

/** Parameters of an operation override those of its path. */
function parametersOf(document: OpenApiDocument, lists: readonly unknown[]): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const definition of lists.flatMap((list) => (Array.isArray(list) ? list.slice(0, 200) : []))) {
    const parameter = dereference(document, definition)
    const place = parameter && placeOf(parameter.in)
    if (!parameter || !place || typeof parameter.name !== 'string' || isReserved(place, parameter.name))
      continue
    found.set(`${place} ${parameter.name}`, {
      ...{ name: parameter.name, place, schema: parameter.schema ?? {} },
      required: place === 'path' || parameter.required === true,
      description: text(parameter.description, 500),
      explode: parameter.explode !== false && (parameter.style ?? 'form') === 'form',
      deep: parameter.style === 'deepObject',
    })
  }
  return [...found.values()]
}

function placeOf(value: unknown): ParameterPlace | undefined {
  return value === 'path' || value === 'query' || value === 'header' ? value : undefined
}

/** OpenAPI defines these headers by content types and security schemes instead. */
const isReserved = (place: ParameterPlace, name: string) =>
  place === 'header' && /^(accept|content-type|authorization)$/i.test(name)

function bodyOf(document: OpenApiDocument, requestBody: unknown): Body | undefined {
  const body = dereference(document, requestBody)
  if (!body || !isObject(body.content)) return undefined
  const types = Object.keys(body.content)
  const contentType =
    types.find(isJson) ?? types.find((type) => /^application\/x-www-form-urlencoded/i.test(type)) ?? types[0]
  if (contentType === undefined) return undefined
  const content = body.content[contentType]
  const schema = isObject(content) && isStructured(contentType) ? (content.schema ?? {}) : { type: 'string' }
  return { contentType, required: body.required === true, schema }
}

function answerOf(document: OpenApiDocument, responses: unknown): unknown {
  if (!isObject(responses)) return {}
  const status = Object.keys(responses).find((each) => /^2/.test(each))
  const response = status === undefined ? undefined : dereference(document, responses[status])
  if (!response || !isObject(response.content)) return {}
  const type = Object.keys(response.content).find(isJson)
  const content = type === undefined ? undefined : response.content[type]
  return isObject(content) ? (content.schema ?? {}) : {}
}

export const isJson = (type: string) => /^application\/([a-z0-9.+-]+\+)?json\b/i.test(type)
const isStructured = (type: string) => isJson(type) || /^application\/x-www-form-urlencoded/i.test(type)

/**
 * The schemas of an operation's input and output.
 *
 * @param maxBytes - approximate maximum size of each schema
 */
export function buildSchemas(document: OpenApiDocument, operation: Operation, maxBytes: number) {
  const is30 = document.openapi.startsWith('3.0')
  const { parameters, body, answer } = operation
  const place = (name: ParameterPlace) => {
    const here = parameters.filter((parameter) => parameter.place === name)
    if (here.length === 0) return undefined
    return {
      type: 'object',
      properties: Object.fromEntries(here.map((each) => [each.name, described(each)])),
      required: here.filter(({ required }) => required).map((each) => each.name),
      additionalProperties: false,
    }
  }
  const places = { path: place('path'), query: place('query'), header: place('header'), body: body?.schema }
  const properties = Object.fromEntries(Object.entries(places).filter(([, schema]) => schema !== undefined))
  const required = Object.entries(places).flatMap(([name, schema]) => {
    const needed = name === 'body' ? body?.required : isObject(schema) && isFilled(schema.required)
    return needed ? [name] : []
  })
  const input = { type: 'object', properties, required, additionalProperties: false }
  const output = {
    type: 'object',
    properties: { status: { type: 'integer' }, headers: { type: 'object' }, body: answer ?? {} },
    required: ['status', 'headers', 'body'],
  }
  return {
    input: toStandaloneSchema(document, input, { maxBytes, is30 }),
    output: toStandaloneSchema(document, output, { maxBytes, is30 }),
  }
}

const isFilled = (list: unknown) => Array.isArray(list) && list.length > 0

const described = ({ schema, description }: Parameter): unknown =>
  isObject(schema) && schema.$ref === undefined && description !== '' ? { description, ...schema } : schema
