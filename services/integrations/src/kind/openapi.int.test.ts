import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ConnectorAction, ConnectorNames, ConnectorResult, ConnectorTest } from '@opsplane/contracts'
import { z } from 'zod'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
  fixture.settings.secrets.set('token', 'tok-3141592653')
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.answers(() => ({ status: 200 }))
  fixture.arrived()
})

const Pet = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    age: { type: 'integer', minimum: 0, exclusiveMinimum: true, nullable: true },
    nullable: { type: 'boolean' },
    mother: { $ref: '#/components/schemas/Pet' },
  },
  required: ['name'],
}
const document = (server: string, version = '3.0.3') => ({
  openapi: version,
  info: { title: 'Pets', version: '1' },
  servers: [{ url: `${server}/{stage}`, variables: { stage: { default: 'v1' } } }],
  paths: {
    '/pets': {
      post: {
        operationId: 'addPet',
        summary: 'Add a pet',
        requestBody: { $ref: '#/components/requestBodies/Pet' },
        responses: {
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        },
      },
      get: {
        parameters: [
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
        ],
      },
    },
    '/pets/{petId}/photos/{name}': {
      parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }],
      get: {
        operationId: 'getPhoto',
        parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
  components: {
    schemas: { Pet },
    requestBodies: {
      Pet: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
      },
    },
  },
})
const inline = () => fixture.connect('openapi', { document: document(fixture.receiver.url) })

describe('an API with an OpenAPI document', () => {
  it('has an action for every operation, each with self-contained schemas', async () => {
    const { id } = await inline()
    const actions = (await fixture.api.get(`/connectors/${id}/actions`)).data(z.array(ConnectorAction))
    expect(actions.map(({ name, repeatable }) => [name, repeatable])).toEqual([
      ['get_pets', 'always'],
      ['addPet', 'never'],
      ['getPhoto', 'always'],
    ])
    expect(actions[1]).toMatchObject({
      title: 'Add a pet',
      input: {
        required: ['body'],
        properties: { body: { $ref: '#/$defs/Pet' } },
        $defs: {
          Pet: {
            properties: {
              age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
              nullable: { type: 'boolean' },
              mother: { $ref: '#/$defs/Pet' },
            },
          },
        },
      },
    })
    expect(Object.keys(Object(actions[0]?.input.properties).header.properties)).toEqual(['X-Trace'])
  })

  it('lists its actions for the check of definitions, where its document can be read', async () => {
    const { workspaceId } = fixture.principal
    const actions = async (id: string, furtherActions: boolean) => {
      const question = { workspaceId, environment: 'production', ids: [id], furtherActions }
      const workflows = fixture.service.asService('workflows')
      const answer = await workflows.post('/internal/connectors/names', question)
      return answer.data(ConnectorNames).connectors.map((each) => each.actions)
    }
    const all = ['get_pets', 'addPet', 'getPhoto']
    const own = await inline()
    const there = await fixture.connect('openapi', {
      document: { url: `${fixture.receiver.url}/there.json` },
    })
    const gone = await fixture.connect('openapi', { document: { url: `${fixture.receiver.url}/gone.json` } })
    fixture.answers(({ path }) =>
      path === '/there.json'
        ? { status: 200, body: JSON.stringify(document(fixture.receiver.url)) }
        : { status: 404 },
    )
    expect(await actions(own.id, true)).toEqual([all])
    expect(await actions(own.id, false)).toEqual([null])
    expect(await actions(there.id, true)).toEqual([all])
    expect(await actions(gone.id, true)).toEqual([null])
  })

  it('is called as its document describes', async () => {
    const { id } = await inline()
    const query = { tags: ['a', 'b'], ids: [1, 2], filter: { state: 'open' } }
    await fixture.invoke(id, 'get_pets', { query, header: { 'X-Trace': 't' } })
    await fixture.invoke(id, 'getPhoto', { path: { petId: 7, name: 'a/b c' } })
    fixture.answers(() => ({
      status: 201,
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Rex"}',
    }))
    const added = await fixture.invoke(id, 'addPet', {
      body: { name: 'Rex', mother: { name: 'Ada', age: null } },
    })
    expect(added.data(ConnectorResult).output).toMatchObject({ status: 201, body: { name: 'Rex' } })
    const requests = fixture.arrived()
    expect(requests.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([
      'GET /v1/pets?tags=a&tags=b&ids=1,2&filter[state]=open',
      'GET /v1/pets/7/photos/a/b c',
      'POST /v1/pets',
    ])
    expect(requests[1]?.path).toBe('/v1/pets/7/photos/a%2Fb%20c')
    expect(requests[0]?.headers['x-trace']).toBe('t')
    expect(requests[2]?.rawBody.toString()).toBe('{"name":"Rex","mother":{"name":"Ada","age":null}}')
  })

  it.each([
    ['addPet', { body: { name: '' } }, '/input/body/name'],
    ['addPet', { body: { name: 'Rex', mother: { name: 'Ada', age: 0 } } }, '/input/body/mother/age'],
    ['addPet', {}, '/input'],
    ['getPhoto', { path: { petId: 'x', name: 'a' } }, '/input/path/petId'],
    ['getPhoto', { path: { petId: 1, name: '..' } }, '/input/path/name'],
    ['get_pets', { query: { unknown: 1 } }, '/input/query'],
    ['get_pets', { header: { 'X-Trace': 'a\r\nb: c' } }, '/input/header/X-Trace'],
    ['missing', {}, '/action'],
  ])('sends nothing for the invalid call of %s with %j', async (action, input, path) => {
    const { id } = await inline()
    const { code, details } = (await fixture.invoke(id, action, input)).error()
    expect(code).toBe('validation_failed')
    expect(details.map((detail) => detail.path).join()).toContain(path)
    expect(fixture.arrived()).toEqual([])
  })

  it('has its document read once and without credentials, which are sent only to its own host', async () => {
    const { url } = fixture.receiver
    let server = url
    fixture.answers(({ path }) =>
      path.startsWith('/openapi')
        ? { status: 200, body: JSON.stringify(document(server, '3.1.0')) }
        : { status: 200 },
    )
    const auth = { type: 'bearer', token: '{{secrets.token}}' }
    const { id } = await fixture.connect('openapi', { document: { url: `${url}/openapi.json` }, auth })
    for (let count = 0; count < 2; count++)
      expect((await fixture.invoke(id, 'get_pets', {})).status).toBe(200)
    const seen = fixture.arrived().map(({ path, headers }) => [path, headers.authorization])
    expect(seen).toEqual([
      ['/openapi.json', undefined],
      ['/v1/pets', 'Bearer tok-3141592653'],
      ['/v1/pets', 'Bearer tok-3141592653'],
    ])
    expect((await fixture.api.post(`/connectors/${id}/test`)).data(ConnectorTest)).toMatchObject({
      ok: true,
      message: 'The document has 3 operations; GET was answered with 200.',
    })
    server = 'https://evil.example.com'
    const other = await fixture.connect('openapi', { document: { url: `${url}/openapi2.json` }, auth })
    expect((await fixture.invoke(other.id, 'get_pets', {})).error().message).toContain('another host')
  })

  it('can be described in YAML, and rejects a YAML alias bomb', async () => {
    const { url } = fixture.receiver
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((name, at) => `${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(9)}]`)
      .join('\n')}`
    fixture.answers(({ path }) => {
      if (path === '/bomb.yaml') return { status: 200, body: bomb }
      return {
        status: 200,
        body: `openapi: 3.1.0\nservers: [{ url: ${url} }]\npaths: { /a: { get: { operationId: a } } }`,
      }
    })
    const fine = await fixture.connect('openapi', { document: { url: `${url}/fine.yaml` } })
    expect((await fixture.invoke(fine.id, 'a', {})).status).toBe(200)
    const bad = await fixture.connect('openapi', { document: { url: `${url}/bomb.yaml` } })
    expect((await fixture.invoke(bad.id, 'a', {})).error()).toMatchObject({
      code: 'upstream_error',
      details: [{ code: 'protocol' }],
    })
  })

  it.each([
    [{ document: { openapi: '2.0' } }, '/config/document/openapi'],
    [{ document: { openapi: '3.1.0' } }, '/config/serverUrl'],
    [
      { document: { openapi: '3.1.0', servers: [{ url: 'https://10.0.0.1/' }] } },
      '/config/document/servers/0/url',
    ],
    [{ document: { url: 'https://169.254.169.254/' } }, '/config/document/url'],
    [{ document: { openapi: '3.1.0', 'x-long': 'x'.repeat(600_000) } }, '/config/document'],
  ])('is rejected on creation with an invalid configuration: %#', async (config, path) => {
    const body = { name: 'refused', kind: 'openapi', config }
    expect((await fixture.api.post('/connectors', body)).error().details).toMatchObject([{ path }])
  })

  it('shows the schemas of a large document up to a size limit, and validates against all of them', async () => {
    const leaf = (name: string) => ({
      type: 'object',
      properties: { [name]: { $ref: `#/components/schemas/${name}` } },
      examples: ['d'.repeat(3_000)],
      description: 'd'.repeat(3_000),
    })
    const names = Array.from({ length: 60 }, (_, at) => `S${at}`)
    const schemas = Object.fromEntries(names.map((name, at) => [name, leaf(`S${(at + 1) % 60}`)]))
    const paths = {
      '/a': {
        post: {
          operationId: 'a',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } },
        },
      },
    }
    const large = {
      openapi: '3.1.0',
      servers: [{ url: fixture.receiver.url }],
      paths,
      components: { schemas },
    }
    const { id } = await fixture.connect('openapi', { document: large })
    const [action] = (await fixture.api.get(`/connectors/${id}/actions`)).data(z.array(ConnectorAction))
    expect(JSON.stringify(action?.input).length).toBeLessThan(70_000)
    expect((await fixture.invoke(id, 'a', { body: { S1: { S2: 1 } } })).error().code).toBe(
      'validation_failed',
    )
    expect((await fixture.invoke(id, 'a', { body: { S1: { S2: {} } } })).status).toBe(200)
  })
})
