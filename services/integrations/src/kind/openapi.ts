import { ApiError, hostOfUrl, invalidField, stringifyExact } from '@opsplane/contracts'
import { compileSchema, isObject, type JsonSchema } from '@opsplane/json-schema'
import { z } from 'zod'
import { Auth, type SendAuthorized } from './auth.js'
import { CallFailure } from './call-failure.js'
import {
  buildRequest,
  type HttpInput,
  httpFields,
  httpSendsTo,
  idempotentMethods,
  type Method,
} from './http.js'
import { toOutput } from './http-answer.js'
import { answeredFailure } from './http-calls.js'
import { type Action, type Call, defineKind, type Kind } from './kind.js'
import { type LoadDocument, OpenApiDocument } from './openapi-document.js'
import { buildSchemas, listOperations, type Operation, type Parameter } from './openapi-operations.js'

/** Limited because an inline document must fit in the request that stores it. */
const maxInlineBytes = 512 * 1024

const OpenApiConfig = z.strictObject({
  document: z
    .union([z.strictObject({ url: z.string().min(1).max(2_048) }), z.looseObject({ openapi: z.string() })])
    .meta({
      description:
        'An OpenAPI 3.0 or 3.1 document, or its URL: JSON of at most 2 MiB, or YAML of at most 256 KiB.',
    }),
  serverUrl: z
    .string()
    .min(1)
    .max(2_048)
    .optional()
    .meta({
      description:
        'Base URL of the API. Default: the first server of the document; if the document is loaded from a URL, that ' +
        "server must be on the document's own host.",
    }),
  ...httpFields,
  auth: Auth,
})
type OpenApiConfig = z.output<typeof OpenApiConfig>

export interface OpenApiKindOptions {
  send: SendAuthorized
  load: LoadDocument
  checkUrl(url: string, path: string): void
}

/** The kind for an API with an OpenAPI document: every operation is an action. */
export function openApiKind({ send, load, checkUrl }: OpenApiKindOptions): Kind {
  const documentOf = async (call: Call<OpenApiConfig>): Promise<OpenApiDocument> => {
    const { document } = call.config
    if (isAddress(document)) return (await load(call, document.url)).document
    return OpenApiDocument.parse(document)
  }

  const perform = async (
    call: Call<OpenApiConfig>,
    baseUrl: string,
    operation: Operation,
    input: OperationInput,
  ) => {
    const method: Method = operation.method === 'get' ? 'GET' : (operation.method.toUpperCase() as Method)
    const request = await buildRequest(
      { ...call, config: { ...call.config, baseUrl } },
      method,
      sentBy(operation, input),
    )
    const answer = await send(call, call.config.auth, request)
    if (answer.status >= 400) throw answeredFailure(answer)
    return toOutput(answer)
  }

  const actionOf = (document: OpenApiDocument, operation: Operation, maxBytes: number): Action => {
    const { name, title, description, method } = operation
    const schemas = buildSchemas(document, operation, maxBytes)
    const isRepeatable = idempotentMethods.has(method.toUpperCase())
    return {
      ...{ name, title, description, ...schemas, repeats: isRepeatable ? 'always' : 'never' },
      parse: (input) => checked(schemas.input, input),
      repeatable: () => isRepeatable,
      run: (call, input) => {
        const own = call as Call<OpenApiConfig>
        return perform(own, serverOf(own.config, document), operation, OperationInput.parse(input))
      },
    }
  }

  return defineKind<OpenApiConfig>({
    name: 'openapi',
    title: 'API with an OpenAPI document',
    description:
      'Every operation of the document is an action; parameters and bodies are validated against its schemas.',
    config: OpenApiConfig,
    check({ document, serverUrl, auth }) {
      if (serverUrl !== undefined) checkUrl(serverUrl, '/config/serverUrl')
      if (auth.type === 'oauth2') checkUrl(auth.tokenUrl, '/config/auth/tokenUrl')
      if (isAddress(document)) checkUrl(document.url, '/config/document/url')
      else checkInline(document, serverUrl, checkUrl)
    },
    sendsTo: (config) => httpSendsTo(config, hostOfUrl(addressOf(config))),
    actions: {},
    async furtherActions(call) {
      const document = await documentOf(call)
      const operations = listOperations(document)
      const maxBytes = Math.min(maxOfAction, Math.floor(maxOfAll / Math.max(1, operations.length)))
      return operations.map((operation) => actionOf(document, operation, maxBytes))
    },
    furtherNames: async (call) => listOperations(await documentOf(call)).map(({ name }) => name),
    async findAction(call, name) {
      const document = await documentOf(call)
      const operation = listOperations(document).find((each) => each.name === name)
      return operation && actionOf(document, operation, maxOfAction)
    },
    async test(call) {
      const document = await documentOf(call)
      const baseUrl = serverOf(call.config, document)
      const config = { ...call.config, baseUrl }
      const { method, path } = config.test
      const answer = await send(call, config.auth, await buildRequest({ ...call, config }, method, { path }))
      if (answer.status === 401 || answer.status === 403 || answer.status >= 500)
        throw answeredFailure(answer)
      return `The document has ${listOperations(document).length} operations; ${method} was answered with ${answer.status}.`
    },
  })
}

/** Maximum schema size of one action, and of all actions of a list together, in bytes. */
const maxOfAction = 64 * 1024
const maxOfAll = 4 * 1024 * 1024

const isAddress = (document: OpenApiConfig['document']): document is { url: string } =>
  !('openapi' in document)

function checkInline(
  document: unknown,
  serverUrl: string | undefined,
  checkUrl: OpenApiKindOptions['checkUrl'],
): void {
  if (stringifyExact(document).length > maxInlineBytes)
    throw invalidField(
      '/config/document',
      'too_big',
      `Must be at most ${maxInlineBytes} bytes; give its URL instead.`,
    )
  const parsed = OpenApiDocument.safeParse(document)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalidField(
      `/config/document/${issue?.path.join('/') ?? ''}`,
      'invalid_document',
      issue?.message ?? '',
    )
  }
  if (serverUrl !== undefined) return
  const url = firstServer(parsed.data)
  if (url === undefined || !URL.canParse(url))
    throw invalidField('/config/serverUrl', 'required', 'Say where the API is: the document names no server.')
  checkUrl(url, '/config/document/servers/0/url')
}

function firstServer({ servers = [] }: OpenApiDocument): string | undefined {
  const [server] = servers
  return server?.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) =>
    server.variables && Object.hasOwn(server.variables, name)
      ? (server.variables[name]?.default ?? whole)
      : whole,
  )
}

/**
 * The URL that determines the API's host: `serverUrl`, else the URL of a remote document, which may name no server on
 * another host, else the first server of an inline document.
 */
const addressOf = ({ document, serverUrl }: OpenApiConfig): string =>
  serverUrl ?? (isAddress(document) ? document.url : (firstServer(OpenApiDocument.parse(document)) ?? ''))

/** A document loaded from a URL must not redirect credentials to another host. */
function serverOf({ document, serverUrl }: OpenApiConfig, loaded: OpenApiDocument): string {
  if (serverUrl !== undefined) return serverUrl
  const server = firstServer(loaded) ?? '/'
  if (!isAddress(document)) return server
  const url = URL.canParse(server, document.url) ? new URL(server, document.url) : undefined
  if (url?.origin === new URL(document.url).origin) return url.href
  throw new CallFailure('protocol', 'The document names a server on another host: say `serverUrl`.', {
    sent: false,
  })
}

const OperationInput = z.object({
  path: z.record(z.string(), z.unknown()).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  header: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
})
type OperationInput = z.output<typeof OperationInput>

/** Throws `validation_failed` with paths below `/input`. A schema that cannot be compiled is not enforced. */
function checked(schema: JsonSchema, input: unknown): unknown {
  const compiled = compileSchema(schema, { reading: 'lenient', maxBytes: 2 * maxOfAction })
  const faults = 'schema' in compiled ? compiled.schema.check(input) : []
  if (!isObject(input)) throw invalidField('/input', 'invalid_type', 'Must be an object.')
  if (faults.length === 0) return input
  throw new ApiError('validation_failed', `The input is not valid in ${faults.length} places.`, {
    details: faults.map(({ path, code, message }) => ({ in: 'body', path: `/input${path}`, code, message })),
  })
}

/** The request of an operation, as input of the http kind. */
function sentBy({ path, parameters, body: declared }: Operation, input: OperationInput): HttpInput {
  const of = (place: Parameter['place']) => parameters.filter((parameter) => parameter.place === place)
  const { body } = input
  return {
    path: path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => segment(name, input.path[name])),
    query: Object.fromEntries(
      of('query').flatMap((parameter) => queryOf(parameter, input.query[parameter.name])),
    ),
    headers: Object.fromEntries(
      of('header').flatMap(({ name }) =>
        input.header[name] === undefined ? [] : [[name, headerText(name, input.header[name])]],
      ),
    ),
    ...(body !== undefined && { body, contentType: declared?.contentType }),
  }
}

function segment(name: string, value: unknown): string {
  const text = flat(value)
  if (text === '' || text === '.' || text === '..')
    throw invalidField(
      `/input/path/${name}`,
      'path_not_allowed',
      'Must be something that can stand in a path.',
    )
  return encodeURIComponent(text)
}

function headerText(name: string, value: unknown): string {
  const text = flat(value)
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    throw invalidField(`/input/header/${name}`, 'invalid_format', 'Must be a single line of Latin-1 text.')
  return text
}

type QueryValue = string | string[]

function queryOf({ name, explode, deep }: Parameter, value: unknown): [string, QueryValue][] {
  if (value === undefined || value === null) return []
  if (isObject(value))
    return Object.entries(value).map(([key, inner]) => [deep ? `${name}[${key}]` : key, flat(inner)])
  return [[name, Array.isArray(value) && explode ? value.map(flat) : flat(value)]]
}

/** Joins a list with commas, as the styles `simple` and `form` without `explode` require. */
function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join(',')
  if (isObject(value)) return stringifyExact(value)
  return value === undefined || value === null ? '' : String(value)
}
