import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ResolvedSecrets, Secret, UsedSecret } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { type ApiClient, type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let recorder: EventRecorder
let ada: Owner
let api: ApiClient

beforeAll(async () => {
  settings = await startSettings()
  recorder = await recordEvents(settings.service.natsPrefix)
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(async () => {
  await recorder?.stop()
  await settings?.stop()
})

const store = (name: string, value: string, client = api, headers = {}) =>
  client.post('/secrets', { name, value, hosts: ['*'] }, headers)
const put = (name: string, value: string, headers = {}) =>
  api.send('PUT', `/secrets/${name}`, { body: { value }, headers })
const resolve = async (names: string[], environment = 'production', workspaceId = ada.workspaceId) => {
  const use = { host: 'api.example.com', userId: ada.userId, consumer: 'webhook/wh_1' }
  const body = { workspaceId, environment, names, ...use }
  return (await settings.internal.post('/internal/secrets/resolve', body)).data(ResolvedSecrets).values
}

describe('secrets', () => {
  it('are stored, rotated, resolved and deleted', async () => {
    const created = (await store('stripe', 'sk_live_first')).data(Secret.strict())
    expect(created).toMatchObject({ name: 'stripe', version: 1 })
    expect(await resolve(['stripe', 'missing'])).toEqual({ stripe: 'sk_live_first' })
    expect((await put('stripe', 'sk_live_second')).data(Secret.strict()).version).toBe(2)
    expect(await resolve(['stripe'])).toEqual({ stripe: 'sk_live_second' })
    expect((await store('stripe', 'other')).error().code).toBe('conflict')
    expect((await put('absent', 'x')).error().code).toBe('not_found')
    expect((await put('stripe', 'x', { 'if-match': '"1"' })).error().code).toBe('precondition_failed')
    expect((await api.send('DELETE', '/secrets/stripe')).status).toBe(204)
    expect(await resolve(['stripe'])).toEqual({})
    expect((await api.send('DELETE', '/secrets/stripe')).error().code).toBe('not_found')
    expect((await store('stripe', 'sk_live_third')).data(Secret).version).toBe(1)
  })

  it('are listed by name, page by page, without values', async () => {
    for (const name of ['zeta', 'alpha', 'beta']) await store(name, 'a value')
    const first = (await api.get('/secrets?limit=2')).page(UsedSecret.strict())
    const rest = (await api.get(`/secrets?limit=200&after=${first.pagination.nextCursor}`)).page(
      UsedSecret.strict(),
    )
    const names = [...first.items, ...rest.items].map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['alpha', 'beta', 'zeta']))
    expect(names).toEqual([...names].sort())
  })

  it('are separate in each environment', async () => {
    const staging = await settings.as(ada.session, { workspace: 'acme', environment: 'staging' })
    await store('shared_name', 'production value')
    await store('shared_name', 'staging value', staging)
    expect(await resolve(['shared_name'])).toEqual({ shared_name: 'production value' })
    expect(await resolve(['shared_name'], 'staging')).toEqual({ shared_name: 'staging value' })
  })

  it('retain one value per version under concurrent rotations', async () => {
    await store('contested', 'start')
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_, index) => put('contested', `value ${index}`)),
    )
    const won = replies.flatMap((reply, index) => (reply.status === 200 ? [index] : []))
    for (const reply of replies) if (reply.status !== 200) expect(reply.error().code).toBe('version_conflict')
    expect(won.length).toBeGreaterThan(0)
    const last = replies.reduce(
      (best, reply, index) => {
        if (reply.status !== 200) return best
        const { version } = reply.data(Secret)
        return version > best.version ? { version, index } : best
      },
      { version: 0, index: -1 },
    )
    expect(last.version).toBe(won.length + 1)
    expect(await resolve(['contested'])).toEqual({ contested: `value ${last.index}` })
  })

  it('cannot be decrypted after their sealed text is moved to another secret', async () => {
    await store('moved_from', 'the value')
    await store('moved_to', 'harmless')
    await settings.service.sql`
      update secrets set state = jsonb_set(state::jsonb, '{sealedValue}',
        (select state::jsonb->'sealedValue' from secrets where name = 'moved_from' and workspace_id = ${ada.workspaceId}))
      where name = 'moved_to'`
    const use = { host: 'api.example.com', userId: ada.userId, consumer: 'webhook/wh_1' }
    const body = { workspaceId: ada.workspaceId, environment: 'production', names: ['moved_to'], ...use }
    expect((await settings.internal.post('/internal/secrets/resolve', body)).error().code).toBe(
      'internal_error',
    )
    await settings.service.sql`delete from secrets where name = 'moved_to'`
  })
})

describe('stored data', () => {
  it('contains no secret, key, session or password in any row or event', async () => {
    const value = 'plaintext-that-must-not-be-kept'
    await store('kept', value, api, { 'idempotency-key': 'store-kept' })
    await put('kept', `${value}-rotated`, { 'idempotency-key': 'rotate-kept' })
    const issued = await api.post(
      '/auth/tokens',
      { name: 'Kept', scopes: ['itsm:read'] },
      { 'idempotency-key': 'make-kept' },
    )
    const key = /ops_key_[0-9A-Za-z_]+/.exec(issued.text.replace(/"prefix":"[^"]+"/, ''))?.[0] ?? ''
    expect(await resolve(['kept'])).toEqual({ kept: `${value}-rotated` })
    await waitFor(async () => (await unpublished()) === 0)

    const { sql } = settings.service
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'settings'`
    expect(tables.map(({ name }) => name)).toContain('idempotency_keys')
    const kept: string[] = [JSON.stringify(recorder.published)]
    for (const { name } of tables)
      kept.push(JSON.stringify(await sql`select to_jsonb(t) from ${sql(name)} t`))
    const dump = kept.join('\n')

    expect(dump).toContain('"kept"')
    expect(key).toHaveLength(73)
    // A plain hash of the request would allow guessing a weak secret from a dump.
    const request = JSON.stringify({ name: 'kept', value })
    for (const text of [request, `{}\0${request}`, value]) expect(dump.includes(sha256Hex(text))).toBe(false)
    for (const plaintext of [value, password, key.slice(-38), ada.session.slice(-38)]) {
      for (const form of [
        plaintext,
        Buffer.from(plaintext).toString('base64').replace(/=+$/, ''),
        Buffer.from(plaintext).toString('hex'),
      ]) {
        expect(dump.includes(form)).toBe(false)
      }
    }
  })

  const unpublished = async () => {
    const [row] = await settings.service.sql<{ left: number }[]>`
      select count(*)::int as left from outbox`
    return row?.left
  }
})
