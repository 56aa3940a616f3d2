import { beforeAll, describe, expect, test } from '@jest/globals'
import {
  backendNames,
  ErrorEnvelope,
  type InternalParty,
  internalParties,
  newId,
  serviceNames,
} from '@opsplane/contracts'
import { createGrants, createInternalIssuer } from '@opsplane/http'
import { testPrincipal } from '@opsplane/testing'
import { request } from 'undici'
import { type InternalRoute, internalRoutes, writtenPaths } from './internal/routes.js'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let workspaceId: string
let userId: string
let tokenId: string

beforeAll(async () => {
  platform = await joinPlatform()
  const { data } = await typedClient(platform.info).get('/auth/me')
  userId = data.user.id
  tokenId = data.credential.id
  workspaceId = data.workspace?.id ?? ''
})

const addressOf = ({ service, method, path }: InternalRoute) => `${service} ${method} ${path}`
const changing = internalRoutes.filter(({ method }) => method !== 'GET')

const keyOf = (party: InternalParty) => platform.secrets.serviceKeys[party].privateKey
const issuerOf = (party: InternalParty) => createInternalIssuer({ service: party, privateKey: keyOf(party) })
/** A token with which the party may call this route once. */
const tokenOf = (party: InternalParty, { service, method, path }: InternalRoute) =>
  issuerOf(party).serviceToken(service, { method, path })

async function send(
  {
    service,
    method,
    path,
  }: Pick<InternalRoute, 'method' | 'path'> & { service: keyof SharedPlatform['urls'] },
  token?: string,
  body?: object,
) {
  const answer = await request(`${platform.urls[service]}${path}`, {
    method: method as 'POST',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.body.text()
  const json: unknown = text === '' ? undefined : JSON.parse(text)
  const code = answer.statusCode < 400 ? undefined : ErrorEnvelope.parse(json).error.code
  return { status: answer.statusCode, allow: answer.headers.allow, code, json }
}

test('the services serve exactly the listed internal routes', async () => {
  const found = await Promise.all(
    serviceNames.map(async (service) => {
      const addresses: string[] = []
      for (const path of writtenPaths()) {
        // No route supports DELETE: the response for an existing path lists its methods.
        const { status, allow = 'DELETE' } = await send({ service, method: 'DELETE', path })
        if (status === 404) continue
        for (const method of String(allow).split(', '))
          if (method !== 'HEAD')
            addresses.push(addressOf({ service: service as 'itsm', method, path, callers: [] }))
      }
      return addresses
    }),
  )
  expect(found.flat().sort()).toEqual(internalRoutes.map(addressOf).sort())
})

test.each(backendNames)('%s accepts only the declared callers on its internal routes', async (service) => {
  const { tokenFor } = createGrants(keyOf('settings'), [])
  const person = testPrincipal({ workspaceId, userId })
  // Created for each route, because they expire within a minute.
  const strangers = async (): Promise<[string, string][]> => [
    ['no service, by the gateway', await issuerOf('gateway').clientToken(service)],
    ['a person, by the gateway', await issuerOf('gateway').clientToken(service, person)],
    ['a service for a person', await tokenFor({ principal: person, by: 'workflows', run: 'run_1' }, service)],
  ]
  const wrong: string[] = []
  for (const route of internalRoutes.filter((each) => each.service === service)) {
    const wrongly = (who: string, code: string | undefined) =>
      wrong.push(`${addressOf(route)}: ${who}: ${code}`)
    for (const party of internalParties) {
      const { code } = await send(route, await tokenOf(party, route))
      if (route.callers.includes(party) === (code === 'forbidden')) wrongly(party, code)
    }
    for (const [who, token] of await strangers()) {
      const { code } = await send(route, token)
      if (code !== 'forbidden') wrongly(who, code)
    }
    const { code } = await send(route)
    if (code !== 'unauthenticated') wrongly('without a token', code)
  }
  expect(wrong).toEqual([])
})

test.each(backendNames)(
  'the OpenAPI document that %s serves without a token contains no internal route',
  async (service) => {
    const { status, json } = await send({ service, method: 'GET', path: '/internal/openapi.json' })
    expect([status, JSON.stringify(json).includes('/internal/')]).toEqual([200, false])
  },
)

describe('an internal call other than GET', () => {
  test.each(changing.map((route): [string, InternalRoute] => [addressOf(route), route]))(
    '%s is accepted once, and only with a token for its method and path',
    async (_address, route) => {
      const [caller = 'operator'] = route.callers
      const { service, method, path } = route
      const refused = { status: 401, code: 'invalid_token' }
      const reading = await issuerOf(caller).serviceToken(service)
      const elsewhere = await tokenOf(caller, { ...route, path: `${path}?more=1` })
      for (const token of [reading, elsewhere])
        expect(await send({ service, method, path }, token)).toMatchObject(refused)
      const token = await tokenOf(caller, route)
      // Required input is missing, so that nothing is done.
      expect((await send(route, token)).code).toBe('validation_failed')
      expect(await send(route, token)).toMatchObject(refused)
    },
  )

  /** Routes that accept a call only once across all replicas: see settings' own test. */
  const takenByOneReplica = new Set(
    [
      ...['secrets/resolve', 'secrets/targets', 'grants', 'grants/revoke', 'delegations'],
      ...['budgets/lease', 'rates/spend'],
    ].map((path) => `settings POST /internal/${path}`),
  )
  const place = () => ({ workspaceId, environment: 'production' })
  const validates = { tables: ['assets'], on: ['create'], whenUnavailable: 'fail_open' }
  const artifactId = newId('artifact')
  const questions: Record<string, () => object> = {
    'settings POST /internal/tokens/verify': () => ({
      ...{ token: platform.info.apiKey, workspace: platform.info.workspace, environment: 'production' },
    }),
    'settings POST /internal/tokens/confirm': () => ({
      questions: [
        { token: platform.info.apiKey, workspace: platform.info.workspace, environment: 'production' },
      ],
    }),
    'database-studio POST /internal/read-rules': () => ({ workspaceId }),
    'settings POST /internal/grants/holding': () => ({ grants: ['none'] }),
    'settings POST /internal/rights': () => ({ workspaceId, userIds: [userId] }),
    'settings POST /internal/members': () => ({ workspaceId, userIds: [userId] }),
    'database-studio POST /internal/tables/names': () => ({ ...place(), names: ['none'] }),
    'database-studio POST /internal/queries/names': () => ({ ...place(), names: ['none'] }),
    'sdk POST /internal/artifacts/needs': () => ({ ...place(), names: ['none'] }),
    'settings POST /internal/environment-scope': () => ({ tokenId }),
    'settings POST /internal/retention': () => ({ workspaceIds: [workspaceId] }),
    'settings POST /internal/bootstrap': () => {
      const { workspace, email, password } = platform.info
      return { workspaceName: 'Demo', workspaceSlug: workspace, userName: 'Owner', email, password }
    },
    'integrations POST /internal/connectors/names': () => ({ ...place(), ids: [], names: ['none'] }),
    'database-studio POST /internal/validations': () => ({
      ...place(),
      validations: [{ artifactId, version: 1, validates }],
    }),
    'workflows POST /internal/artifacts/uses': () => ({ ...place(), slugs: ['none'] }),
    'workflows POST /internal/runs/depths': () => ({ ids: [newId('run')] }),
    'sdk POST /internal/rules/validate': () => ({
      ...place(),
      batch: [{ table: 'assets', operation: 'create', records: [{ name: 'x' }] }],
      ...{ actorId: userId, requestId: null, causationId: null },
    }),
    'sdk POST /internal/executions/depths': () => ({ ids: [newId('execution')] }),
    ...Object.fromEntries(
      changing
        .filter(({ path }) => path === '/internal/people/dependents')
        .map((route) => [addressOf(route), () => ({ workspaceId, userId, successorId: null })]),
    ),
    ...Object.fromEntries(
      changing
        .filter(({ path }) => path.startsWith('/internal/operations/'))
        .map((route) => [addressOf(route), () => ({ number: Number.MAX_SAFE_INTEGER })]),
    ),
  }

  /** Events of this workspace that the service has logged after a position. */
  const eventsAfter = async (route: InternalRoute, position: number) => {
    const reading = { ...route, method: 'GET', path: `/internal/events?after=${position}` }
    const { json } = await send(reading, await tokenOf('settings', reading))
    const { events } = (json as { data: { events: { event: { workspaceId: string } }[] } }).data
    return events.filter(({ event }) => event.workspaceId === workspaceId)
  }
  const endOf = async (route: InternalRoute) => {
    const reading = { ...route, method: 'GET', path: '/internal/events/end' }
    const { json } = await send(reading, await tokenOf('settings', reading))
    return (json as { data: { position: number } }).data.position
  }

  const twofold = changing.filter((route) => !takenByOneReplica.has(addressOf(route)))

  test('is either accepted by one replica only or listed as repeatable', () => {
    expect(twofold.map(addressOf).sort()).toEqual(Object.keys(questions).sort())
  })

  test.each(twofold.map((route): [string, InternalRoute] => [addressOf(route), route]))(
    '%s returns the same when another replica accepts it as well, without further effects',
    async (address, route) => {
      const ask = async () => {
        const { json, code } = await send(
          route,
          await tokenOf(route.callers[0] ?? 'operator', route),
          questions[address]?.(),
        )
        return { code, data: (json as { data?: unknown }).data }
      }
      const first = await ask()
      expect(first.code).toBeUndefined()
      const end = await endOf(route)
      expect(await ask()).toEqual(first)
      expect(await eventsAfter(route, end)).toEqual([])
    },
  )
})
