import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { backendNames, builtInRoles, type Permission, permissions } from '@opsplane/contracts'
import { bootstrapOwner } from '@opsplane/local'
import { everyNth, isLongTier } from '@opsplane/testing'
import { type startTestCluster, typedClient } from '../platform.js'
import { errorCode } from './answers.js'
import { acceptsAnyName, type Operation, parametersIn } from './document.js'
import { groupByFamily, everyOperation as tryEveryOperation } from './every-operation.js'
import type { Answer } from './exchange.js'
import { fetchRouteTable, listOriginOperations } from './origin.js'
import { markBody, withRefusedAppends } from './refused-appends.js'
import { type FuzzResources, fillPath } from './resources.js'

const password = 'correct horse battery staple'
const roles = Object.keys(builtInRoles)
/** Whether every test covers every operation. */
const isWhole = isLongTier()

/** A platform with resources that other tests also use. */
export interface Setting {
  cluster: Awaited<ReturnType<typeof startTestCluster>>
  /** Operations of the document. */
  operations: readonly Operation[]
  world: FuzzResources
  /** Path values of resources that stay unchanged. */
  untouched: ReturnType<FuzzResources['sharedPathValues']>
}

let cluster: Setting['cluster']
let world: FuzzResources
let untouched: Setting['untouched']
/** Operations that require authentication. */
let operations: Operation[]
/** Another workspace, and a key of its owner. */
let other: { workspace: string; apiKey: string }
let both: Promise<string> | undefined

async function begin(setting: Setting): Promise<void> {
  ;({ cluster, world, untouched } = setting)
  const tables = await Promise.all(
    backendNames.map((name) => fetchRouteTable(name, cluster.services[name].url, cluster.secrets)),
  )
  // Operations below the origin are in no document.
  operations = [...setting.operations, ...tables.flatMap(listOriginOperations)].filter(
    ({ secured }) => secured,
  )
  const owner = { workspace: 'other', email: 'other@example.com', password }
  const { origin } = cluster.info
  const settingsUrl = cluster.services.settings.url
  other = await bootstrapOwner({ secrets: { ...cluster.secrets, owner }, settingsUrl, origin })
}

const scopeOf = ({ scope }: Operation): Permission | undefined => permissions.find((each) => each === scope)

const absentPath = ({ path }: Operation) => fillPath(path, {})

/** For requests that must be rejected before their body is parsed: those that are let through create nothing. */
const emptyBody = null

function send(
  operation: Operation,
  token: string,
  target: string,
  headers: Record<string, string> = {},
  body: unknown = world.goodBody(operation),
): Promise<Answer> {
  const text = operation.body === undefined ? undefined : JSON.stringify(body)
  const own = {
    authorization: `Bearer ${token}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return world.send({ method: operation.method, target, text, headers: { ...own, ...headers } })
}

const everyOperation = (
  work: (operation: Operation) => Promise<string | undefined>,
  testedOperations: readonly Operation[] = operations,
) => tryEveryOperation(testedOperations, world, async (operation) => [(await work(operation)) ?? []].flat())

/** A session of a new user with this role. */
async function sessionAs(role: string): Promise<string> {
  const email = `${role}@roles.example.com`
  const { data } = await world.owner.post('/settings/users/invite', { body: { email, role } })
  const body = { token: data.invitation?.token ?? '', name: role, password }
  return (await world.owner.post('/auth/invitations/accept', { body })).data.accessToken
}

/** The test of keys proves the required scope of every operation, so a role is tested with one operation per scope. */
const oneOfEachScope = () => [...new Map(operations.map((each) => [scopeOf(each), each])).values()]

/** One in twelve operations of each family, because each needs its own resources; the long tier tries all. */
const someOfEachFamily = (all: readonly Operation[]) =>
  groupByFamily(all).flatMap((family) => everyNth(12, family))

const inWorkspace = (operation: Operation) =>
  parametersIn(operation, 'header').some(({ name }) => name === 'X-Workspace')

/** Status and error of a response, without the parts that differ in every response. */
const formatAnswer = ({ status, json }: Answer) => {
  const { error } = (json ?? {}) as { error?: unknown }
  return JSON.stringify({ status, error })
}

/** A session of the owner, who joins the other workspace too: only the workspace differs. */
async function joinOther(): Promise<string> {
  const { email, password: secret } = cluster.info
  const elsewhere = typedClient({ ...cluster.info, apiKey: other.apiKey, workspace: other.workspace })
  const { data } = await elsewhere.post('/settings/users/invite', { body: { email, role: 'admin' } })
  const body = { token: data.invitation?.token ?? '', password: secret }
  return (await world.owner.post('/auth/invitations/accept', { body })).data.accessToken
}

function memberOfBoth(): Promise<string> {
  both ??= joinOther()
  return both
}

const elsewhereOf = () => [{ 'x-workspace': other.workspace }, { 'x-environment': 'development' }]

/**
 * Tests of authorization for every operation. They run in the file of other tests with the same resources, because
 * preparing those costs more than the tests.
 */
export function authorizationTests(setting: () => Setting): void {
  beforeAll(() => begin(setting()))
  testRights()
  testTenants()
}

function testRights(): void {
  test('an owner key that lacks newer permissions is replaced by one with all of them', async () => {
    const settingsUrl = cluster.services.settings.url
    const { origin } = cluster.info
    const make = (apiKey: string) => {
      const owner = { workspace: 'other', email: 'other@example.com', password, apiKey }
      return bootstrapOwner({ secrets: { ...cluster.secrets, owner }, settingsUrl, origin })
    }
    const clientOf = (apiKey: string) => typedClient({ ...cluster.info, workspace: 'other', apiKey })
    const older = permissions.filter((each) => each !== 'topics:read')
    const { data } = await clientOf(other.apiKey).post('/auth/tokens', {
      body: { name: 'older', scopes: older },
    })
    const olderKey = String(data.token)
    const renewed = await make(olderKey)
    expect(renewed.apiKey).not.toBe(olderKey)
    const me = await clientOf(renewed.apiKey).get('/auth/me')
    expect(new Set(me.data.permissions)).toEqual(new Set(permissions))
    expect((await make(renewed.apiKey)).apiKey).toBe(renewed.apiKey)
  })

  test.each(roles)('%s has exactly the permissions in the table of roles', async (role) => {
    const token = await sessionAs(role)
    const allowed = builtInRoles[role]?.permissions ?? []
    const tried = async (operation: Operation) => {
      const scope = scopeOf(operation)
      if (scope === undefined) return undefined
      const code = errorCode(await send(operation, token, absentPath(operation), {}, emptyBody))
      const isRefused = code === 'insufficient_scope'
      return isRefused === allowed.includes(scope) ? `${scope} for ${role}: ${code}` : undefined
    }
    await everyOperation(tried, isWhole ? operations : oneOfEachScope())
  })

  test('a key without the required scope is refused, and a key with only that scope is not', async () => {
    const keys = new Map<Permission, { without: string; alone: string }>()
    for (const scope of permissions)
      keys.set(scope, {
        without: await world.key(permissions.filter((each) => each !== scope)),
        alone: await world.key([scope]),
      })
    const triedAlone = new Set([...oneOfEachScope(), ...everyNth(3, operations)])
    await everyOperation(async (operation) => {
      const scope = scopeOf(operation)
      if (scope === undefined) return undefined
      const { without = '', alone = '' } = keys.get(scope) ?? {}
      const codeOf = async (key: string) =>
        errorCode(await send(operation, key, absentPath(operation), {}, emptyBody))
      const codeWithoutScope = await codeOf(without)
      if (codeWithoutScope !== 'insufficient_scope') return `${scope}: ${codeWithoutScope} without it`
      if (!triedAlone.has(operation)) return undefined
      const allowed = await codeOf(alone)
      return allowed === 'insufficient_scope' ? `${scope}: ${allowed} with it alone` : undefined
    })
  })

  test('no key is valid for another workspace, or for an environment it is not issued for', async () => {
    const owner = await world.key()
    const staging = await typedClient(cluster.info).post('/auth/tokens', {
      body: { name: 'staging', scopes: [...permissions], environments: ['staging'] },
    })
    const inOtherEnvironment = new Set(everyNth(3, operations))
    await everyOperation(async (operation) => {
      if (!inWorkspace(operation)) return undefined
      const target = absentPath(operation)
      const foreign = errorCode(
        await send(operation, owner, target, { 'x-workspace': other.workspace }, emptyBody),
      )
      if (foreign !== 'workspace_forbidden') return `other workspace: ${foreign}`
      if (!inOtherEnvironment.has(operation)) return undefined
      const environment = errorCode(await send(operation, String(staging.data.token), target, {}, emptyBody))
      return environment === 'environment_forbidden' ? undefined : `other environment: ${environment}`
    })
  })
}

function testTenants(): void {
  test('resources of another tenant get the same response as absent ones', async () => {
    const full = await world.key()
    await everyOperation(async (operation) => {
      if (!inWorkspace(operation) || !operation.path.includes('{') || acceptsAnyName.test(operation.path))
        return undefined
      const real = fillPath(operation.path, await untouched(operation))
      const elsewhere: [string, Record<string, string>][] = [
        [other.apiKey, { 'x-workspace': other.workspace }],
      ]
      // Members, roles and keys belong to the workspace as a whole, and so do apps until they are deployed.
      const inOtherEnvironment = isWhole || operations.indexOf(operation) % 3 === 0
      if (
        inOtherEnvironment &&
        !/^\/(settings|auth|workspaces|audit|notifications|apps)/.test(operation.path)
      )
        elsewhere.push([full, { 'x-environment': 'development' }])
      for (const [token, headers] of elsewhere) {
        const found = formatAnswer(await send(operation, token, real, headers))
        const absent = formatAnswer(await send(operation, token, absentPath(operation), headers))
        if (found !== absent) return `${JSON.stringify(headers)}: ${found} instead of ${absent}`
      }
      return undefined
    })
  })

  test('cursors of another tenant are rejected', async () => {
    const headers = { 'x-workspace': other.workspace }
    await everyOperation(async (operation) => {
      if (!parametersIn(operation, 'query').some(({ name }) => name === 'after')) return undefined
      if (operation.method !== 'GET' || operation.path.includes('{') || !inWorkspace(operation))
        return undefined
      const real = world.cursors.slice(0, 4)
      const turn = operations.indexOf(operation) % real.length
      for (const cursor of isWhole ? real : real.slice(turn, turn + 1)) {
        const target = `${operation.path}?after=${encodeURIComponent(cursor)}`
        const answer = await send(operation, other.apiKey, target, headers)
        if (errorCode(answer) !== 'invalid_cursor') return `${answer.status} ${answer.text.slice(0, 200)}`
      }
      return undefined
    })
  })

  test('idempotency keys of another tenant are ignored, even for the same person', async () => {
    const token = await memberOfBoth()
    const acceptsKey = (operation: Operation) =>
      inWorkspace(operation) &&
      parametersIn(operation, 'header').some(({ name }) => name === 'Idempotency-Key')
    const keyed = someOfEachFamily(operations.filter(acceptsKey))
    await everyOperation(async (operation) => {
      const target = fillPath(operation.path, await world.pathValues(operation))
      const body = world.goodBody(operation)
      const key = { 'idempotency-key': `both-${operation.id}` }
      const first = await send(operation, token, target, key, body)
      for (const tenant of elsewhereOf()) {
        const answer = await send(operation, token, target, { ...key, ...tenant }, body)
        const code = errorCode(answer)
        if (answer.headers['idempotency-replayed'] || code?.startsWith('idempotency_'))
          return `${JSON.stringify(tenant)}: ${answer.status} ${code} after ${first.status}`
      }
      const again = await send(operation, token, target, key, body)
      // A rejected request had no effect, and is evaluated again.
      return again.headers['idempotency-replayed'] === 'true' || first.status >= 300
        ? undefined
        : `the key is not kept: ${first.status} and ${again.status}`
    }, keyed)
  })

  test('a response cached for one tenant is never confirmed as current for another', async () => {
    const token = await memberOfBoth()
    const isRead = (operation: Operation) =>
      operation.method === 'GET' && inWorkspace(operation) && !acceptsAnyName.test(operation.path)
    const cached = everyNth(3, operations.filter(isRead))
    await everyOperation(async (operation) => {
      const hasPathParameter = operation.path.includes('{')
      const target = hasPathParameter ? fillPath(operation.path, await untouched(operation)) : operation.path
      const { headers, status } = await send(operation, token, target)
      if (status !== 200) return undefined
      if (!/no-store|private|no-cache/.test(String(headers['cache-control'])))
        return `may be kept by a shared cache: ${headers['cache-control']}`
      if (typeof headers.etag !== 'string' || !hasPathParameter) return undefined
      const answer = await send(operation, token, target, {
        'x-workspace': other.workspace,
        'if-none-match': headers.etag,
      })
      return answer.status === 404 || /^\/workspaces/.test(operation.path) ? undefined : `${answer.status}`
    }, cached)
  })

  test('topics with the same name in two tenants are separate', async () => {
    const token = await memberOfBoth()
    const topic = (tenant: Record<string, string>) => {
      const at = (method: string, below: string, body?: object) =>
        world.send({
          method,
          target: `/events/topics/orders.shared${below}`,
          text: body && JSON.stringify(body),
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': body && 'application/json',
            ...tenant,
          },
        })
      return {
        publish: (n: number) =>
          at('POST', '/publish', { type: 'order.created', payload: { n }, deduplicationKey: 'o-1' }),
        read: async (query = '') => (await at('GET', `/events${query}`)).json as { data: { id: string }[] },
        answer: async (query: string) => formatAnswer(await at('GET', `/events${query}`)),
      }
    }
    const here = topic({})
    for (const tenant of elsewhereOf()) {
      const there = topic(tenant)
      const waiting = there.read('?timeout=20000')
      await here.publish(1)
      const [mine] = (await here.read()).data
      expect((await there.read()).data).toEqual([])
      const published = (await there.publish(2)).json as { data: { id: string; deduplicated: boolean } }
      expect(published.data.deduplicated).toBe(false)
      expect((await waiting).data).toMatchObject([{ id: published.data.id, payload: { n: 2 } }])
      expect(await there.answer(`?after=${mine?.id}`)).toBe(
        await there.answer(`?after=${mine?.id.slice(0, -3)}ZZZ`),
      )
    }
  })

  test('logs contain no data of a tenant, even if every write fails', async () => {
    const mark = 'written-by-a-tenant'
    const owner = await world.key()
    const makes = ({ method, path }: Operation) => method === 'POST' && !path.includes('{')
    const createOperations = operations.filter(makes)
    await withRefusedAppends(cluster.info.postgresUrl, async () => {
      const worker = async () => {
        for (let operation = createOperations.pop(); operation; operation = createOperations.pop())
          await send(
            operation,
            owner,
            operation.path,
            { 'user-agent': mark },
            markBody(world.goodBody(operation), mark),
          )
      }
      await Promise.all(Array.from({ length: 8 }, worker))
    })
    const logOf = (name: string) => readFileSync(join(cluster.folder, `${name}.log`), 'utf8')
    for (const name of backendNames) {
      // SQLSTATE of "insufficient_privilege".
      const logged = logOf(name)
      expect([name, logged.includes('42501'), logged.includes(mark)]).toEqual([name, true, false])
    }
    expect(logOf('gateway')).not.toContain(mark)
  })
}
