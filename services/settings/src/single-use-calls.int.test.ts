import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ErrorEnvelope, Grant, type InternalParty, VerifiedToken } from '@opsplane/contracts'
import { createInternalIssuer } from '@opsplane/http'
import type { RunningService } from '@opsplane/runtime'
import { testKeys } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from './settings.fixture.js'

let settings: Settings
let replica: RunningService
let ada: Owner
beforeAll(async () => {
  settings = await startSettings({}, { actsForUsers: ['itsm'] })
  replica = await settings.service.replica({ clock: settings.clock, actsForUsers: ['itsm'] })
  ada = await settings.owner('acme')
})
afterAll(async () => {
  await replica?.stop()
  await settings?.stop()
})

const issuerOf = (service: InternalParty) =>
  createInternalIssuer({ service, privateKey: testKeys(service).privateKey })
const tokenFor = (caller: InternalParty, path: string) =>
  issuerOf(caller).serviceToken('settings', { method: 'POST', path })

async function send(url: string, path: string, token: string, body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  const code = answer.ok ? 'taken' : ErrorEnvelope.parse(JSON.parse(text)).error.code
  return { code, data: answer.ok && text !== '' ? JSON.parse(text).data : undefined }
}

const clientToken = async (audience: InternalParty = 'itsm') => {
  const { principal } = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken)
  return issuerOf('gateway').clientToken(audience, principal)
}
const standingGrant = async () => {
  const path = '/internal/grants'
  const body = { clientToken: await clientToken(), run: 'wf_1.1', expiresInSeconds: null }
  return Grant.parse((await send(settings.service.url, path, await tokenFor('itsm', path), body)).data).grant
}
const spend = { key: 'default tok_1', spent: 10, seconds: 0, burst: 100, perSecond: 1e-6 }
const ask = { name: 'openPolls', holder: 'ws_1', wanted: 5, most: 10, ms: 30_000, windowed: false }

it.each<[string, InternalParty, () => Promise<object>]>([
  [
    '/internal/secrets/resolve',
    'dispatcher',
    async () => ({
      ...{ workspaceId: ada.workspaceId, environment: 'production', names: [], host: 'a.example.com' },
      ...{ userId: ada.userId, consumer: 'webhook/wh_1' },
    }),
  ],
  [
    '/internal/secrets/targets',
    'dispatcher',
    async () => ({
      ...{ clientToken: await clientToken('dispatcher'), environment: 'production' },
      ...{ targets: [], admit: true },
    }),
  ],
  [
    '/internal/grants',
    'itsm',
    async () => ({ clientToken: await clientToken(), run: 'run_1', expiresInSeconds: 60 }),
  ],
  ['/internal/delegations', 'itsm', async () => ({ grant: await standingGrant(), audience: 'settings' })],
  ['/internal/grants/revoke', 'itsm', async () => ({ grant: await standingGrant() })],
  ['/internal/budgets/lease', 'gateway', async () => ({ owner: 'gateway:1', asks: [ask] })],
  ['/internal/rates/spend', 'gateway', async () => ({ spends: [spend] })],
])('a call of %s is accepted by only one replica', async (path, caller, bodyOf) => {
  const body = await bodyOf()
  const token = await tokenFor(caller, path)
  expect((await send(settings.service.url, path, token, body)).code).toBe('taken')
  expect((await send(replica.url, path, token, body)).code).toBe('invalid_token')
  expect((await send(replica.url, path, await tokenFor(caller, path), body)).code).toBe('taken')
})

it('the record of a used call is deleted after its token has expired', async () => {
  await settings.service.sql`update taken_calls set kept_until = now() - interval '1 second'`
  await standingGrant()
  expect(await settings.service.sql`select 1 from taken_calls`).toHaveLength(1)
})
