import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { newId, ResolvedSecrets, Secret, SecretDetail, UsedSecret, VerifiedToken } from '@opsplane/contracts'
import { createInternalIssuer, generateServiceKeys } from '@opsplane/http'
import { connect, type Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { type ApiClient, createApiClient, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { createSecretUsage } from './usage.js'

let settings: Settings
let ada: Owner
let api: ApiClient

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(() => settings?.stop())

const resolution = (...names: string[]) => ({
  workspaceId: ada.workspaceId,
  environment: 'production',
  names,
  host: 'api.example.com',
  userId: ada.userId,
  consumer: 'webhook/wh_1',
})
const resolve = (client: Pick<ApiClient, 'post'>, ...names: string[]) =>
  client.post('/internal/secrets/resolve', resolution(...names))
const shown = async (name: string) => (await api.get(`/secrets/${name}`)).data(SecretDetail.strict())

describe('secret values are returned only to services', () => {
  beforeAll(() => api.post('/secrets', { name: 'guarded', value: 'for services', hosts: ['*'] }))

  it('not to a user with any permissions', async () => {
    expect((await resolve(api, 'guarded')).error()).toMatchObject({ code: 'forbidden' })
  })

  it('not to a user session, and not without a token', async () => {
    const withToken = (headers: Record<string, string>) =>
      createApiClient(settings.service.url, async () => headers)
    const session = withToken({ authorization: `Bearer ${ada.session}` })
    expect((await resolve(session, 'guarded')).error()).toMatchObject({ code: 'invalid_token' })
    expect((await resolve(withToken({}), 'guarded')).error()).toMatchObject({ code: 'unauthenticated' })
  })

  it.each(['gateway', 'settings', 'dispatcher'])(
    'not to a caller that signs as %s with another key',
    async (service) => {
      const issuer = createInternalIssuer({ service, privateKey: generateServiceKeys().privateKey })
      const forger = createApiClient(settings.service.url, async (call) => ({
        authorization: `Bearer ${await issuer.serviceToken('settings', call)}`,
      }))
      const refused = await resolve(forger, 'guarded')
      expect(refused.error()).toMatchObject({ code: 'invalid_token' })
      expect(refused.text).not.toContain('for services')
    },
  )

  it('to a service with the signature of its key', async () => {
    expect((await resolve(settings.internal, 'guarded')).data(ResolvedSecrets).values).toEqual({
      guarded: 'for services',
    })
  })
})

describe('uses of a secret', () => {
  it('are shown with time, service and count', async () => {
    const created = (await api.post('/secrets', { name: 'used', value: 'x', hosts: ['*'] })).data(
      Secret.strict(),
    )
    const never = { ...created, lastUsedAt: null, lastUsedBy: null, useCount: 0 }
    expect(await shown('used')).toEqual({ ...never, uses: [] })
    const usedAt = settings.clock.now()
    await resolve(settings.internal, 'used', 'missing')
    const once = { ...created, lastUsedAt: usedAt, lastUsedBy: 'dispatcher', useCount: 1 }
    const use = {
      consumer: 'webhook/wh_1',
      userId: ada.userId,
      host: 'api.example.com',
      service: 'dispatcher',
    }
    expect(await shown('used')).toEqual({ ...once, uses: [{ ...use, lastUsedAt: usedAt, useCount: 1 }] })
    expect((await api.get('/secrets?limit=200')).page(UsedSecret.strict()).items).toContainEqual(once)
    expect((await api.get('/secrets/missing')).error().code).toBe('not_found')
  })

  it('are deleted with the secret, and never written to the event log', async () => {
    await api.post('/secrets', { name: 'gone', value: 'x', hosts: ['*'] })
    const { id } = await shown('gone')
    await resolve(settings.internal, 'gone')
    expect((await api.send('DELETE', '/secrets/gone')).status).toBe(204)
    const { sql } = settings.service
    expect(await sql`select 1 from secret_usage where secret_id = ${id}`).toHaveLength(0)
    const events = await sql<
      { type: string }[]
    >`select type from events where stream_id = ${id} order by position`
    expect(events.map(({ type }) => type)).toEqual(['secret.created', 'secret.deleted'])
  })

  it('require the permission to read secrets', async () => {
    const { principal } = (await settings.verify(ada.session, { workspace: 'acme' })).data(VerifiedToken)
    const unread = settings.service.as({ ...principal, permissions: ['secrets:write'] })
    expect((await unread.get('/secrets/used')).error().code).toBe('insufficient_scope')
  })
})

describe('the use count of a secret', () => {
  let database: Database
  let now: string
  const use = { consumer: 'webhook/wh_1', userId: 'usr_1', host: 'a.example.com' }
  const log = createLogger({ service: 'test', level: 'silent' })
  const start = (over: Database = database) =>
    createSecretUsage({ db: over.db, log, nowMs: () => Date.parse(now) })
  const at = (time: string) => {
    now = `2026-03-05T${time}.000Z`
    return now
  }

  beforeAll(() => {
    database = connect(settings.service.adminUrl, { schema: 'settings', max: 2 })
  })
  beforeEach(() => void at('10:00:00'))
  afterAll(() => database?.close())

  it('is the sum of all replicas, with the latest use, in any order of arrival', async () => {
    const id = newId('secret')
    const replicas = [start(), start()] as const
    await replicas[0].note([id], { ...use, service: 'dispatcher', now: at('10:00:30') })
    await replicas[1].note([id], { ...use, service: 'itsm', now: at('10:00:10') })
    for (const replica of replicas)
      await replica.note([id], { ...use, service: 'dispatcher', now: at('10:00:40') })
    for (const replica of replicas) await replica.close()
    expect((await start().of([id])).get(id)).toEqual({
      useCount: 4,
      lastUsedAt: at('10:00:40'),
      lastUsedBy: 'dispatcher',
    })
  })

  it('is written once a minute, with all uses since then', async () => {
    const id = newId('secret')
    // The periodic check could also write due uses, shortly before the use that is expected to do so.
    const options = { db: database.db, log, nowMs: () => Date.parse(now), lookEveryMs: 3_600_000 }
    const usage = createSecretUsage(options)
    const usedAt = (time: string) => usage.note([id], { ...use, service: 'dispatcher', now: at(time) })
    const written = async () => (await usage.of([id])).get(id)
    await usedAt('10:00:00')
    const first = await written()
    expect(first).toMatchObject({ useCount: 1, lastUsedAt: now })
    for (const second of [10, 20, 30, 40]) await usedAt(`10:00:${second}`)
    expect(await written()).toEqual(first)
    await usedAt('10:01:00')
    expect(await written()).toMatchObject({ useCount: 6, lastUsedAt: now })
    await usage.close()
  })

  it('is written after a minute, even without further uses', async () => {
    const id = newId('secret')
    const options = { db: database.db, log, nowMs: () => Date.parse(now), lookEveryMs: 5 }
    const usage = createSecretUsage(options)
    const count = async () => (await usage.of([id])).get(id)?.useCount
    await usage.note([id], { ...use, service: 'dispatcher', now })
    await usage.note([id], { ...use, service: 'dispatcher', now: at('10:00:59') })
    expect(await count()).toBe(1)
    at('10:01:00')
    await waitFor(async () => (await count()) === 2)
    await usage.close()
  })

  it('is not lost during an outage of Postgres', async () => {
    const id = newId('secret')
    const away = connect('postgres://u:p@127.0.0.1:1/x', { schema: 'settings', max: 1 })
    let target = away.db
    const usage = createSecretUsage({
      get db() {
        return target
      },
      log,
      nowMs: () => Date.parse(now),
    })
    await usage.note([id], { ...use, service: 'dispatcher', now })
    target = database.db
    await usage.note([id], { ...use, service: 'dispatcher', now: at('10:01:00') })
    await usage.close()
    await away.close()
    expect((await usage.of([id])).get(id)).toMatchObject({ useCount: 2, lastUsedAt: now })
  })
})
