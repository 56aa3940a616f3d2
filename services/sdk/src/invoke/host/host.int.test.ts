import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { DelegationRequest, Execution, newId, permissions } from '@opsplane/contracts'
import { causeHeader, createCauseVerifier } from '@opsplane/http'
import { type Receiver, startReceiver, testKeys, testPrincipal } from '@opsplane/testing'
import { dumpAllRows, type SdkFixture, startSdk } from '../invoke.fixture.js'

/** Host functions: checked against the artifact's declarations, the caller's rights and the limits. */

const log = '/origin/api/service-sdk'
const [incident, connector, row] = [newId('incident'), newId('connector'), newId('record')]
const secret = 'sk-live-4711-correct-horse'
const json = { 'content-type': 'application/json' }
const latin1 = { 'content-type': 'text/plain; charset=iso-8859-1' }
const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00])

let world: SdkFixture
let receiver: Receiver
/** Requests to the platform, in order. */
const asked: { path: string; body: unknown }[] = []
/** The delegations used for calls, in order. */
const delegated: DelegationRequest[] = []

const operation = (operationId: string, method: string, path: string) => ({
  ...{
    operationId,
    method,
    path,
    permission: null,
    access: 'workspace',
    bodyLimitBytes: 1_024,
    waits: false,
  },
})
const platform = (answers: Record<string, object>) =>
  Object.fromEntries(
    Object.entries(answers).map(([path, answer]) => [
      path,
      (body: unknown) => {
        asked.push({ path, body })
        return answer
      },
    ]),
  )

/** Makes the given call and returns its result. */
const calls = `export default async function ({ call, argument }, host) {
  try { return { value: await host[call](argument) } } catch (error) { return { code: error.code, message: error.message } }
}`

beforeAll(async () => {
  receiver = await startReceiver({
    tls: false,
    respond: ({ path, headers }) => {
      if (path === '/large') return { status: 200, body: 'x'.repeat(1_100_000) }
      if (path === '/latin1') return { status: 200, headers: latin1, body: Buffer.from('grün', 'latin1') }
      if (path === '/image') return { status: 200, headers: { 'content-type': 'image/png' }, body: image }
      if (path === '/broken') return { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' }
      if (path === '/elsewhere') return { status: 302, headers: { location: 'https://example.com/' } }
      return {
        status: 200,
        headers: json,
        body: JSON.stringify({ authorization: headers.authorization ?? null }),
      }
    },
  })
  const routes = {
    '/internal/delegations': (body: unknown) => {
      delegated.push(DelegationRequest.parse(body))
      return { token: 'of-a-test' }
    },
    '/internal/routes': () => ({
      routes: [
        operation('createIncident', 'post', '/itsm/incidents'),
        operation('getIncident', 'get', '/itsm/incidents/:id'),
        operation('exportAll', 'get', '/itsm/export'),
        operation('createRecord', 'post', '/tables/:slug/records'),
        operation('getRecord', 'get', '/tables/:slug/records/:id'),
      ],
    }),
    '/internal/connectors/names': () => ({ connectors: [{ id: connector, name: 'chat' }] }),
    ...platform({
      '/itsm/incidents': { id: incident, title: 'Disk full' },
      [`/itsm/incidents/${incident}`]: { id: incident },
      '/itsm/export': { all: 'x'.repeat(1_100_000) },
      '/tables/journal/records': { id: row, version: 1 },
      [`/tables/assets/records/${row}`]: { id: row, version: 1, serial: 'A-1' },
      [`/connectors/${connector}/invoke`]: { output: { sent: true } },
      '/events/topics/orders/publish': {
        ...{ id: newId('event'), topic: 'orders', type: 'order.made', deduplicated: false },
        createdAt: new Date().toISOString(),
      },
    }),
  }
  world = await startSdk({ SDK_ALLOW_HTTP: 'loopback', SDK_ALLOWED_CIDRS: '127.0.0.1/32' }, { routes })
  world.settings.secrets.set('token', secret).set('bound', secret)
  world.settings.refused.set('bound', 'host_not_allowed')
  await world.install({
    ...{ slug: 'calls', code: calls },
    permissions: {
      ...{ api: ['createIncident', 'getIncident', 'exportAll'], http: ['127.0.0.1'], connectors: ['chat'] },
      ...{
        secrets: ['token', 'bound'],
        topics: ['orders'],
        tables: { assets: ['read'], journal: ['write'] },
      },
    },
  })
  await world.install({ slug: 'calls-any-host', code: calls, permissions: { http: ['*'] } })
  await world.install({ slug: 'calls-no-host', code: calls })
  await world.install({
    slug: 'sends',
    permissions: { http: ['127.0.0.1'], secrets: ['token', 'bound', 'unsendable'] },
    code: `export default async function ({ url, name }, host) {
      const handle = await host.secret({ name })
      const answer = await host.http({ url, headers: { authorization: 'Bearer ' + handle } })
      return { handle, body: answer.body }
    }`,
  })
  await world.install({
    slug: 'forks',
    permissions: { http: ['127.0.0.1'], secretsPlain: ['token'] },
    code: `export default async function ({ into, url }, host) {
      const value = await host.secret({ name: 'token', plain: true })
      if (into === 'output') return { value, [value]: 1, list: [[value + ' and more']] }
      if (into === 'encoded') return encodeURIComponent(value) + JSON.stringify(JSON.stringify(value))
      if (into === 'log') host.log.warn('it is ' + value, { value, [value]: { deep: [value] } })
      if (into === 'console') console.log(value, { value })
      if (into === 'error') throw new Error('no luck with ' + value)
      if (into === 'stack') throw Object.assign(new Error('no luck'), { stack: 'at ' + value })
      if (into === 'answer') return (await host.http({ url, headers: { authorization: value } })).body
      return value.length
    }`,
  })
})
afterAll(async () => {
  await world?.stop()
  await receiver?.stop()
})
beforeEach(() => {
  asked.length = 0
  delegated.length = 0
})

const invoke = async (slug: string, input: object, api = world.api) =>
  (await api.post(`/sdk/artifacts/${slug}/invoke`, { input })).data(Execution)
const call = async (name: string, argument: object, slug = 'calls') =>
  (await invoke(slug, { call: name, argument })).output
const found = async (slug: string, recordId: string) =>
  (await world.api.get(`${log}/artifacts/${slug}/related-executions?recordId=${recordId}`)).page(Execution)
    .items

describe('a host call', () => {
  it.each<[string, object]>([
    ['api', { operation: 'deleteIncident' }],
    ['api', { operation: 'constructor' }],
    ['http', { url: 'https://example.com/' }],
    ['http', { url: 'http://127.0.0.1.example.com/' }],
    ['connector', { connector: 'mail', action: 'send' }],
    ['secret', { name: 'other' }],
    ['secret', { name: 'token', plain: true }],
    ['table', { table: 'salaries', action: 'list' }],
    ['table', { table: 'constructor', action: 'list' }],
    ['table', { table: 'assets', action: 'create', record: {} }],
    ['table', { table: 'journal', action: 'get', id: row }],
    ['publish', { topic: 'payments', type: 'paid', payload: {} }],
  ])('%s(%j) is rejected because the artifact has not declared it', async (name, argument) => {
    const before = receiver.received().length
    expect(await call(name, argument)).toMatchObject({
      code: 'not_permitted',
      message: expect.stringContaining('has not declared'),
    })
    expect([asked, world.settings.asked, receiver.received().length]).toEqual([[], [], before])
  })

  it.each<[string, object, string]>([
    ['api', { operation: 'createIncident', path: '/' }, 'path'],
    ['http', { url: 7 }, 'url'],
    ['http', { url: 'http://127.0.0.1/', timeoutMs: 0 }, 'timeoutMs'],
    ['table', { table: 'assets', action: 'drop' }, 'action'],
    ['secret', {}, 'name'],
    ['publish', { topic: 'orders', type: 'made' }, 'payload'],
  ])('%s(%j) is rejected with an error that names %s', async (name, argument, field) => {
    expect(await call(name, argument)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(field),
    })
    expect(asked).toEqual([])
  })

  it.each([
    ['api', 'permissions.api'],
    ['http', 'permissions.http'],
    ['connector', 'permissions.connectors'],
    ['secret', 'permissions.secrets or permissions.secretsPlain'],
    ['table', 'permissions.tables'],
    ['publish', 'permissions.topics'],
  ])(
    'is rejected in an artifact without any permission of its type, with the one to declare: %s',
    async (name, permission) =>
      expect(await call(name, {}, 'calls-no-host')).toEqual({
        code: 'not_permitted',
        message: `The artifact has not declared host.${name}: name what it may use in ${permission} of the manifest.`,
      }),
  )

  it('that is declared uses the grant of the installer, with no more than the caller may do', async () => {
    const body = { title: 'Disk full' }
    expect(await call('api', { operation: 'createIncident', body })).toMatchObject({
      value: { status: 200, data: { id: incident } },
    })
    expect(asked).toEqual([{ path: '/itsm/incidents', body }])
    const { userId, tokenId } = world.principal
    const callers = [{ userId, tokenId }]
    expect(delegated).toMatchObject([{ grant: 'grant-of-a-test', permissions, callers }])
    const limited = {
      ...testPrincipal({ permissions: ['sdk:invoke'] }),
      workspaceId: world.principal.workspaceId,
      callers: [{ actor: world.principal.actor, userId: 'usr_behind', role: 'agent' }],
    }
    const argument = { table: 'journal', action: 'create', record: {} }
    await invoke('calls', { call: 'table', argument }, world.service.as(limited))
    expect(delegated.at(-1)).toMatchObject({ grant: 'grant-of-a-test', permissions: ['sdk:invoke'] })
    const [first] = limited.callers
    expect(delegated.at(-1)?.callers).toEqual([
      { userId: limited.userId, tokenId: limited.tokenId },
      { userId: first?.userId, tokenId: '' },
    ])
  })

  it('relates the execution to the records in its arguments and in its result', async () => {
    const touches: [string, object, string][] = [
      ['api', { operation: 'createIncident' }, incident],
      ['api', { operation: 'getIncident', params: { id: incident } }, incident],
      ['table', { table: 'journal', action: 'create', record: { text: 'x' } }, row],
      ['table', { table: 'assets', action: 'get', id: row }, row],
      ['connector', { connector: 'chat', action: 'post' }, connector],
    ]
    for (const [name, argument, recordId] of touches) {
      const execution = await invoke('calls', { call: name, argument })
      expect(execution.output).toHaveProperty('value')
      expect((await found('calls', recordId)).map(({ id }) => id)).toContain(execution.id)
    }
    const published = { topic: 'orders', type: 'order.made', payload: { n: 1 } }
    expect(await call('publish', published)).toMatchObject({ value: { deduplicated: false } })
  })

  it('of a replay relates it to the records of its own calls, and to those that started the original', async () => {
    const input = { call: 'api', argument: { operation: 'createIncident' }, about: row }
    const original = await invoke('calls', input)
    const path = `${log}/executions/${original.id}/replay`
    const same = (await world.api.post(path)).data(Execution)
    const argument = { table: 'assets', action: 'get', id: row }
    const other = (await world.api.post(path, { input: { call: 'table', argument } })).data(Execution)
    const ids = async (recordId: string) => (await found('calls', recordId)).map(({ id }) => id).slice(0, 3)
    expect(await ids(row)).toEqual([other.id, same.id, original.id])
    expect((await ids(incident)).slice(0, 2)).toEqual([same.id, original.id])
  })

  it('whose response is larger than the limit of the code fails with an error', async () => {
    expect(await call('http', { url: `${receiver.url}/large` })).toMatchObject({ code: 'response_too_large' })
    expect(await call('api', { operation: 'exportAll' })).toMatchObject({ code: 'too_large' })
  })

  it.each(['https://10.0.0.1/', 'https://[::1]/', 'https://169.254.169.254/latest', 'https://0x0a000001/'])(
    'does not connect to %s, even if all hosts are declared: the outbound guard blocks it',
    async (url) =>
      expect(await call('http', { url }, 'calls-any-host')).toMatchObject({ code: 'blocked_address' }),
  )

  it('sends the execution as the signed cause of its request', async () => {
    const { id } = await invoke('calls', { call: 'http', argument: { url: `${receiver.url}/caused` } })
    const request = receiver.received().find(({ path }) => path === '/caused')
    const verify = createCauseVerifier({ sdk: testKeys('sdk').publicKey })
    expect(verify(request?.headers[causeHeader]?.toString())).toBe(id)
  })

  it('decodes text by its charset, and returns other content as base64', async () => {
    expect(await call('http', { url: `${receiver.url}/latin1` })).toMatchObject({
      value: { status: 200, body: 'grün' },
    })
    expect(await call('http', { url: `${receiver.url}/image` })).toMatchObject({
      value: { status: 200, body: image.toString('base64'), bodyEncoding: 'base64' },
    })
    expect(await call('http', { url: `${receiver.url}/broken` })).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('does not decompress: it is not gzip'),
    })
  })

  it('follows no redirect', async () => {
    expect(await call('http', { url: `${receiver.url}/elsewhere` })).toMatchObject({ value: { status: 302 } })
  })
})

describe('a secret', () => {
  it('is a handle in the code, replaced for its host, and masked in the response', async () => {
    const { output, input } = await invoke('sends', { name: 'token', url: receiver.url })
    expect(output).toEqual({ handle: '{{secrets.token}}', body: { authorization: 'Bearer ***' } })
    expect(input).toEqual({ name: 'token', url: receiver.url })
    expect(receiver.received().at(-1)?.headers.authorization).toBe(`Bearer ${secret}`)
    expect(world.settings.resolutions.at(-1)).toMatchObject({ names: ['token'], host: '127.0.0.1' })
  })

  it('that is not allowed for a host is not sent to it', async () => {
    const before = receiver.received().length
    expect(await invoke('sends', { name: 'bound', url: receiver.url })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('may not be sent to this host') },
    })
    expect(receiver.received()).toHaveLength(before)
  })

  it('that is invalid in a header is reported with the header, before anything is sent', async () => {
    const before = receiver.received().length
    for (const value of ['two\nlines', 'only €']) {
      world.settings.secrets.set('unsendable', value)
      const url = receiver.url
      const { error } = await invoke('sends', { name: 'unsendable', url })
      expect(error?.message).toContain(
        'The secret unsendable cannot be sent in the header authorization: its value has a line break',
      )
    }
    expect(receiver.received()).toHaveLength(before)
  })

  it('is readable in plain text with a separate grant, and requested without a host', async () => {
    expect((await invoke('forks', { into: 'nothing' })).output).toBe(secret.length)
    expect(world.settings.resolutions.at(-1)).toMatchObject({ names: ['token'], host: '*' })
  })

  it.each(['output', 'encoded', 'log', 'console', 'error', 'stack', 'answer'])(
    'that code writes to its %s is masked wherever it is stored',
    async (into) => {
      const { id } = await invoke('forks', { into, url: receiver.url })
      const text = JSON.stringify((await world.api.get(`${log}/executions/${id}`)).data(Execution))
      expect(text).toContain('***')
      expect(text).not.toContain(secret)
      expect(await dumpAllRows(world.service)).not.toContain(secret)
    },
  )
})
