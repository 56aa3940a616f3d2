import { beforeAll, expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { z } from 'zod'
import { defineList, defineRoute, mergeOpenApi, stringifyInSlices } from '../index.js'
import { startTestApp } from '../server/test-app.fixture.js'
import { openApiDocument } from './openapi.js'

const Lamp = z
  .object({ id: z.string(), title: z.string(), version: z.int(), closedAt: z.iso.datetime().nullable() })
  .meta({ id: 'OpenApiTestLamp' })
const base = { tag: 'lamps', scope: 'itsm:write', response: Lamp } as const
const lamp = { id: '1', title: 'x', version: 1, closedAt: null }

const create = defineRoute({
  ...base,
  operationId: 'createLamp',
  method: 'post',
  path: '/lamps',
  summary: 'Creates a lamp',
  body: z.object({ title: z.string().min(1), severity: z.enum(['low', 'high']).default('low') }),
  status: 201,
  errors: ['conflict'],
  handler: async () => lamp,
})
const change = defineRoute({
  ...base,
  operationId: 'changeLamp',
  method: 'patch',
  path: '/lamps/:id',
  summary: 'Changes a lamp',
  body: z.object({ title: z.string().optional() }),
  handler: async () => lamp,
})
const list = defineList({
  ...base,
  operationId: 'listLamps',
  path: '/lamps',
  summary: 'Lists lamps',
  query: z.object({ status: z.enum(['open', 'closed']).optional() }),
  handler: async ({ query }) => ({ items: [], nextCursor: null, limit: query.limit }),
})
const login = defineRoute({
  ...base,
  operationId: 'login',
  method: 'post',
  path: '/auth/token',
  summary: 'Logs in',
  scope: 'public',
  response: z.object({ token: z.string() }),
  handler: async () => ({ token: 'x' }),
})
const remove = defineRoute({
  ...base,
  operationId: 'deleteLamp',
  method: 'delete',
  path: '/lamps/:id',
  summary: 'Deletes a lamp',
  response: z.void(),
  status: 204,
  handler: async () => undefined,
})
const internal = defineRoute({
  ...base,
  operationId: 'internalThing',
  method: 'post',
  path: '/internal/thing',
  summary: 'Between services',
  scope: 'service',
  callers: ['itsm'],
  handler: async () => lamp,
})
const routes = [create, change, list, login, remove, internal]

const Operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ $ref: z.string().optional(), name: z.string().optional() })),
  responses: z.record(z.string(), z.looseObject({ description: z.string() })),
})

let described: z.infer<typeof Described>
const Described = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
beforeAll(async () => {
  described = Described.parse(JSON.parse(JSON.stringify(await openApiDocument('lamps', routes))))
})

const operation = (path: string, method: string) => Operation.parse(described.paths[path]?.[method])

const parameterNames = ({ parameters }: z.infer<typeof Operation>) =>
  parameters.map(({ $ref, name }) => $ref?.split('/').at(-1) ?? name)

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(
    JSON.parse(JSON.stringify(await mergeOpenApi([await openApiDocument('lamps', routes)]))),
  )
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
})

test('a list operation describes its sort orders', () => {
  const sort = operation('/lamps', 'get').parameters.find(({ name }) => name === 'sort')
  expect(sort).toMatchObject({ schema: { enum: ['createdAt', '-createdAt'], default: '-createdAt' } })
})

test('every operation describes its scope, its headers and its errors', () => {
  const created = operation('/lamps', 'post')
  expect(created).toMatchObject({
    operationId: 'createLamp',
    'x-scope': 'itsm:write',
    security: [{ bearer: [] }],
    requestBody: { required: true },
  })
  expect(parameterNames(created)).toEqual(['RequestId', 'Workspace', 'Environment', 'IdempotencyKey'])
  expect(created.responses['409']?.description).toBe('`idempotency_in_progress`, `conflict`')
  expect(Object.keys(created.responses)).toEqual(
    expect.arrayContaining(['201', '400', '401', '403', '413', '415', '422', '429', '500', '503']),
  )

  const changed = operation('/lamps/{id}', 'patch')
  expect(parameterNames(changed)).toEqual([
    'RequestId',
    'Workspace',
    'Environment',
    'IdempotencyKey',
    'IfMatch',
    'id',
  ])
  expect(changed).toMatchObject({ requestBody: { required: false } })
  expect(changed.responses['412']?.description).toBe('`precondition_failed`')

  expect(parameterNames(operation('/lamps', 'get'))).toEqual([
    'RequestId',
    'Workspace',
    'Environment',
    'status',
    'limit',
    'after',
    'sort',
  ])
  expect(operation('/auth/token', 'post')).toMatchObject({ security: [] })
  expect(operation('/lamps/{id}', 'delete').responses['204']).not.toHaveProperty('content')
})

test('resources, envelopes and errors are components', async () => {
  const { components } = await openApiDocument('lamps', routes)
  expect(Object.keys(components?.schemas ?? {})).toEqual(
    expect.arrayContaining([
      'OpenApiTestLamp',
      'OpenApiTestLampEnvelope',
      'OpenApiTestLampList',
      'LoginEnvelope',
      'ErrorEnvelope',
      'Pagination',
    ]),
  )
})

const readTwo = (first: z.ZodType, second: z.ZodType) => {
  const read = { ...base, method: 'get', summary: 'Reads', handler: async () => ({}) } as const
  return openApiDocument('lamps', [
    defineRoute({ ...read, operationId: 'readFirst', path: '/first', response: first }),
    defineRoute({ ...read, operationId: 'readSecond', path: '/second', response: second }),
  ])
}

const namesake = (shape: z.ZodRawShape) => z.object(shape).meta({ id: 'OpenApiTestNamesake' })
const inner = namesake({ a: z.string() })

test.each<[string, z.ZodType]>([
  ['itself', inner],
  ['a field', z.object({ field: inner.nullable() })],
  ['an item of a list', z.object({ items: z.array(inner).optional() })],
  ['one of several', z.union([z.string(), inner])],
  ['a value by name', z.record(z.string(), inner)],
  ['what is made of it', inner.transform(() => 'x')],
  ['what refers to itself', z.lazy(() => inner)],
])('two different schemas with the same id are rejected: %s', async (_, first) => {
  await expect(readTwo(first, namesake({ b: z.string() }))).rejects.toThrow(
    'two schemas have the id OpenApiTestNamesake',
  )
  await expect(readTwo(first, inner)).resolves.toHaveProperty('components')
})

test('an envelope with the name of a resource is rejected', async () => {
  const resource = z.object({ a: z.string() }).meta({ id: 'OpenApiTestLampList' })
  const reading = defineRoute({
    ...{ ...base, operationId: 'readList', method: 'get', path: '/list', summary: 'Reads a list' },
    response: resource,
    handler: async () => ({ a: 'x' }),
  })
  await expect(openApiDocument('lamps', [list, reading])).rejects.toThrow('OpenApiTestLampList')
})

test('routes outside of the API have their own server, and undocumented routes are left out', async () => {
  const read = { ...base, method: 'get', summary: 'Reads', handler: async () => lamp } as const
  const { paths } = await openApiDocument('lamps', [
    list,
    defineRoute({ ...read, operationId: 'readHook', path: '/origin/hooks/:id' }),
    defineRoute({ ...read, operationId: 'readPage', path: '/origin/pages/:id', isDocumented: false }),
  ])
  expect(Object.keys(paths ?? {})).toEqual(['/lamps', '/hooks/{id}'])
  expect(paths?.['/hooks/{id}']).toMatchObject({ servers: [{ url: '/' }], get: { operationId: 'readHook' } })
  expect(paths?.['/lamps']).not.toHaveProperty('servers')
})

test('a default that client generators cannot process is moved to the description or left out', async () => {
  const fields = {
    levels: z.array(z.int()).default([50, 75]),
    tags: z.array(z.string()).default([]),
    mode: z.enum(['fast', 'slow']).default('fast'),
  }
  const named = z.object(fields).meta({ id: 'OpenApiTestDefaults' })
  const { paths, components } = await openApiDocument('lamps', [
    defineRoute({
      ...{ ...base, operationId: 'setLevels', method: 'post', path: '/levels', summary: 'Sets levels' },
      body: z.object(fields),
      response: named,
      handler: async () => ({}),
    }),
  ])
  const expected = {
    levels: { type: 'array', items: { type: 'integer' }, description: 'Unless given: `[50,75]`.' },
    tags: { type: 'array', items: { type: 'string' } },
    mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
  }
  const body = paths?.['/levels']?.post?.requestBody as { content: Record<string, { schema: object }> }
  expect(body.content['application/json']?.schema).toMatchObject({ properties: expected })
  expect(components?.schemas?.OpenApiTestDefaults).toMatchObject({ properties: expected })
  expect(JSON.stringify({ paths, components })).not.toContain('"default":[')
})

test('the document omits internal routes', async () => {
  const app = await startTestApp(routes)
  try {
    const answer = await app.call('GET', '/internal/openapi.json', { token: null })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ openapi: '3.1.0' })
    expect(answer.text).not.toContain('internalThing')
  } finally {
    await app.close()
  }
})

test('documents of several services are merged into one', async () => {
  const documents = [await openApiDocument('a', [create]), await openApiDocument('b', [login])]
  const merged = await mergeOpenApi(documents)
  expect(merged.servers).toEqual([{ url: '/api/v1' }])
  expect(Object.keys(merged.paths ?? {})).toEqual(['/lamps', '/auth/token'])
  expect(merged.tags).toEqual([{ name: 'lamps' }])
})

test('conflicting definitions of two services under one name are rejected', async () => {
  const document = await openApiDocument('a', [create])
  const other = await openApiDocument('b', [login])
  const clash = {
    ...other,
    components: {
      ...other.components,
      schemas: { ...other.components?.schemas, OpenApiTestLamp: { type: 'string' as const } },
    },
  }
  await expect(mergeOpenApi([document, clash])).rejects.toThrow('OpenApiTestLamp')
  await expect(mergeOpenApi([document, document])).rejects.toThrow('/lamps')
  const moved = { ...document, paths: { '/moved': document.paths?.['/lamps'] ?? {} } }
  await expect(mergeOpenApi([document, moved])).rejects.toThrow('createLamp')
})

test('others have their turn while a large document is generated and serialized', async () => {
  // Takes much longer than one slice, even on a fast machine.
  const many = Array.from({ length: 300 }, (_, at) =>
    defineRoute({
      operationId: `readLamp${at}`,
      method: 'get',
      path: `/lamps${at}`,
      summary: 'Read',
      tag: 'lamps',
      scope: 'itsm:read',
      response: z.object(
        Object.fromEntries(Array.from({ length: 50 }, (_, field) => [`f${field}`, z.string()])),
      ),
      handler: async () => ({}),
    }),
  )
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  /** Event loop turns during the work; there are none without pauses, because promises alone do not end a turn. */
  const turnsDuring = async <T>(work: () => Promise<T>): Promise<T> => {
    turns = 0
    over = false
    setImmediate(count)
    const result = await work()
    over = true
    expect(turns).toBeGreaterThan(0)
    return result
  }
  const document = await turnsDuring(() => openApiDocument('lamps', many))
  expect(Object.keys(document.paths ?? {})).toHaveLength(300)
  const written = await turnsDuring(() => stringifyInSlices(document))
  expect(JSON.parse(written.toString())).toEqual(JSON.parse(JSON.stringify(document)))
})
