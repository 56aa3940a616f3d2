import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SignJWT } from 'jose'
import { z } from 'zod'
import { createInternalVerifier, defineRoute } from '../index.js'
import {
  gatewayToken,
  issuerFor,
  startTestApp,
  type TestApp,
  trustedKeys,
  user,
} from '../server/test-app.fixture.js'

const Caller = z.object({ actorId: z.string(), workspaceId: z.string() })
const route = (
  operationId: string,
  path: string,
  scope: 'itsm:write' | 'public' | 'authenticated' | 'service',
  workspace?: 'none',
) =>
  defineRoute({
    operationId,
    method: 'post',
    path,
    summary: 'Who calls',
    tag: 'test',
    scope,
    ...(workspace && { workspace }),
    ...(scope === 'service' && { callers: ['itsm'] }),
    body: z.object({ must: z.string() }),
    response: Caller,
    handler: async ({ meta }) => ({ actorId: meta.actor.id, workspaceId: meta.tenant.workspaceId }),
  })

let app: TestApp
beforeAll(async () => {
  app = await startTestApp([
    route('scoped', '/scoped', 'itsm:write'),
    route('open', '/open', 'public'),
    route('anyone', '/anyone', 'authenticated', 'none'),
    route('internal', '/internal/thing', 'service'),
  ])
})
afterAll(() => app.close())

const internalCall = { method: 'POST', path: '/internal/thing' }
const body = { must: 'x' }
const post = async (path: string, token: string | null, sent: unknown = body) => {
  const answer = await app.call('POST', path, { token, body: sent })
  const { error, data } = z
    .object({ error: z.object({ code: z.string() }).optional(), data: Caller.optional() })
    .parse(answer.json)
  return { status: answer.status, code: error?.code, data, challenge: answer.headers['www-authenticate'] }
}

describe('tokens', () => {
  test('a missing token is rejected with 401 and a challenge without an error', async () => {
    expect(await post('/scoped', null)).toMatchObject({
      status: 401,
      code: 'unauthenticated',
      challenge: 'Bearer',
    })
  })

  test.each(['garbage', 'a.b.c'])(
    'the malformed token %s is rejected with 401 invalid_token',
    async (token) => {
      expect(await post('/scoped', token)).toMatchObject({
        status: 401,
        code: 'invalid_token',
        challenge: 'Bearer error="invalid_token"',
      })
    },
  )

  test('a token for another service is rejected', async () => {
    const token = await issuerFor('gateway').clientToken('elsewhere', user)
    expect(await post('/scoped', token)).toMatchObject({ code: 'invalid_token' })
  })

  test('a client token that was not issued by the gateway is rejected', async () => {
    const token = await issuerFor('itsm').clientToken('sut', user)
    expect(await post('/scoped', token)).toMatchObject({ code: 'invalid_token' })
  })

  test('a token signed with an unknown key is rejected, also in the name of the gateway', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const forged = (kid: string) =>
      new SignJWT({ principal: user })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'client+jwt', kid })
        .setIssuer('gateway')
        .setAudience('sut')
        .setExpirationTime('60s')
        .sign(privateKey)
    expect(await post('/scoped', await forged('gateway'))).toMatchObject({ code: 'invalid_token' })
    expect(await post('/scoped', await forged('stranger'))).toMatchObject({ code: 'invalid_token' })
  })

  test('an unsigned token is rejected', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { iss: 'gateway', aud: 'sut', exp: Math.floor(Date.now() / 1000) + 60, principal: user }
    const token = `${part({ alg: 'none', typ: 'client+jwt', kid: 'gateway' })}.${part(claims)}.`
    expect(await post('/scoped', token)).toMatchObject({ code: 'invalid_token' })
  })

  test('an expired token is rejected, even if the verifier has cached it', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const verifier = createInternalVerifier({
      service: 'sut',
      trustedKeys: { gateway: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') },
    })
    const expiring = (at: number) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'EdDSA', typ: 'client+jwt', kid: 'gateway' })
        .setIssuer('gateway')
        .setAudience('sut')
        .setExpirationTime(at)
        .sign(privateKey)
    const now = Math.floor(Date.now() / 1000)
    const call = { method: 'POST', path: '/scoped' }
    await expect(verifier.verify(await expiring(now - 1), call)).rejects.toMatchObject({
      code: 'token_expired',
    })
    const valid = await expiring(now + 60)
    const first = await verifier.verify(valid, call)
    expect(await verifier.verify(valid, call)).toBe(first)
  })

  test('are reused by the issuer for the same caller and service only', async () => {
    const issuer = issuerFor('gateway')
    const token = await issuer.clientToken('sut', user)
    expect(await issuer.clientToken('sut', { ...user })).toBe(token)
    expect(await issuer.clientToken('sut', { ...user, permissions: [] })).not.toBe(token)
    expect(await issuer.clientToken('other', user)).not.toBe(token)
    expect(await issuer.clientToken('sut')).not.toBe(token)
    expect(await issuer.serviceToken('sut')).not.toBe(await issuer.clientToken('sut'))
  })
})

describe('access', () => {
  test('the scope is checked before the body is validated', async () => {
    const token = await gatewayToken({ ...user, permissions: ['itsm:read'] })
    expect(await post('/scoped', token, { wrong: true })).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      challenge: 'Bearer error="insufficient_scope", scope="itsm:write"',
    })
    expect(await post('/scoped', await gatewayToken(user), { wrong: true })).toMatchObject({ status: 422 })
  })

  test('a workspace is required unless the route declares none', async () => {
    const { workspaceId: _, workspaceSlug: __, environment: ___, ...outside } = user
    const token = await gatewayToken(outside)
    expect(await post('/scoped', token)).toMatchObject({ status: 400, code: 'workspace_required' })
    expect(await post('/anyone', token)).toMatchObject({
      data: { actorId: 'usr_1', workspaceId: 'platform' },
    })
  })

  test('a gateway token without a user opens public routes only', async () => {
    const token = await gatewayToken()
    expect(await post('/open', token)).toMatchObject({
      data: { actorId: 'anonymous', workspaceId: 'platform' },
    })
    expect(await post('/anyone', token)).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect(await post('/scoped', token)).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test('a public route also requires a token of the gateway', async () => {
    expect(await post('/open', null)).toMatchObject({ status: 401 })
  })

  test('internal routes accept only the services they name', async () => {
    const refused = { status: 403, code: 'forbidden' }
    expect(await post('/internal/thing', await gatewayToken(user))).toMatchObject(refused)
    expect(await post('/internal/thing', await gatewayToken())).toMatchObject(refused)
    const own = await issuerFor('gateway').serviceToken('sut', internalCall)
    expect(await post('/internal/thing', own)).toMatchObject(refused)
    const token = await issuerFor('itsm').serviceToken('sut', internalCall)
    expect(await post('/internal/thing', token)).toMatchObject({ data: { actorId: 'system' } })
  })

  test('the identity of a service, including the gateway, opens internal routes only', async () => {
    for (const service of ['itsm', 'gateway'] as const) {
      for (const path of ['/scoped', '/anyone', '/open']) {
        const token = await issuerFor(service).serviceToken('sut', { method: 'POST', path })
        expect(await post(path, token)).toMatchObject({ status: 401, code: 'unauthenticated' })
      }
    }
  })

  test('a call that changes something requires a token for its method and path, which is valid once', async () => {
    const issuer = issuerFor('itsm')
    const tokens = {
      forReading: await issuer.serviceToken('sut'),
      ofAnotherPath: await issuer.serviceToken('sut', { ...internalCall, path: '/internal/thing?more=1' }),
      ofAnotherMethod: await issuer.serviceToken('sut', { ...internalCall, method: 'PUT' }),
    }
    for (const token of Object.values(tokens))
      expect(await post('/internal/thing', token)).toMatchObject({ status: 401, code: 'invalid_token' })
    const token = await issuer.serviceToken('sut', internalCall)
    expect(await post('/internal/thing', token)).toMatchObject({ status: 200 })
    expect(await post('/internal/thing', token)).toMatchObject({ status: 401, code: 'invalid_token' })
  })

  test('a verifier rejects an invalid trusted key at creation', () => {
    expect(() =>
      createInternalVerifier({ service: 'sut', trustedKeys: { ...trustedKeys, x: 'AAAA' } }),
    ).toThrow()
  })
})
