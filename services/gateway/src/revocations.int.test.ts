import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { ApiError, natsNames, type PlatformEvent } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import { ada, asAda, call, defaultVerify, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
let link: NatsLink
let prefix: string

beforeEach(async () => {
  prefix = uniquePrefix()
  platform = await startPlatform({ natsUrl: testNatsUrl(), natsPrefix: prefix })
  link = connectNats({
    url: testNatsUrl(),
    name: 'test',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
})
afterEach(async () => {
  await Promise.all([platform.stop(), link.close()])
})

const get = () => call(`${platform.url}/api/v1/itsm/incidents`, { headers: asAda })

async function publish(type: string, event: Partial<PlatformEvent>) {
  const full: PlatformEvent = {
    id: 'evt_1',
    type,
    workspaceId: 'ws_other',
    environment: 'production',
    createdAt: '2026-01-01T00:00:00.000Z',
    actor: ada.actor,
    resource: { type: 'any', id: 'any', displayName: 'any' },
    data: { before: null, after: null, changes: [] },
    version: 1,
    requestId: null,
    causationId: null,
    source: null,
    ...event,
  }
  const connection = await link.ready()
  connection.publish(natsNames(prefix).eventSubject(full), JSON.stringify(full))
  await connection.flush()
}

/** Whether the event made the gateway verify the token again; the gateway's clock stands still meanwhile. */
async function isAskedAgainAfter(type: string, event: Partial<PlatformEvent>) {
  await get()
  const asked = platform.questions.length
  await waitFor(async () => {
    await publish(type, event)
    await get()
    return platform.questions.length > asked
  })
}

const resource = (type: string, id: string) => ({ resource: { type, id, displayName: id } })

test.each([
  ['token.revoked', 'of the token', resource('token', ada.tokenId)],
  [
    'session.ended',
    'of one of the person’s sessions',
    { ...resource('session', 'ses_1'), data: { before: { userId: ada.userId }, after: null, changes: [] } },
  ],
  ['user.deactivated', 'of the person', resource('user', ada.userId)],
  ['role.updated', 'in the workspace', { ...resource('role', 'rol_1'), workspaceId: 'ws_acme' }],
])('%s %s makes the gateway verify the token again immediately', async (type, _what, event) => {
  await isAskedAgainAfter(type, event)
})

test('a revoked token is rejected before its cache entry expires', async () => {
  expect((await get()).status).toBe(200)
  platform.verify = () => {
    throw new ApiError('invalid_token', 'The token was revoked.')
  }
  await waitFor(async () => {
    await publish('token.revoked', resource('token', ada.tokenId))
    return (await get()).code === 'invalid_token'
  })
})

test('events of others and invalid messages change nothing', async () => {
  const other = { ...ada, userId: 'usr_bob', tokenId: 'ses_bob' }
  platform.verify = (question) => (question.token === 'good-bob' ? other : defaultVerify(question))
  const asBob = { ...asAda, Authorization: 'Bearer good-bob' }
  const getAsBob = () => call(`${platform.url}/api/v1/itsm/incidents`, { headers: asBob })
  const askedFor = (token: string) => platform.questions.filter((question) => question.token === token).length
  /** A revocation of a second user is published last: once it has taken effect, the earlier ones have been handled. */
  const dealtWith = async () => {
    await getAsBob()
    const asked = askedFor('good-bob')
    await publish('token.revoked', resource('token', 'ses_bob'))
    await waitFor(async () => {
      await getAsBob()
      return askedFor('good-bob') > asked
    })
  }
  await isAskedAgainAfter('token.revoked', resource('token', ada.tokenId))
  await dealtWith()
  await get()
  const asked = askedFor('good')
  expect(asked).toBeGreaterThan(0)
  await publish('token.revoked', resource('token', 'tok_other'))
  await publish('role.updated', { ...resource('role', 'rol_1'), workspaceId: 'ws_other' })
  const connection = await link.ready()
  connection.publish(`${prefix}.evt.ws_acme.production.token.revoked`, 'not JSON')
  await dealtWith()
  await get()
  expect(askedFor('good')).toBe(asked)
})

test('a revoked right stops the next event of an open stream, even within the second of its confirmation', async () => {
  const held = new Promise<ServerResponse>((resolve) => {
    const verify = platform.settings.handler
    platform.settings.handler = (request, response) => {
      if (request.url?.startsWith('/internal/')) verify(request, response)
      else resolve(response)
    }
  })
  const stream = fetch(`${platform.url}/api/v1/audit/export`, { headers: asAda })
  const upstream = await held
  upstream.write('before\n')
  const reader = (await stream).body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toBe('before\n')
  platform.verify = () => ({ ...ada, permissions: [] })
  const left = once(upstream, 'close')
  await isAskedAgainAfter('token.revoked', resource('token', ada.tokenId))
  upstream.write('after\n')
  await left
  await expect(reader?.read()).rejects.toThrow()
})
