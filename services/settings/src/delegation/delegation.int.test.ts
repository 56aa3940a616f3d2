import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type Grant,
  GrantValidity,
  type InternalParty,
  type Permission,
  permissions,
  TokenCreated,
  VerifiedToken,
} from '@opsplane/contracts'
import {
  type CarriedLimits,
  createDelegations,
  createInternalIssuer,
  createInternalVerifier,
  serviceClient,
} from '@opsplane/http'
import { testKeys, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { createUserClient } from '../membership/users.fixture.js'
import { stepUpOperations } from '../session/step-up.fixture.js'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let ada: Owner
let users: ReturnType<typeof createUserClient>
const opened: { close(): Promise<void> }[] = []
const place = () => ({ workspace: ada.slug })

beforeAll(async () => {
  settings = await startSettings({}, { actsForUsers: ['itsm'] })
  ada = await settings.owner('acme')
  users = createUserClient(settings, ada, await settings.as(ada.session, place()))
})
afterAll(async () => {
  for (const client of opened) await client.close()
  await settings?.stop()
})

const issuerOf = (service: InternalParty) =>
  createInternalIssuer({ service, privateKey: testKeys(service).privateKey })
const clientOf = (issuer: Parameters<typeof serviceClient>[0]['issuer']) => {
  const client = serviceClient({
    ...{ baseUrl: settings.service.url, audience: 'settings', issuer, timeoutMs: 10_000 },
  })
  opened.push(client)
  return client
}
/** Delegations with an empty cache, so that rights are read again. */
const delegationsOf = (service: InternalParty) => createDelegations(clientOf(issuerOf(service)))
/** The data itsm receives with a person's request. */
const forwardedRequest = async (token: string, audience = 'itsm') => {
  const { principal } = (await settings.verify(token, place())).data(VerifiedToken)
  return { clientToken: await issuerOf('gateway').clientToken(audience, principal) }
}
const wanted = { run: 'run_1', expiresInSeconds: 3_600 }
const grantBy = async (token: string, permissions?: Permission[]) =>
  delegationsOf('itsm').delegate(await forwardedRequest(token), {
    ...wanted,
    ...(permissions && { permissions }),
  })
const keyWith = async (scopes: Permission[]) => {
  const api = await settings.as(ada.session, place())
  return (await api.post('/auth/tokens', { name: 'carried', scopes })).data(TokenCreated).token ?? ''
}
const act = ({ grant }: Grant, path: string) =>
  clientOf(delegationsOf('itsm').actingBy(grant)).get(path, z.unknown())

it('allows a service to act for a user with the rights and the identity of the user', async () => {
  const grant = await grantBy(ada.session)
  expect(await act(grant, '/auth/me')).toMatchObject({ user: { id: ada.userId } })
  await expect(act(grant, '/settings/roles')).resolves.toBeDefined()
})

it('events name the workflow that acts, or the API key without a workflow', async () => {
  const { grant } = await grantBy(await keyWith(['roles:write', 'audit:read']))
  const makeRole = async (name: string, workflow?: { id: string; name: string }) => {
    const client = clientOf(delegationsOf('itsm').actingBy(grant, workflow && { workflow }))
    await client.post('/settings/roles', { name, permissions: ['audit:read'] }, z.unknown())
    const [event] = await settings.service.sql`select actor from events
      where type = 'role.created' and data->'after'->>'name' = ${name}`
    return event?.actor
  }
  const workflow = { id: 'wf_1', name: 'Onboard' }
  expect(await makeRole('by-workflow', workflow)).toEqual({ ...workflow, type: 'workflow' })
  expect(await makeRole('by-key')).toMatchObject({ name: 'carried', type: 'api_token' })
})

describe('an operation that requires a step-up', () => {
  /** Error codes by operation for calls made with the grant. */
  const refusals = async ({ grant }: Grant, limits: CarriedLimits = {}) => {
    const client = clientOf(delegationsOf('itsm').actingBy(grant, limits))
    const operations = (await stepUpOperations(settings)).filter(({ path }) => !path.startsWith('/platform/'))
    expect(operations.length).toBeGreaterThan(20)
    const found = new Set<string>()
    for (const { method, path } of operations) {
      const { status, body } = await client.request({
        method,
        path,
        ...(method !== 'DELETE' && { body: {} }),
      })
      found.add(
        status < 400 ? 'done' : z.object({ error: z.object({ code: z.string() }) }).parse(body).error.code,
      )
    }
    return [...found]
  }

  it('is refused to a grant with the rights of a session, for every caller', async () => {
    const bySession = await grantBy(ada.session)
    expect(await refusals(bySession)).toEqual(['forbidden'])
    const key = await grantBy(await keyWith([...permissions]))
    expect(await refusals(bySession, { person: key.grant })).toEqual(['forbidden'])
    expect(await refusals(key, { person: bySession.grant })).toEqual(['forbidden'])
  })

  it('is allowed to a grant given by an API key within the scopes of the key', async () => {
    const { grant } = await grantBy(await keyWith(['secrets:write']))
    const client = clientOf(delegationsOf('itsm').actingBy(grant))
    const secret = { name: 'carried', value: 'v' }
    await expect(client.post('/secrets', secret, z.unknown())).resolves.toMatchObject({ name: 'carried' })
    await expect(client.post('/settings/roles', {}, z.unknown())).rejects.toMatchObject({
      code: 'insufficient_scope',
    })
  })
})

it('limits a call to its own permissions, without limiting other calls of the grant', async () => {
  const { grant } = await grantBy(ada.session)
  const limited = (permissions: Permission[]) =>
    clientOf(delegationsOf('itsm').actingBy(grant, { permissions })).get('/secrets', z.unknown())
  await expect(limited(['audit:read'])).rejects.toMatchObject({ code: 'insufficient_scope' })
  await expect(limited(['secrets:read'])).resolves.toBeDefined()
})

it('grants only the requested permissions', async () => {
  const grant = await grantBy(ada.session, ['secrets:read'])
  await expect(act(grant, '/secrets')).resolves.toBeDefined()
  await expect(act(grant, '/settings/users')).rejects.toMatchObject({ code: 'insufficient_scope' })
})

it('continues with the remaining rights when a role is removed, and is refused for a former member', async () => {
  const grace = await users.joined('grace@example.com', 'admin')
  const grant = await grantBy(grace.session)
  await expect(act(grant, '/settings/users')).resolves.toBeDefined()
  await users.patch(grace.userId, { role: 'viewer' })
  await expect(act(grant, '/secrets')).rejects.toMatchObject({ code: 'insufficient_scope' })
  await users.patch(grace.userId, { role: 'owner' })
  await expect(act(grant, '/settings/users')).resolves.toBeDefined()
  await users.remove(grace.userId)
  await expect(act(grant, '/settings/users')).rejects.toMatchObject({ code: 'workspace_forbidden' })
})

it('ends when the API key that requested it is revoked', async () => {
  const api = await settings.as(ada.session, place())
  const created = await api.post('/auth/tokens', { name: 'run', scopes: ['secrets:read'] })
  const { id, token } = created.data(TokenCreated)
  const grant = await grantBy(token ?? '')
  await expect(act(grant, '/secrets')).resolves.toBeDefined()
  await expect(act(grant, '/settings/users')).rejects.toMatchObject({ code: 'insufficient_scope' })
  await api.send('DELETE', `/auth/tokens/${id}`)
  await expect(act(grant, '/secrets')).rejects.toMatchObject({ code: 'invalid_token' })
})

it('is valid in another environment if the key allows that environment', async () => {
  const api = await settings.as(ada.session, place())
  const grantIn = async (token: string, environment: 'staging' | 'development') =>
    delegationsOf('itsm').delegate(await forwardedRequest(token), { ...wanted, environment })
  const secret = { name: 'staged', value: 'of staging', hosts: ['*'] }
  const staged = await settings.as(ada.session, { ...place(), environment: 'staging' })
  await staged.post('/secrets', secret)
  expect(await act(await grantIn(ada.session, 'staging'), '/secrets')).toMatchObject([{ name: 'staged' }])
  const environments = ['production', 'staging']
  const created = await api.post('/auth/tokens', { name: 'two', scopes: ['secrets:read'], environments })
  const { token } = created.data(TokenCreated)
  expect(await act(await grantIn(token ?? '', 'staging'), '/secrets')).toMatchObject([{ name: 'staged' }])
  await expect(grantIn(token ?? '', 'development')).rejects.toMatchObject({ code: 'environment_forbidden' })
})

describe('a carried right', () => {
  const verifier = createInternalVerifier({
    ...{ service: 'itsm', trustedKeys: { settings: testKeys('settings').publicKey } },
  })
  const principalOf = async ({ grant }: Grant, limits: CarriedLimits) => {
    const token = await delegationsOf('itsm').actingBy(grant, limits).serviceToken('itsm')
    const verified = await verifier.verify(token, { method: 'GET', path: '/' })
    if (verified.kind !== 'delegate') throw new Error('the token is no delegation')
    return verified.principal
  }
  const callerOf = ({ userId }: { userId: string }) => ({ userId, tokenId: 'ses_test' })
  const roleOf = async (name: string, permissions: Permission[]) => {
    const api = await settings.as(ada.session, place())
    await api.post('/settings/roles', { name, permissions })
    return name
  }
  let giver: Awaited<ReturnType<typeof users.joined>>
  let caller: Awaited<ReturnType<typeof users.joined>>
  let grant: Grant
  beforeAll(async () => {
    giver = await users.joined('giver@example.com', 'admin')
    caller = await users.joined('caller@example.com', await roleOf('reader', ['records:read', 'audit:read']))
    grant = await grantBy(giver.session, ['records:read', 'records:write'])
  })

  it('is limited by the current rights of each caller, and subject to their row rules', async () => {
    expect(await principalOf(grant, { callers: [callerOf(caller)] })).toMatchObject({
      userId: giver.userId,
      permissions: ['records:read'],
      callers: [{ userId: caller.userId, role: 'reader', email: 'caller@example.com' }],
    })
  })

  it('keeps the permissions of the giver when the callers narrow only the rows', async () => {
    const principal = await principalOf(grant, { callers: [callerOf(caller)], callerRights: 'rows' })
    expect(principal.permissions).toEqual(['records:read', 'records:write'])
    expect(principal.callers).toMatchObject([{ userId: caller.userId }])
  })

  it("identifies the user who exercises it, with the giver's permissions and the row rules of both", async () => {
    const { grant: person } = await grantBy(caller.session)
    expect(await principalOf(grant, { person })).toMatchObject({
      ...{ userId: caller.userId, role: 'reader', actor: { id: caller.userId, type: 'user' } },
      permissions: ['records:read', 'records:write'],
      callers: [{ userId: giver.userId, role: 'admin' }],
    })
  })

  it('lists each person once, and no caller when the giver exercises it', async () => {
    const { grant: person } = await grantBy(giver.session)
    const principal = await principalOf(grant, { person, callers: [callerOf(giver)] })
    expect(principal).toMatchObject({ userId: giver.userId, permissions: ['records:read', 'records:write'] })
    expect(principal.callers).toBeUndefined()
  })

  it('accepts only a person of this service, workspace and environment', async () => {
    const foreign = await delegationsOf('itsm').delegate(await forwardedRequest(caller.session), {
      ...{ ...wanted, environment: 'staging' },
    })
    await expect(principalOf(grant, { person: foreign.grant })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(principalOf(grant, { person: 'made up' })).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('uses the current role of each person, and ends with the membership of any of them', async () => {
    const leaver = await users.joined('leaver@example.com', 'admin')
    const { grant: person } = await grantBy(leaver.session)
    const { grant: leavers } = await grantBy(leaver.session, ['records:read'])
    await users.patch(leaver.userId, { role: 'viewer' })
    const limits = { callers: [callerOf(leaver)] }
    expect((await principalOf(grant, limits)).callers).toMatchObject([{ role: 'viewer' }])
    expect((await principalOf(grant, { person })).role).toBe('viewer')
    await users.remove(leaver.userId)
    for (const ended of [limits, { ...limits, callerRights: 'rows' as const }, { person }])
      await expect(principalOf(grant, ended)).rejects.toMatchObject({ code: 'workspace_forbidden' })
    await expect(
      principalOf({ grant: leavers, expiresAt: null }, { callers: [callerOf(caller)] }),
    ).rejects.toMatchObject({ code: 'workspace_forbidden' })
  })

  it('ends when the API key of a caller is revoked', async () => {
    const api = await settings.as(ada.session, place())
    const created = await api.post('/auth/tokens', { name: 'caller', scopes: ['records:read'] })
    const { id } = created.data(TokenCreated)
    const limits = { callers: [{ userId: ada.userId, tokenId: id }] }
    expect((await principalOf(grant, limits)).callers).toMatchObject([{ userId: ada.userId }])
    await api.send('DELETE', `/auth/tokens/${id}`)
    await expect(principalOf(grant, limits)).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

describe('a standing grant', () => {
  const standing = async (token: string) =>
    delegationsOf('itsm').delegate(await forwardedRequest(token), { run: 'wf_1.1', expiresInSeconds: null })

  it('has no expiry, and ends with the membership', async () => {
    const alan = await users.joined('alan@example.com', 'admin')
    const grant = await standing(alan.session)
    expect(grant.expiresAt).toBeNull()
    await expect(act(grant, '/settings/users')).resolves.toBeDefined()
    await users.remove(alan.userId)
    await expect(act(grant, '/settings/users')).rejects.toMatchObject({ code: 'workspace_forbidden' })
  })

  it('can be revoked only by the service it was granted to', async () => {
    const [kept, ended] = [await standing(ada.session), await standing(ada.session)]
    await expect(delegationsOf('dispatcher').revoke(ended.grant)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(act(ended, '/settings/users')).resolves.toBeDefined()
    await delegationsOf('itsm').revoke(ended.grant)
    await delegationsOf('itsm').revoke(ended.grant)
    await expect(act(ended, '/settings/users')).rejects.toMatchObject({ code: 'invalid_token' })
    await expect(act(kept, '/settings/users')).resolves.toBeDefined()
  })
})

it('can be passed on by the called service, for the length of a call and without more rights', async () => {
  const asked = await grantBy(ada.session, ['secrets:read'])
  const clientToken = await delegationsOf('itsm').actingBy(asked.grant).serviceToken('itsm')
  const onward = await delegationsOf('itsm').delegate({ clientToken }, wanted)
  expect(Date.parse(onward.expiresAt ?? '')).toBeLessThan(Date.parse(asked.expiresAt ?? '') - 3_000_000)
  await expect(act(onward, '/secrets')).resolves.toBeDefined()
  await expect(act(onward, '/settings/users')).rejects.toMatchObject({ code: 'insufficient_scope' })
})

describe('a grant given by an API key', () => {
  const standingBy = async (token: string) =>
    delegationsOf('itsm').delegate(await forwardedRequest(token), { run: 'wf_2.1', expiresInSeconds: null })
  const holding = async (...grants: Grant[]) => {
    const body = { grants: grants.map(({ grant }) => grant) }
    const client = clientOf(issuerOf('itsm'))
    return (await client.post('/internal/grants/holding', body, GrantValidity)).holding
  }
  const keyOf = async (more = {}) => {
    const api = await settings.as(ada.session, place())
    const body = { name: 'giver', scopes: ['secrets:read'], ...more }
    const { id, token } = (await api.post('/auth/tokens', body)).data(TokenCreated)
    return { id, token: token ?? '', api }
  }

  it('is valid only until the key is revoked', async () => {
    const { id, token, api } = await keyOf()
    const [byKey, bySession] = [await standingBy(token), await standingBy(ada.session)]
    expect(await holding(byKey, bySession)).toEqual([true, true])
    await api.send('DELETE', `/auth/tokens/${id}`)
    expect(await holding(byKey, bySession)).toEqual([false, true])
    expect(await holding({ grant: 'made up', expiresAt: null })).toEqual([false])
  })

  it('revokes the key once it has expired, so that services are notified', async () => {
    const expiresAt = new Date(Date.parse(settings.clock.now()) + 60_000).toISOString()
    const { id, token } = await keyOf({ expiresAt })
    const grant = await standingBy(token)
    settings.clock.advance(61_000)
    expect(await holding(grant)).toEqual([false])
    await waitFor(async () => {
      const [event] = await settings.service.sql`select data from events
        where type = 'token.revoked' and data->'after'->>'id' = ${id}`
      return event?.data.after.revocationReason === 'expired'
    })
    expect((await settings.verify(token, place())).error().code).toBe('token_expired')
  })
})

describe('a delegation is refused', () => {
  it('to a service that may not act for users', async () => {
    const asked = await forwardedRequest(ada.session, 'dispatcher')
    await expect(delegationsOf('dispatcher').delegate(asked, wanted)).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  it("for a token of a request to another service, for the service's own token, and without a token", async () => {
    const refused = { code: 'invalid_token' }
    const itsm = delegationsOf('itsm')
    await expect(
      itsm.delegate(await forwardedRequest(ada.session, 'settings'), wanted),
    ).rejects.toMatchObject(refused)
    const own = { clientToken: await issuerOf('itsm').serviceToken('itsm') }
    await expect(itsm.delegate(own, wanted)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(itsm.delegate({ clientToken: undefined }, wanted)).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  it('to another service that obtained the grant, and with an altered grant', async () => {
    const { grant } = await grantBy(ada.session)
    const asOther = clientOf(delegationsOf('dispatcher').actingBy(grant))
    await expect(asOther.get('/secrets', z.unknown())).rejects.toMatchObject({ code: 'forbidden' })
    const [head = '', , signature = ''] = grant.split('.')
    const forged = Buffer.from(JSON.stringify({ by: 'itsm' })).toString('base64url')
    const changed = { grant: [head, forged, signature].join('.'), expiresAt: '' }
    await expect(act(changed, '/secrets')).rejects.toMatchObject({ code: 'invalid_token' })
    const bearer = clientOf({ serviceToken: async () => grant })
    await expect(bearer.get('/secrets', z.unknown())).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('for internal routes', async () => {
    const grant = await grantBy(ada.session)
    await expect(act(grant, '/internal/routes')).rejects.toMatchObject({ code: 'forbidden' })
  })
})
