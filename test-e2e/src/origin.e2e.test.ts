import { beforeAll, describe, expect, test } from '@jest/globals'
import { backendNames, ErrorEnvelope } from '@opsplane/contracts'
import fc from 'fast-check'
import { request } from 'undici'
import { edgeValues } from './fuzz/arbitrary.js'
import { fetchRouteTable, listOriginOperations, type OriginOperation } from './fuzz/origin.js'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

// Operations below the origin have their own server in the OpenAPI document, if they are included at all, so no
// other suite covers them.

const seed = Number(process.env.FUZZ_SEED ?? 20_261_121)
const runs = 10 * Number(process.env.FUZZ_RUNS ?? 1)

let platform: SharedPlatform
let operations: OriginOperation[]
/** Path values of existing resources. */
let real: Record<string, string>
/** A key of another workspace, and keys of this workspace that lack a permission or an environment. */
let keys: { elsewhere: string; without: Record<string, string>; staging: string }

beforeAll(async () => {
  platform = await joinPlatform()
  const tables = backendNames.map((name) => fetchRouteTable(name, platform.urls[name], platform.secrets))
  operations = (await Promise.all(tables)).flatMap(listOriginOperations)
  const owner = typedClient(platform.info)
  const key = async (scopes: string[], environments?: ('staging' | 'production')[]) =>
    String(
      (await owner.post('/auth/tokens', { body: { name: 'k', scopes, environments } as never })).data.token,
    )
  const every = ['apps:use', 'executions:read', 'sdk:invoke', 'itsm:read']
  keys = {
    elsewhere: (await platform.another()).apiKey,
    without: Object.fromEntries(
      await Promise.all(
        every.map(async (each) => [each, await key(every.filter((other) => other !== each))] as const),
      ),
    ),
    staging: await key(every, ['staging']),
  }
  real = await shown(owner)
})

/** Creates an app and an inbound webhook. */
async function shown(owner: ReturnType<typeof typedClient>) {
  const app = {
    path: { id: (await owner.post('/apps', { body: { slug: 'shown', name: 'Shown' } })).data.id },
  }
  await owner.post('/apps/{id}/pages', { params: app, body: { slug: 'home', title: 'Home' } })
  await owner.post('/apps/{id}/deploy', { params: app, body: { embeddable: true } })
  const definition = {
    trigger: { type: 'webhook' },
    steps: [{ id: 'a', type: 'transform', value: 1 }],
  } as never
  const flow = {
    path: { id: (await owner.post('/workflows', { body: { name: 'Called', definition } })).data.id },
  }
  await owner.post('/workflows/{id}/publish', { params: flow, body: { activate: true } })
  const { path } = (await owner.get('/workflows/{id}/hook', { params: flow })).data
  return {
    workspace: platform.info.workspace,
    slug: 'shown',
    page: 'home',
    id: String(path.split('/').at(-1)),
  }
}

interface Call {
  token?: string | undefined
  headers?: Record<string, string>
  text?: string | undefined
}

/** `path`: below /origin, as the service defines it. */
async function call(method: string, path: string, { token, headers = {}, text }: Call = {}) {
  const answer = await request(`${platform.info.origin}${path.slice('/origin'.length)}`, {
    method: method as 'GET',
    headers: {
      'x-workspace': platform.info.workspace,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text !== undefined && { body: text }),
  })
  const body = await answer.body.text()
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  const error = answer.statusCode >= 400 ? ErrorEnvelope.parse(isJson ? JSON.parse(body) : null).error : null
  return { status: answer.statusCode, headers: answer.headers, error, code: error?.code, body }
}

const filled = (path: string, values: Record<string, string>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'absent'))
/** Valid bodies, so that only the credential is wrong. */
const bodies: Record<string, object> = {
  getAppData: { requests: [{ key: 'a', source: 'none' }] },
  runAppAction: { source: 'none' },
}
const textOf = ({ id, method }: OriginOperation) =>
  method === 'POST' ? JSON.stringify(bodies[id] ?? {}) : undefined

/** Tries something with every operation of these kinds, and reports all problems together. */
async function each(access: readonly string[], work: (operation: OriginOperation) => Promise<string[]>) {
  const tried = operations.filter((operation) => access.includes(operation.access))
  expect(tried).not.toEqual([])
  const wrong = await Promise.all(
    tried.map(async (operation) => (await work(operation)).map((problem) => `${operation.id}: ${problem}`)),
  )
  expect(wrong.flat()).toEqual([])
}
const unless = (code: string | undefined, ...expected: (string | undefined)[]) =>
  expected.includes(code) ? [] : [`${code} instead of ${expected.join(' or ')}`]

test('exactly the listed operations exist below the origin', () => {
  const log = '/origin/api/service-sdk'
  const app = '/origin/apps/{workspace}/{slug}'
  expect(operations.map(({ method, path, scope }) => `${scope} ${method} ${path}`).sort()).toEqual([
    `executions:read GET ${log}/artifacts/{id}/executions`,
    `executions:read GET ${log}/artifacts/{id}/related-executions`,
    `executions:read GET ${log}/executions`,
    `executions:read GET ${log}/executions/failures`,
    `executions:read GET ${log}/executions/retries`,
    `executions:read GET ${log}/executions/retries/{id}`,
    `executions:read GET ${log}/executions/{id}`,
    `guest GET ${app}/-/definition`,
    `guest POST ${app}/-/actions`,
    `guest POST ${app}/-/data`,
    'public GET /origin/apps/-/assets/{file}',
    `public GET ${app}`,
    `public GET ${app}/{page}`,
    'public GET /origin/downloads/{token}',
    'public GET /origin/hooks/{id}',
    'public POST /origin/hooks/{id}',
    'public PUT /origin/hooks/{id}',
    `sdk:invoke POST ${log}/executions/failures/{groupId}/retry`,
    `sdk:invoke POST ${log}/executions/retries/{id}/cancel`,
    `sdk:invoke POST ${log}/executions/{id}/cancel`,
    `sdk:invoke POST ${log}/executions/{id}/replay`,
  ])
})

describe('requests below the origin are refused', () => {
  const refusals = async (operation: OriginOperation) => {
    const { method, path, scope, access } = operation
    const target = filled(path, real)
    const text = textOf(operation)
    const codeOf = async (options: Call) => (await call(method, target, { text, ...options })).code
    const permission = access === 'guest' ? 'apps:use' : (scope ?? '')
    return [
      ...unless(await codeOf({}), 'unauthenticated'),
      ...unless(await codeOf({ headers: { authorization: 'Basic b3duZXI6eA==' } }), 'unauthenticated'),
      ...unless(await codeOf({ headers: { cookie: `token=${platform.info.apiKey}` } }), 'unauthenticated'),
      ...unless(await codeOf({ token: 'ops_key_x_y' }), 'invalid_token'),
      ...unless(await codeOf({ token: 'a.b.c' }), 'invalid_token'),
      ...unless(await codeOf({ token: keys.elsewhere }), 'workspace_forbidden'),
      ...unless(await codeOf({ token: keys.staging }), 'environment_forbidden'),
      ...unless(await codeOf({ token: keys.without[permission] }), 'insufficient_scope'),
    ]
  }

  test('without a credential, with an invalid or foreign one, or without the permission', () =>
    each(['workspace', 'guest'], refusals))

  test('with a valid key at the address of another workspace', () =>
    each(['guest'], async (operation) => {
      const target = filled(operation.path, { ...real, workspace: 'elsewhere' })
      const answer = await call(operation.method, target, {
        token: platform.info.apiKey,
        text: textOf(operation),
      })
      return unless(answer.code, 'workspace_forbidden')
    }))
})

test('public operations return the same error for absent resources with any credential', () =>
  each(['public'], async (operation) => {
    const said = async (token?: string) => {
      const { status, code, error } = await call(operation.method, filled(operation.path, {}), {
        ...{ token, text: textOf(operation) },
      })
      return JSON.stringify([status, code, error?.message])
    }
    const anonymous = await said()
    const answers = await Promise.all([platform.info.apiKey, keys.elsewhere, 'ops_key_x_y'].map(said))
    return answers
      .filter((answer) => answer !== anonymous)
      .map((answer) => `${answer} instead of ${anonymous}`)
  }))

/** Bodies that are invalid for every operation. */
const keysOf = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')
const wrongBodies: [string, Call][] = [
  ['no JSON', { text: '{"a":' }],
  ['half a million levels', { text: `${'['.repeat(100_000)}` }],
  ['many keys', { text: `{${keysOf(2_001)}}` }],
  ['__proto__', { text: '{"__proto__":{"a":1}}' }],
  ['another media type', { text: 'a=1', headers: { 'content-type': 'application/xml' } }],
  ['a compressed body', { text: '{}', headers: { 'content-encoding': 'gzip' } }],
  ['a large body', { text: `{"a":"${'x'.repeat(2_200_000)}"}` }],
]
const wrongAddresses = ['x'.repeat(3_000), '%00', '%ff', '..%2f..%2finternal%2froutes', '__proto__', "';--"]

describe('malformed input below the origin', () => {
  const problemsOf = ({ status, headers }: Awaited<ReturnType<typeof call>>, what: string) =>
    status >= 500 || headers['x-content-type-options'] !== 'nosniff' || headers['x-request-id'] === undefined
      ? [`${what}: ${status} ${JSON.stringify(headers)}`]
      : []
  const all = ['workspace', 'guest', 'public']
  const token = () => platform.info.apiKey

  /** Query parameters are passed to the run, so all are accepted. */
  const takesAnyQuery = /^\/origin\/hooks\//

  test('in a path or query gets a response of the platform without a 5xx status', () =>
    each(all, async (operation) => {
      const { method, path } = operation
      const text = textOf(operation)
      const problems: string[] = []
      for (const wrong of wrongAddresses) {
        const target = path.replaceAll(/\{\w+\}/g, wrong)
        problems.push(
          ...problemsOf(await call(method, target, { token: token(), text }), target.slice(0, 80)),
        )
      }
      for (const query of [`${'x&'.repeat(500)}x`, 'x=%E0%A4%A', 'unknown=1', '__proto__=1']) {
        const answer = await call(method, `${filled(path, real)}?${query}`, { token: token(), text })
        problems.push(...problemsOf(answer, query.slice(0, 80)))
        if (answer.status < 400 && !takesAnyQuery.test(path)) problems.push(`${query.slice(0, 80)} is taken`)
      }
      return problems
    }))

  test('in a body gets a response of the platform without a 5xx status', () =>
    each(all, async (operation) => {
      if (operation.method !== 'POST') return []
      const target = filled(operation.path, real)
      const problems: string[] = []
      for (const [what, wrong] of wrongBodies)
        problems.push(...problemsOf(await call('POST', target, { token: token(), ...wrong }), what))
      const property = fc.asyncProperty(edgeValues, async (body) => {
        const answer = await call('POST', target, { token: token(), text: JSON.stringify(body) })
        const [problem] = problemsOf(answer, JSON.stringify(body))
        if (problem !== undefined) throw new Error(problem)
      })
      const { failed, errorInstance } = await fc.check(property, { seed, numRuns: runs })
      return failed ? [...problems, String(errorInstance)] : problems
    }))
})
