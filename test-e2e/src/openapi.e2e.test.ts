import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { Moment } from '@opsplane/contracts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { request } from 'undici'
import { z } from 'zod'
import { createJudge, type Judge } from './fuzz/answers.js'
import {
  exampleBody,
  type JsonSchema,
  listAllOperations,
  listApiPaths,
  listOperations,
  type OpenApi,
  parametersIn,
  resolveSchema,
} from './fuzz/document.js'
import { fetchOpenApi } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Operation {
  operationId: string
  responses: Record<string, unknown>
  security?: unknown[]
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
}

let platform: SharedPlatform
let document: OpenApi
let judge: Judge
beforeAll(async () => {
  platform = await joinPlatform()
  document = await fetchOpenApi<OpenApi>(platform.info)
  judge = createJudge(document)
})

const get = async (path: string) => {
  // The validator blocks the event loop for longer than the server keeps an idle connection.
  const response = await request(`${platform.info.baseUrl}${path}`, { reset: true })
  return { status: response.statusCode, headers: response.headers, text: await response.body.text() }
}

test('the merged document is valid OpenAPI 3.1 with unique operation ids', async () => {
  const { status, text } = await get('/openapi.json')
  expect(status).toBe(200)
  const document = JSON.parse(text) as Document
  const result = await new Validator().validate(JSON.parse(text))
  expect(result.errors ?? []).toEqual([])
  expect(document.openapi).toMatch(/^3\.1/)
  const operations = Object.values(listApiPaths(document)).flatMap((item) => Object.values(item))
  const ids = operations.map((operation) => operation.operationId).filter(Boolean)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ['createIncident', 'createWebhook', 'createToken', 'getAuditEvent', 'listNotifications'])
    expect(ids).toContain(id)
  // A public operation may not require any credentials.
  for (const { operationId, responses, security } of operations) {
    if (security?.length) expect([operationId, responses['401'] !== undefined]).toEqual([operationId, true])
  }
})

test('every operation has a description, tag, security, error responses and an example valid by its schema', () => {
  const wrong = listAllOperations(document).flatMap((operation) => {
    const { summary, description, tags, responses, security } = operation.raw
    const errors = Object.keys(responses).filter((status) => Number(status) >= 400)
    const example = exampleBody(document, operation)
    const lacks = {
      'an operation id': !operation.id,
      'a summary': !summary,
      'a description': !description,
      'a tag': !tags?.length,
      security: security === undefined,
      'error responses': errors.length === 0,
      'an example': operation.body !== undefined && example === undefined,
      'an example that fits': example !== undefined && !judge.allows(operation, example),
    }
    return Object.entries(lacks).flatMap(([what, missing]) =>
      missing ? [`${operation.id} lacks ${what}`] : [],
    )
  })
  expect(wrong).toEqual([])
})

test('every operation has response examples that are valid by its schema', () => {
  const wrong = listAllOperations(document).flatMap((operation) =>
    judge.wrongExamples(operation).map((problem) => `${operation.id}: ${problem}`),
  )
  expect(wrong).toEqual([])
})

test('content other than JSON is described as binary, or as a string if it is HTML', () => {
  const contents = listAllOperations(document).flatMap(({ id, raw: { requestBody, responses } }) =>
    [requestBody ?? {}, ...Object.values(responses)].flatMap(({ content = {} }) =>
      Object.entries(content).map(([media, { schema }]) => ({ id, media, schema })),
    ),
  )
  const others = contents.filter(({ media }) => media !== 'application/json')
  const page = { type: 'string' }
  const file = { type: 'string', format: 'binary' }
  expect(others.length).toBeGreaterThan(10)
  expect(others).toEqual(
    others.map(({ id, media }) => ({ id, media, schema: media === 'text/html' ? page : file })),
  )
})

test('every date-time in a request accepts any supported notation', () => {
  const moment = z.toJSONSchema(Moment, { io: 'input' }).pattern
  const found: [string, unknown][] = []
  const collect = (id: string, part: unknown, within: readonly string[]): void => {
    if (typeof part !== 'object' || part === null) return
    const { $ref, format, pattern } = part as JsonSchema
    if (format === 'date-time') found.push([id, pattern])
    if (typeof $ref === 'string' && !within.includes($ref))
      collect(id, resolveSchema(document, { $ref }), [...within, $ref])
    for (const each of Object.values(part)) collect(id, each, within)
  }
  for (const { id, parameters, raw } of listAllOperations(document)) {
    for (const { schema } of parameters) collect(id, schema, [])
    for (const { schema } of Object.values(raw.requestBody?.content ?? {})) collect(id, schema, [])
  }
  expect(found.length).toBeGreaterThan(100)
  expect(found.filter(([, pattern]) => pattern !== moment)).toEqual([])
})

test('paths outside of /api/v1 have their own server in the document', async () => {
  const document = JSON.parse((await get('/openapi.json')).text) as {
    paths: Record<string, { servers?: object[] }>
  }
  const elsewhere = Object.entries(document.paths).filter(([, { servers }]) => servers !== undefined)
  expect(elsewhere.map(([path]) => path).sort()).toEqual([
    '/api/service-sdk/artifacts/{id}/executions',
    '/api/service-sdk/artifacts/{id}/related-executions',
    '/api/service-sdk/executions',
    '/api/service-sdk/executions/failures',
    '/api/service-sdk/executions/failures/{groupId}/retry',
    '/api/service-sdk/executions/retries',
    '/api/service-sdk/executions/retries/{id}',
    '/api/service-sdk/executions/retries/{id}/cancel',
    '/api/service-sdk/executions/{id}',
    '/api/service-sdk/executions/{id}/cancel',
    '/api/service-sdk/executions/{id}/replay',
    '/downloads/{token}',
    '/hooks/{id}',
  ])
  const { origin } = platform.info
  expect(new Set(elsewhere.map(([, { servers }]) => JSON.stringify(servers)))).toEqual(
    new Set([JSON.stringify([{ url: origin }])]),
  )
})

test('every query parameter compared with an instant accepts a date as well, in the time zone of the query', () => {
  const formatsOf = ({ format, anyOf = [] }: JsonSchema) => [format, ...anyOf.map((each) => each.format)]
  const instants = listOperations(document).flatMap((operation) => {
    const query = parametersIn(operation, 'query')
    const hasZone = query.some(({ name }) => name === 'timeZone')
    return query.flatMap(({ name, schema }) => {
      const resolved = resolveSchema(document, schema)
      const formats = formatsOf(resolved)
      // Log positions are numbers.
      const isNumber = resolved.type === 'integer' || resolved.type === 'number'
      const isNamedSo = !isNumber && /(After|Before)$|^(asOf|from|to|until)$/.test(name)
      const isInstant = formats.includes('date-time') || isNamedSo
      const takesBoth = formats.includes('date-time') && formats.includes('date') && hasZone
      return isInstant ? [{ parameter: `${operation.id} ${name}`, takesBoth }] : []
    })
  })
  expect(instants.length).toBeGreaterThan(50)
  expect(instants.filter(({ takesBoth }) => !takesBoth)).toEqual([])
})

/** Fields of bodies that have the format or name of an instant but are not bounds of a time range, with the reason. */
const noBounds = {
  'AuditVerifyRequest.checkpoint.at': 'as an earlier answer has it',
  'ArtifactTest.now': 'the very instant at which a test runs',
  ...inBoth('Article', 'validUntil', 'the instant at which an article ends'),
  'ScheduleArticle.publishAt': 'the instant at which something is done',
  'NewToken.expiresAt': 'the instant at which a token ends',
  ...inBoth('Change', 'plannedStart', 'a plan names the minute'),
  ...inBoth('Change', 'plannedEnd', 'a plan names the minute'),
  ...inBoth('ConfigurationItem', 'lastSeenAt', 'when something happened'),
  'StepWait.until': 'an expression',
  'KpiTarget.from': 'a date only: what holds for whole days',
  'SlaHours.from': 'a time of day',
  ...inBoth('ChangeWindow', 'recurrence.from', 'a time of day'),
  ...inBoth('ChangeWindow', 'recurrence.to', 'a time of day'),
  'TablePatch.columns.rename.to': 'a name',
  'PromoteMigrations.from': 'an environment',
  'RetryRun.from': 'a step',
  'RetryFailures.to': 'a cursor',
  'RollbackPack.to': 'a version',
}

function inBoth(resource: string, field: string, why: string): Record<string, string> {
  return { [`New${resource}.${field}`]: why, [`${resource}Patch.${field}`]: why }
}

test('every time bound in a body accepts a date as well, in a named time zone', () => {
  const formatsOf = ({ format, anyOf = [] }: JsonSchema) => [format, ...anyOf.map((each) => each.format)]
  const found = new Map<string, boolean>()
  const walk = (schema: JsonSchema, owner: string, hasZone: boolean, seen: readonly string[]): void => {
    const id = schema.$ref?.split('/').at(-1)
    if (id !== undefined && seen.includes(id)) return
    const inside = { owner: id ?? owner, seen: id === undefined ? seen : [...seen, id] }
    const resolved = resolveSchema(document, schema)
    const { properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = resolved
    const isZoned = hasZone || 'timeZone' in properties
    const deeper = [items, additionalProperties, ...anyOf, ...oneOf, ...allOf]
    for (const each of deeper) if (typeof each === 'object') walk(each, inside.owner, isZoned, inside.seen)
    for (const [name, property] of Object.entries(properties)) {
      const place = `${inside.owner}.${name}`
      const { type, ...shape } = resolveSchema(document, property)
      const formats = formatsOf(shape)
      const isInstant = formats.includes('date-time')
      const isNamedSo = /(After|Before|Until|Since)$|^(from|to|until|since|before|after)$/.test(name)
      if (isInstant || (type === 'string' && isNamedSo))
        found.set(place, isInstant && formats.includes('date') && isZoned)
      walk(property, place, isZoned, inside.seen)
    }
  }
  for (const { id, body } of listOperations(document)) if (body) walk(body, id, false, [])
  const wrong = [...found].filter(([, takesBoth]) => !takesBoth).map(([place]) => place)
  expect(wrong.sort()).toEqual(Object.keys(noBounds).sort())
  expect(found.size - wrong.length).toBeGreaterThan(10)
})

test('every list operation is described as a page of items', () => {
  const lists = listOperations(document).filter(
    // A verification also continues from a cursor, but is not a list.
    ({ id, raw: { responses } }) =>
      !id.startsWith('verify') &&
      responses['400']?.description?.includes('`invalid_cursor`') &&
      responses['200']?.content?.['application/json'],
  )
  expect(lists.length).toBeGreaterThan(50)
  const wrong = lists.filter(({ raw }) => {
    const { schema = {} } = raw.responses['200']?.content?.['application/json'] ?? {}
    const { properties = {} } = resolveSchema(document, schema)
    return properties.data?.type !== 'array' || properties.pagination === undefined
  })
  expect(wrong.map(({ id }) => id)).toEqual([])
})

test('the document is also served as YAML, and the reference page loads nothing from other hosts', async () => {
  const yaml = await get('/openapi.yaml')
  expect(yaml.status).toBe(200)
  expect(yaml.text).toMatch(/^openapi: ["']?3\.1/m)
  const page = await get('/docs/')
  expect(page.status).toBe(200)
  expect(page.text).not.toMatch(/(src|href)=["'](https?:)?\/\//)
})

test('the typed client is generated from the served document', () => {
  const url = `${platform.info.baseUrl}/openapi.json`
  const args = [resolve('client/dist/generator/main.js'), '--check', '--url', url]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(`${stdout}${stderr}`).toBe('client/src/schema.ts is up to date\n')
})
