import { randomBytes, randomUUID } from 'node:crypto'
import { relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { backendNames, type TokenCreated, type UsedSecret, type Webhook } from '@opsplane/contracts'
import { masterKeyId } from '@opsplane/runtime'
import { isLongTier, type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { request } from 'undici'
import { createCliRunner } from './cli.js'
import { createPlaintextSearch, searchFiles, searchRows } from './plaintext-search.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let status = 200
/** All plaintexts that must not be found, by name. */
const plaintexts: Record<string, string> = {}
const newMasterKey = randomBytes(32).toString('base64')

/** Creates a plaintext with characters that JSON and URLs encode differently. */
function plaintext(name: string, form = (random: string) => `pa"ss\\w+/${random}`): string {
  const value = form(randomBytes(18).toString('base64url'))
  plaintexts[name] = value
  return value
}
const plain = (random: string) => random

beforeAll(async () => {
  // Replicas that already have the new key, while the old one is still the present one.
  cluster = await startTestCluster({
    // The other services handle fewer secrets: their logs are searched in the long tier.
    services: isLongTier() ? backendNames : ['itsm', 'dispatcher'],
    extra: { OPSPLANE_PREVIOUS_MASTER_KEYS: newMasterKey, LOG_LEVEL: 'trace' },
  })
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    // An endpoint that echoes everything it receives in several encodings.
    respond: ({ headers, rawBody }) => {
      const received = JSON.stringify(headers)
      const echo = {
        headers,
        received,
        basic: Buffer.from(`user:${headers['x-custom']}`).toString('base64'),
        hex: Buffer.from(received).toString('hex'),
        link: `/?key=${encodeURIComponent(String(headers['x-custom']))}`,
        body: rawBody.toString(),
      }
      return { status, headers: { 'x-echo': String(headers['x-custom']) }, body: JSON.stringify(echo) }
    },
  })
})
afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
})

/** Sends the request twice with the same key, so that the stored response is in the dump. */
async function twice<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown): Promise<T> {
  const headers = { 'idempotency-key': randomUUID() }
  const first = await api<{ data: T }>(method, path, { body, headers })
  const again = await api<{ data: T }>(method, path, { body, headers })
  expect([first.status < 300, again.headers['idempotency-replayed']]).toEqual([true, 'true'])
  return first.body.data
}
/** The part of a key or session token that is never shown. */
const secretPart = (token: string | null) => token?.slice(-38) ?? ''

const delivered = async (path: string, count: number) =>
  waitFor(() => receiver.received().filter((received) => received.path === path).length >= count, {})

test('creates, uses, changes and replays secrets, webhooks, keys and sessions', async () => {
  await twice('POST', '/secrets', { name: 'custom', value: plaintext('secret'), hosts: ['*'] })
  await twice('POST', '/secrets', {
    name: 'lines',
    value: `${plaintext('secret with lines')}\n\u2028line`,
    hosts: ['*'],
  })
  const settings = (path: string, secret: string, header: string, literal: string) => ({
    url: `${receiver.url}/${path}`,
    events: ['incident.created'],
    retries: 0,
    secret,
    headers: {
      'X-Custom': 'Token {{secrets.custom}}',
      'X-Api-Key': header,
      Authorization: `Bearer ${literal}`,
    },
  })
  const webhook = await twice<Webhook>('POST', '/webhooks', {
    name: 'dumped webhook',
    ...settings('ok', plaintext('signing secret', plain), plaintext('header'), plaintext('bearer', plain)),
  })
  const broken = {
    ...settings(
      'lines',
      plaintext('second signing secret', plain),
      plaintext('second header'),
      'x'.repeat(20),
    ),
    headers: { 'X-Lines': '{{secrets.lines}}' },
  }
  await twice('POST', '/webhooks', { name: 'cannot be sent', ...broken })
  await api('POST', '/itsm/incidents', { body: { title: 'first' } })
  await delivered('/ok', 1)
  expect(receiver.received()[0]?.headers).toMatchObject({
    'x-custom': `Token ${plaintexts.secret}`,
    'x-api-key': plaintexts.header,
  })

  await twice('PUT', '/secrets/custom', { value: plaintext('rotated secret') })
  const rotate = `/webhooks/${webhook.id}/secrets/rotate`
  await twice('POST', rotate, { secret: plaintext('rotated signing secret', plain) })
  plaintexts['made signing secret'] = (await twice<{ secret: string }>('POST', rotate, {})).secret
  await twice('PATCH', `/webhooks/${webhook.id}`, {
    headers: { 'X-Custom': 'Token {{secrets.custom}}', Cookie: plaintext('changed header') },
  })
  await api('POST', `/webhooks/${webhook.id}/test`)

  const scopes = ['itsm:read', 'itsm:write', 'tokens:manage']
  const key = await twice<TokenCreated>('POST', '/auth/tokens', { name: 'dumped key', scopes })
  const rotated = await twice<TokenCreated>('POST', '/auth/tokens/rotate', { id: key.id })
  plaintexts['API key'] = secretPart(key.token)
  plaintexts['rotated API key'] = secretPart(rotated.token)
  const asKey = { authorization: `Bearer ${rotated.token}` }
  expect((await api('GET', '/itsm/incidents', { headers: asKey })).status).toBe(200)

  const { email, password } = cluster.info
  const login = (word: string) =>
    api<{ data: { accessToken: string } }>('POST', '/auth/token', {
      body: { email, password: word },
      headers: { authorization: undefined, 'idempotency-key': randomUUID() },
    })
  const session = (await login(password)).body.data.accessToken
  plaintexts.session = secretPart(session)
  expect((await login(plaintext('mistyped password', plain))).status).toBe(401)
  expect((await api('GET', '/auth/me', { headers: { authorization: `Bearer ${session}` } })).status).toBe(200)
  expect(
    (await api('GET', '/auth/me', { headers: { authorization: `Bearer ${plaintext('forged', plain)}` } }))
      .status,
  ).toBe(401)
  // Rejected values are in the logs, and may be almost correct secrets.
  await api('POST', '/secrets', {
    body: { name: 'custom', value: plaintext('refused secret'), hosts: ['*'] },
  })
  await api('POST', '/secrets', {
    body: { name: 'not a name', value: plaintext('invalid secret'), hosts: ['*'] },
  })
  await api('POST', '/webhooks', {
    body: { name: 'x', url: 'nonsense', secret: plaintext('invalid signing secret', plain) },
  })
})

test('secret values are accessible to services only, and the uses of a secret are shown', async () => {
  const refused = await api('POST', '/internal/secrets/resolve', { body: { names: ['custom'] } })
  expect(refused.status).toBe(404)
  const direct = await request(`${cluster.services.settings.url}/internal/secrets/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.info.apiKey}`, 'content-type': 'application/json' },
    body: '{"workspaceId":"ws_x","environment":"production","names":["custom"]}',
  })
  expect(direct.statusCode).toBe(401)
  await direct.body.dump()
  const { body } = await api<{ data: UsedSecret }>('GET', '/secrets/custom')
  expect(body.data).toMatchObject({ lastUsedBy: 'dispatcher', useCount: expect.any(Number) })
  expect(body.data.useCount).toBeGreaterThan(0)
})

test('the master key and the data keys are rotated while the services run', async () => {
  const { masterKey } = cluster.secrets
  const database = { OPSPLANE_HOME: '/nonexistent', DATABASE_URL: cluster.info.postgresUrl }
  const cli = createCliRunner({
    ...database,
    OPSPLANE_MASTER_KEY: newMasterKey,
    OPSPLANE_PREVIOUS_MASTER_KEYS: masterKey,
  })
  const before = await cli.run(['rotate-master-key', '--check', '--json'])
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining(masterKeyId(newMasterKey)) })
  expect(JSON.parse(before.stdout)).toMatchObject([
    { service: 'dispatcher', keyId: masterKeyId(masterKey), count: 1, use: 'previous' },
    { service: 'settings', keyId: masterKeyId(masterKey), count: 1, use: 'previous' },
  ])
  const wrong = createCliRunner({ ...database, OPSPLANE_MASTER_KEY: newMasterKey })
  expect(await wrong.run(['rotate-master-key'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Nothing was changed'),
  })
  const dry = await cli.json<{ outdated: number; rewrapped: number }[]>('rotate-master-key', '--dry-run')
  expect(dry.map(({ outdated, rewrapped }) => [outdated, rewrapped])).toEqual([
    [1, 0],
    [0, 0],
    [1, 0],
  ])
  const byInput = createCliRunner(database)
  const input = `${newMasterKey}\n${masterKey}\n`
  const done = await byInput.run(['rotate-master-key', '--keys-stdin', '--json'], input)
  expect(JSON.parse(done.stdout)).toMatchObject([{ rewrapped: 1 }, { rewrapped: 0 }, { rewrapped: 1 }])
  expect(await cli.run(['rotate-master-key', '--check'])).toMatchObject({ code: 0, stderr: '' })

  const [workspace] = (await api<{ data: { id: string } }>('GET', '/workspaces/me')).body.data.id.split('\n')
  const made = await cli.json<object[]>('rotate-data-key', '--workspace', workspace ?? '')
  expect(made).toEqual([
    { service: 'dispatcher', generation: 2 },
    { service: 'settings', generation: 2 },
  ])
  for (const { stdout, stderr } of [before, done])
    for (const key of [masterKey, newMasterKey]) expect(stdout + stderr).not.toContain(key)

  // New values are encrypted with the new data key, and old ones can still be decrypted, also in processes started
  // after the rotation.
  await twice('PUT', '/secrets/custom', { value: plaintext('secret of the second generation') })
  for (const name of ['settings', 'dispatcher'] as const) {
    await cluster.services[name].stop()
    await cluster.services[name].start()
  }
  status = 500
  const seen = receiver.received().length
  await api('POST', '/itsm/incidents', { body: { title: 'after the rotation' } })
  const [received] = (await receiver.waitForRequests(seen + 1)).slice(seen)
  expect(received?.headers).toMatchObject({
    'x-custom': `Token ${plaintexts['secret of the second generation']}`,
    cookie: plaintexts['changed header'],
  })
})

test('without the master key no secret can be recovered from the database, the streams and the logs', async () => {
  const { secrets, info } = cluster
  Object.assign(plaintexts, {
    'master key': secrets.masterKey,
    'new master key': newMasterKey,
    'cursor secret': secrets.cursorSecret,
    "owner's password": info.password,
    "owner's API key": secretPart(info.apiKey),
    ...Object.fromEntries(
      Object.entries(secrets.serviceKeys).map(([name, pair]) => [`private key of ${name}`, pair.privateKey]),
    ),
    ...Object.fromEntries(
      Object.entries(secrets.databasePasswords).map(([name, word]) => [`database password of ${name}`, word]),
    ),
  })
  for (const value of Object.values(plaintexts)) expect(value.length).toBeGreaterThanOrEqual(16)
  // Searches for text that is not secret, to show that the search covers the right places.
  const marks = createPlaintextSearch({
    webhook: 'dumped webhook',
    key: 'dumped key',
    answer: 'The endpoint answered 500.',
    line: 'master keys, the present one first',
  })
  const search = createPlaintextSearch(plaintexts)

  await waitFor(
    async () => {
      const found = createPlaintextSearch({ answer: 'The endpoint answered 500.' })
      await searchRows(found, info.postgresUrl)
      return found.found().length > 0
    },
    { intervalMs: 500 },
  )
  const rows = await searchRows(search, info.postgresUrl)
  await searchRows(marks, info.postgresUrl)
  for (const table of ['settings.secrets', 'settings.data_keys', 'settings.audit_log', 'dispatcher.webhooks'])
    expect(rows[table]).toBeGreaterThan(0)
  for (const service of ['settings', 'dispatcher'])
    for (const table of ['events', 'idempotency_keys', 'data_keys'])
      expect(rows[`${service}.${table}`]).toBeGreaterThan(0)

  // Everything is stopped, so that all data is in the files, including data that Postgres has since overwritten.
  for (const service of Object.values(cluster.services)) await service.stop()
  await cluster.nats.stop()
  await cluster.postgres.stop()
  const kept = ['secrets.json', 'local.json', 'tls']
  searchFiles(search, cluster.folder, kept)
  searchFiles(marks, cluster.folder, kept)

  const { plaintexts: count, forms, bytes } = search.extent()
  process.stdout.write(
    `searched ${bytes} bytes for ${count} plaintexts in ${forms} forms: ${search.found().length} found\n`,
  )
  expect(search.found()).toEqual([])
  const places = marks.found().map(({ place }) => relative(cluster.folder, place).split('/')[0])
  const inFiles = ['nats', 'postgres', 'settings.log', 'dispatcher.log']
  expect(places).toEqual(expect.arrayContaining(inFiles))
  const tables = marks.found().map(({ place }) => place)
  expect(tables).toEqual(
    expect.arrayContaining(['dispatcher.webhooks', 'settings.tokens', 'settings.audit_log']),
  )
})

test('the plaintext search finds every encoding', () => {
  const value = 'pa"ss\\w+/örd-1234'
  const bytes = Buffer.from(`xy${value}z`)
  const json = JSON.stringify({ value })
  for (const haystack of [
    bytes,
    Buffer.from(json),
    Buffer.from(JSON.stringify({ json })),
    ...['', 'x', 'xy'].flatMap((before) =>
      (['base64', 'base64url', 'hex'] as const).map((encoding) =>
        Buffer.from(Buffer.from(`${before}${value}!`).toString(encoding)),
      ),
    ),
  ]) {
    const search = createPlaintextSearch({ value })
    search.look('here', Buffer.concat([Buffer.from('…'), haystack]))
    expect(search.found().length).toBeGreaterThan(0)
  }
})
