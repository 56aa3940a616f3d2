import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ConnectorInvocation, ConnectorInvocationDetail, ConnectorResult } from '@opsplane/contracts'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
  for (const [name, value] of Object.entries(values)) fixture.settings.secrets.set(name, value)
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.answers(() => ({ status: 200 }))
  fixture.arrived()
})

const values = { token: 'tok-3141592653', password: 'p:a"ss-27182818', client: 'client-secret-1618' }
const base = (config: object = {}) => ({ baseUrl: `${fixture.receiver.url}/v1`, ...config })
const connect = (config: object = {}, more: object = {}) => fixture.connect('http', base(config), more)
const once = { retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 } }
const quick = { retry: { attempts: 3, delayMs: 10, maxDelayMs: 2_000 } }
const json = (body: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('an action of an HTTP API', () => {
  it('sends path, query, headers and body, and returns the response', async () => {
    const { id } = await connect({ query: { v: '2' }, headers: { 'X-Client': 'opsplane' } })
    fixture.answers(() => json({ id: 7 }, 201))
    const input = {
      path: '/items',
      query: { q: 'a b', tag: ['x', 'y'] },
      headers: { 'X-A': 'b' },
      body: { n: 1 },
    }
    const result = (await fixture.invoke(id, 'post', input)).data(ConnectorResult)
    expect(result.output).toMatchObject({ status: 201, body: { id: 7 }, encoding: 'json', truncated: false })
    const [request] = fixture.arrived()
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v1/items?v=2&q=a+b&tag=x&tag=y',
      headers: { 'x-a': 'b', 'x-client': 'opsplane', 'content-type': 'application/json' },
    })
    expect(request?.rawBody.toString()).toBe('{"n":1}')
  })

  it('decodes text by its charset, returns other bodies in base64, and fails on broken compression', async () => {
    const { id } = await connect()
    const outputOf = async (headers: Record<string, string>, body: Buffer) => {
      fixture.answers(() => ({ status: 200, headers, body }))
      return fixture.invoke(id, 'get', {})
    }
    const latin1 = await outputOf(
      { 'content-type': 'text/plain; charset=latin1' },
      Buffer.from('grün', 'latin1'),
    )
    expect(latin1.data(ConnectorResult).output).toMatchObject({ body: 'grün', encoding: 'text' })
    const image = await outputOf({ 'content-type': 'image/png' }, Buffer.from([0x89, 0x50, 0xff]))
    expect(image.data(ConnectorResult).output).toMatchObject({ body: 'iVD/', encoding: 'base64' })
    const broken = await outputOf({ 'content-encoding': 'gzip' }, Buffer.from('no gzip'))
    expect(broken.error()).toMatchObject({
      ...{ code: 'upstream_error', details: [{ code: 'protocol' }] },
      message: expect.stringContaining('does not decompress'),
    })
  })

  it.each([
    ['request', { method: 'OPTIONS' }, 'OPTIONS'],
    ['get', {}, 'GET'],
    ['head', {}, 'HEAD'],
    ['put', {}, 'PUT'],
    ['patch', {}, 'PATCH'],
    ['delete', {}, 'DELETE'],
  ])('%s with the input %j sends the method %s', async (action, input, method) => {
    const { id } = await connect()
    expect((await fixture.invoke(id, action, input)).status).toBe(200)
    expect(fixture.arrived().map((request) => request.method)).toEqual([method])
  })

  it('returns a text body as text, and a body that is not text in base64', async () => {
    const { id } = await connect()
    fixture.answers(({ path }) =>
      path === '/v1/text'
        ? { status: 200, headers: { 'content-type': 'text/plain' }, body: 'grüße' }
        : { status: 200, headers: { 'content-type': 'application/json' }, body: '\0{' },
    )
    const outputOf = async (path: string) =>
      (await fixture.invoke(id, 'get', { path })).data(ConnectorResult).output
    expect(await outputOf('text')).toMatchObject({ body: 'grüße', encoding: 'text' })
    expect(await outputOf('odd')).toMatchObject({
      body: Buffer.from('\0{').toString('base64'),
      encoding: 'base64',
    })
  })

  it('sends form and text bodies', async () => {
    const { id } = await connect()
    await fixture.invoke(id, 'post', {
      contentType: 'application/x-www-form-urlencoded',
      body: { a: 1, b: 'c d' },
    })
    await fixture.invoke(id, 'post', { contentType: 'text/xml', body: '<a/>' })
    expect(fixture.arrived().map(({ rawBody }) => rawBody.toString())).toEqual(['a=1&b=c+d', '<a/>'])
  })

  it.each([
    ['../admin'],
    ['/../../admin'],
    ['a/%2e%2e/%2E%2E/admin'],
    ['..\\..\\admin'],
    ['%2e%2e%2fadmin'],
    ['a%5c..%5c..%5cadmin'],
    ['x?y=1'],
    ['x#y'],
  ])('rejects the path %s before anything is sent', async (path) => {
    const { id } = await connect()
    const { code, details } = (await fixture.invoke(id, 'get', { path })).error()
    expect([code, details[0]?.path]).toEqual(['validation_failed', '/input/path'])
    expect(fixture.arrived()).toEqual([])
  })

  it.each([['//evil.example.com/x'], ['@evil.example.com/'], ['https://evil.example.com/']])(
    'treats %s as a path below the base URL',
    async (path) => {
      const { id } = await connect()
      await fixture.invoke(id, 'get', { path })
      expect(fixture.arrived().map((request) => request.path.startsWith('/v1/'))).toEqual([true])
    },
  )

  it('follows redirects only where enabled, and only within the origin', async () => {
    const location = { moved: '/v1/new', away: 'https://evil.example.com/' }
    fixture.answers(({ path }) => {
      if (path === '/v1/new') return { status: 200 }
      return { status: 302, headers: { location: path.endsWith('away') ? location.away : location.moved } }
    })
    const plain = await connect()
    expect(
      (await fixture.invoke(plain.id, 'get', { path: 'old' })).data(ConnectorResult).output,
    ).toMatchObject({
      status: 302,
    })
    const following = await connect({ followRedirects: 2 })
    const followed = (await fixture.invoke(following.id, 'get', { path: 'old' })).data(ConnectorResult)
    expect(followed.output).toMatchObject({ status: 200 })
    expect((await fixture.invoke(following.id, 'get', { path: 'away' })).error()).toMatchObject({
      code: 'upstream_error',
      details: [{ code: 'answered', params: { status: 302 } }],
    })
  })
})

describe('a failing HTTP call', () => {
  it('reports the status and the beginning of the body, unless its status is accepted', async () => {
    const { id } = await connect({}, once)
    fixture.answers(() => ({ status: 404, body: 'no such item' }))
    const { code, status, details } = (await fixture.invoke(id, 'get', { path: 'x' })).error()
    expect([code, status]).toEqual(['upstream_error', 502])
    expect(details[0]).toMatchObject({
      code: 'answered',
      params: { status: 404, body: 'no such item', attempts: 1 },
    })
    const accepted = await fixture.invoke(id, 'get', { path: 'x', accept: [404] })
    expect(accepted.data(ConnectorResult).output).toMatchObject({ status: 404, body: 'no such item' })
  })

  it('is retried only where that is safe, with the same idempotency key', async () => {
    const { id } = await connect({}, quick)
    fixture.answers(() => ({ status: 503 }))
    expect((await fixture.invoke(id, 'put', {})).error().details[0]?.params).toMatchObject({ attempts: 3 })
    const keys = fixture.arrived().map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([3, 1])
    expect((await fixture.invoke(id, 'post', {})).error().details[0]?.params).toMatchObject({ attempts: 1 })
    expect(fixture.arrived()).toHaveLength(1)
  })

  it('is retried after a 429 with a short Retry-After, even when it is a POST', async () => {
    const { id } = await connect({}, quick)
    let count = 0
    fixture.answers(() =>
      count++ === 0 ? { status: 429, headers: { 'retry-after': '0' } } : { status: 200 },
    )
    expect((await fixture.invoke(id, 'post', {})).data(ConnectorResult).attempts).toBe(2)
    fixture.answers(() => ({ status: 429, headers: { 'retry-after': '3600' } }))
    const refused = await fixture.invoke(id, 'post', {})
    expect([refused.error().code, refused.headers.get('retry-after')]).toEqual(['upstream_error', '3600'])
  })

  it('has one deadline for all attempts', async () => {
    const { id } = await connect({}, { ...quick, timeoutMs: 100 })
    fixture.answers(() => ({ status: 200, delayMs: 60_000 }))
    const { code, details } = (await fixture.invoke(id, 'get', {})).error()
    expect([code, details[0]?.code]).toEqual(['upstream_timeout', 'timeout'])
  })

  it.each([
    ['http://169.254.169.254/latest', 'https_required'],
    ['https://169.254.169.254/latest', 'blocked_address'],
    ['https://10.0.0.1/', 'blocked_address'],
    ['https://a:b@example.com/', 'credentials_in_url'],
    ['https://example.com/?a=b', 'invalid_url'],
    ['ftp://example.com/', 'https_required'],
  ])('cannot be configured with the base URL %s', async (baseUrl, code) => {
    const body = { name: 'nowhere', kind: 'http', config: { baseUrl } }
    const { details } = (await fixture.api.post('/connectors', body)).error()
    expect(details).toMatchObject([{ path: '/config/baseUrl', code }])
  })
})

describe('credentials', () => {
  const sent = async (config: object) => {
    const { id } = await connect(config)
    const reply = await fixture.invoke(id, 'get', { headers: { authorization: 'mine', 'x-key': 'mine' } })
    return { reply, request: fixture.arrived().at(-1), id }
  }
  const basic = Buffer.from(`ada:${values.password}`).toString('base64')

  it.each([
    [{ type: 'basic', username: 'ada', password: '{{secrets.password}}' }, 'authorization', `Basic ${basic}`],
    [{ type: 'bearer', token: '{{secrets.token}}' }, 'authorization', `Bearer ${values.token}`],
    [{ type: 'header', name: 'X-Key', value: 'key={{secrets.token}}' }, 'x-key', `key=${values.token}`],
  ])('of %j are sent, and override the headers of the caller', async (auth, header, value) => {
    expect((await sent({ auth })).request?.headers[header]).toBe(value)
  })

  it('are never returned or logged, even when the other side echoes them', async () => {
    fixture.answers(({ headers }) => json({ [String(headers['x-key'])]: headers, n: 1 }))
    const config = {
      auth: { type: 'basic', username: 'ada', password: '{{secrets.password}}' },
      headers: { 'X-Key': '{{ secrets.token }}' },
    }
    const { reply, id } = await sent(config)
    expect(reply.data(ConnectorResult).output).toMatchObject({ body: { '***': { 'x-key': '***' }, n: 1 } })
    fixture.answers(({ headers }) => ({
      status: 400,
      body: `bad: ${headers['x-key']} ${headers.authorization}`,
    }))
    const failed = await fixture.invoke(id, 'get', {})
    const log = (await fixture.api.get(`/connectors/${id}/invocations`)).page(ConnectorInvocation).items
    const details = await Promise.all(
      log.map((each) => fixture.api.get(`/connectors/${id}/invocations/${each.id}`)),
    )
    expect(details.map((each) => each.data(ConnectorInvocationDetail).response?.includes('***'))).toEqual([
      true,
      true,
    ])
    const everything = [reply.text, failed.text, ...details.map(({ text }) => text)].join()
    for (const secret of [...Object.values(values), basic]) expect(everything).not.toContain(secret)
  })

  it.each([
    [{ auth: { type: 'bearer', token: 'literal' } }, '/config/auth/token'],
    [{ headers: { 'X-Api-Key': 'literal' } }, '/config/headers/X-Api-Key'],
    [{ query: { api_key: 'literal' } }, '/config/query/api_key'],
    [{ headers: { 'X-A': '{{token}}' } }, '/config/headers/X-A'],
  ])('must be references to secrets: %j', async (config, path) => {
    const body = { name: 'literal', kind: 'http', config: base(config) }
    expect((await fixture.api.post('/connectors', body)).error().details).toMatchObject([{ path }])
  })

  // Would use 2 GB if each text was built before its size was checked.
  it.each([
    ['headers', (name: string) => `X-${name}`, 300],
    ['query', (name: string) => name, 280],
  ])(
    'that are referred to again and again in %s prevent the call before it is sent',
    async (field, named, times) => {
      fixture.settings.secrets.set('long', 's'.repeat(64 * 1_024))
      const names = Array.from({ length: 50 }, (_, at) => named(`n${at}`))
      const { id } = await connect({
        [field]: Object.fromEntries(names.map((name) => [name, '{{secrets.long}}'.repeat(times / 2)])),
      })
      const refused = (await fixture.invoke(id, 'get', {})).error()
      expect(refused).toMatchObject({ code: 'conflict', details: [{ code: 'secret' }] })
      expect(refused.message).toContain('With its secrets')
      expect(fixture.arrived()).toEqual([])
    },
  )

  it('that are invalid in a header are reported with the header, before anything is sent', async () => {
    fixture.settings.secrets.set('lines', 'first\nsecond')
    for (const config of [
      { auth: { type: 'header', name: 'X-Key', value: 'key {{secrets.lines}}' } },
      { headers: { 'X-Key': '{{secrets.lines}}' } },
    ]) {
      const { id } = await connect(config)
      const refused = (await fixture.invoke(id, 'get', {})).error()
      expect(refused).toMatchObject({ code: 'conflict', details: [{ code: 'secret' }] })
      expect(refused.message).toContain('The header x-key cannot be sent')
      expect(refused.message).toContain('{{secrets.lines}}')
    }
    expect(fixture.arrived()).toEqual([])
  })

  it('that are missing or refused for the host prevent the call', async () => {
    fixture.settings.refused.set('elsewhere', 'host_not_allowed')
    for (const name of ['nowhere', 'elsewhere']) {
      const { id } = await connect({ auth: { type: 'bearer', token: `{{secrets.${name}}}` } })
      expect((await fixture.invoke(id, 'get', {})).error()).toMatchObject({
        code: 'conflict',
        details: [{ code: 'secret' }],
      })
    }
    expect(fixture.arrived()).toEqual([])
    expect(fixture.settings.resolutions.at(-1)).toMatchObject({
      ...{ host: '127.0.0.1', userId: fixture.principal.userId },
      consumer: expect.stringMatching(/^connector\/con_/),
    })
  })
})

describe('OAuth 2', () => {
  const oauth = (more: object = {}) => ({
    auth: {
      ...{ type: 'oauth2', tokenUrl: `${fixture.receiver.url}/token`, clientId: 'me' },
      ...{ clientSecret: '{{secrets.client}}', scope: 'read', ...more },
    },
  })

  it('requests a token once, and a new one when the API rejects it', async () => {
    let issued = 0
    let valid = 'access-token-1'
    fixture.answers(({ path, headers }) => {
      if (path === '/token') return json({ access_token: `access-token-${++issued}`, expires_in: 3_600 })
      return { status: headers.authorization === `Bearer ${valid}` ? 200 : 401 }
    })
    const { id } = await connect(oauth())
    const [first, second] = [await fixture.invoke(id, 'get', {}), await fixture.invoke(id, 'get', {})]
    expect([first.status, second.status, issued]).toEqual([200, 200, 1])
    const [asked] = fixture.arrived()
    expect(asked?.rawBody.toString()).toBe('grant_type=client_credentials&scope=read')
    expect(asked?.headers.authorization).toBe(
      `Basic ${Buffer.from(`me:${values.client}`).toString('base64')}`,
    )
    valid = 'access-token-2'
    expect((await fixture.invoke(id, 'get', {})).status).toBe(200)
    expect(issued).toBe(2)
    valid = 'none'
    expect((await fixture.invoke(id, 'get', {})).error().details[0]?.params).toMatchObject({ status: 401 })
  })

  it('does not reuse an expired token, and sends id and secret in the body where configured', async () => {
    let issued = 0
    fixture.answers(({ path }) => {
      if (path !== '/token') return { status: 200 }
      issued++
      return json({ access_token: 'short-lived', expires_in: 0 })
    })
    const { id } = await connect(oauth({ clientAuth: 'body', audience: 'api' }))
    for (let count = 0; count < 2; count++) await fixture.invoke(id, 'get', {})
    expect(issued).toBe(2)
    const form = new URLSearchParams(fixture.arrived()[0]?.rawBody.toString())
    expect(Object.fromEntries(form)).toMatchObject({
      client_id: 'me',
      client_secret: values.client,
      audience: 'api',
    })
  })

  it('reports an error of the token endpoint, and shows neither secrets nor tokens', async () => {
    fixture.answers(({ path, rawBody }) =>
      path === '/token' ? { status: 400, body: `no: ${rawBody.toString()}` } : { status: 200 },
    )
    const { id } = await connect(oauth({ clientAuth: 'body' }), once)
    const reply = await fixture.invoke(id, 'get', {})
    expect(reply.error().message).toContain('The token endpoint answered 400.')
    expect(reply.text).not.toContain(values.client)
    fixture.answers(({ path, headers }) =>
      path === '/token' ? json({ access_token: 'access-token-9' }) : json({ seen: headers.authorization }),
    )
    expect((await fixture.invoke(id, 'get', {})).data(ConnectorResult).output).toMatchObject({
      body: { seen: 'Bearer ***' },
    })
  })
})
