import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { errorBody } from '@opsplane/contracts'
import { notReady } from '@opsplane/http'
import { waitFor } from '@opsplane/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { parse } from 'yaml'
import { z } from 'zod'
import {
  call,
  echo,
  type Handler,
  startPlatform,
  startUpstream,
  type TestPlatform,
} from './fixture/platform.js'

let platform: TestPlatform

const describing = (path: string, operationId: string): Handler => {
  const responses = { 200: { description: 'Done' } }
  const document = {
    openapi: '3.1.0',
    info: { title: operationId, version: '1.0.0' },
    paths: { [path]: { get: { operationId, responses } } },
  }
  return (request, response) => {
    if (request.url === '/internal/openapi.json') response.end(JSON.stringify(document))
    else echo(request, response)
  }
}

beforeAll(async () => {
  platform = await startPlatform({ publicOrigin: 'https://ops.example' })
  platform.settings.handler = describing('/workspaces', 'listWorkspaces')
  platform.itsm.handler = describing('/itsm/incidents', 'listIncidents')
  platform.dispatcher.handler = describing('/webhooks', 'listWebhooks')
})
afterAll(() => platform.stop())

const openApi = async () => {
  const response = await fetch(`${platform.url}/api/v1/openapi.json`)
  return (await response.json()) as { paths: Record<string, unknown>; servers: unknown }
}

describe('the OpenAPI document', () => {
  test('is valid and describes every service and the gateway', async () => {
    const document = await openApi()
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://ops.example/api/v1' }] })
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/openapi.json',
        '/openapi.yaml',
        '/workspaces',
        '/itsm/incidents',
        '/webhooks',
      ]),
    )
  })

  test('describes its YAML as bytes, and the error for an unknown operation contains its method and path', async () => {
    const { paths } = (await openApi()) as { paths: Record<string, { get: { responses: object } }> }
    expect(paths['/openapi.yaml']?.get.responses).toMatchObject({
      200: { content: { 'application/yaml': { schema: { type: 'string', format: 'binary' } } } },
    })
    const { body } = await call(`${platform.url}/api/v1/nothing`, { method: 'POST' })
    expect(body.error?.message).toBe('There is no operation POST /nothing.')
  })

  test('contains guides in Markdown, and the deliveries that an endpoint receives', async () => {
    const { info, webhooks } = (await openApi()) as unknown as {
      info: { description: string }
      webhooks: Record<string, { post: { parameters: { name: string }[] } }>
    }
    const titles = [...info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    expect(titles).toEqual(['Sign in', 'Requests and answers', 'Paging', 'Errors', 'Events', 'Signatures'])
    expect(webhooks.delivery?.post.parameters.map(({ name }) => name)).toContain('X-Service-Signature-256')
  })

  test('has the same content in YAML', async () => {
    const response = await fetch(`${platform.url}/api/v1/openapi.yaml`)
    expect(response.headers.get('content-type')).toContain('application/yaml')
    expect(parse(await response.text())).toEqual(await openApi())
  })

  test('has a relative server URL, unless an origin is configured', async () => {
    const own = await startPlatform()
    for (const format of ['json', 'yaml']) {
      const text = await (await fetch(`${own.url}/api/v1/openapi.${format}`)).text()
      expect(parse(text)).toMatchObject({ servers: [{ url: '/api/v1' }] })
    }
    await own.stop()
  })

  test.each(['json', 'yaml'])(
    'is made once per change, with the same bytes and ETag until then, as %s',
    async (format) => {
      const own = await startPlatform()
      const asked: (string | undefined)[] = []
      const describes = (path: string, operationId: string, etag: string): Handler => {
        const description = describing(path, operationId)
        return (request, response) => {
          if (request.url !== '/internal/openapi.json') return echo(request, response)
          asked.push(request.headers['if-none-match'])
          if (request.headers['if-none-match'] === etag) return response.writeHead(304).end()
          response.setHeader('ETag', etag)
          description(request, response)
        }
      }
      own.settings.handler = describes('/workspaces', 'listWorkspaces', '"s1"')
      own.itsm.handler = describes('/itsm/incidents', 'listIncidents', '"i1"')
      own.dispatcher.handler = describes('/webhooks', 'listWebhooks', '"d1"')
      const read = async (headers: Record<string, string> = {}) => {
        const response = await fetch(`${own.url}/api/v1/openapi.${format}`, { headers })
        return {
          status: response.status,
          etag: response.headers.get('etag') ?? '',
          text: await response.text(),
        }
      }
      const first = await read()
      expect(await read({ 'if-none-match': first.etag })).toEqual({ status: 304, etag: first.etag, text: '' })
      own.pass(5_000)
      expect(await read()).toEqual(first)
      expect(asked).toEqual([undefined, undefined, undefined, '"s1"', '"i1"', '"d1"'])
      own.itsm.handler = describes('/itsm/changes', 'listChanges', '"i2"')
      own.pass(5_000)
      const second = await read({ 'if-none-match': first.etag })
      expect(second.status).toBe(200)
      expect(second.etag).not.toBe(first.etag)
      expect(parse(second.text).paths).toHaveProperty('/itsm/changes')
      await own.stop()
    },
  )

  test("requests a service's description again immediately if there was none before", async () => {
    const young = await startPlatform()
    young.settings.handler = describing('/workspaces', 'listWorkspaces')
    young.itsm.handler = describing('/itsm/incidents', 'listIncidents')
    young.dispatcher.handler = (request) => request.socket.destroy()
    const paths = async () => {
      const response = await fetch(`${young.url}/api/v1/openapi.json`)
      return ((await response.json()) as { paths: Record<string, unknown> }).paths
    }
    const first = await paths()
    expect(first).toHaveProperty('/itsm/incidents')
    expect(first).not.toHaveProperty('/webhooks')
    young.dispatcher.handler = describing('/webhooks', 'listWebhooks')
    expect(await paths()).toHaveProperty('/webhooks')
    await young.stop()
  })

  test('keeps the last description of an unavailable service, and updates one that changes', async () => {
    await openApi()
    await platform.dispatcher.close()
    platform.itsm.handler = describing('/itsm/changes', 'listChanges')
    platform.pass(4_999)
    expect((await openApi()).paths).toHaveProperty('/itsm/incidents')
    platform.pass(1)
    const { paths } = await openApi()
    expect(paths).toHaveProperty('/itsm/changes')
    expect(paths).not.toHaveProperty('/itsm/incidents')
    expect(paths).toHaveProperty('/webhooks')
    const yaml = await fetch(`${platform.url}/api/v1/openapi.yaml`)
    expect(parse(await yaml.text())).toEqual(await openApi())
    platform.dispatcher = await startUpstream(
      describing('/webhooks', 'listWebhooks'),
      platform.dispatcher.port,
    )
  })
})

describe('the docs page', () => {
  test('is the target of the redirect from the root', async () => {
    const root = await fetch(platform.url, { redirect: 'manual' })
    expect([root.status, root.headers.get('location')]).toEqual([302, '/api/v1/docs'])
    expect((await fetch(`${platform.url}/api/v1/docs/`)).status).toBe(200)
  })

  test.each(['/docs', '/docs/docs.css', '/openapi.json'])('TRACE %s is answered with 405', async (path) => {
    const { hostname, port } = new URL(platform.url)
    const [head] = await new Promise<string[]>((resolve, reject) => {
      // Uses a socket, because fetch does not support TRACE.
      const socket = connect(Number(port), hostname, () =>
        socket.end(`TRACE /api/v1${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`),
      )
      text(socket).then((answer) => resolve(answer.split('\r\n')), reject)
    })
    expect(head).toBe('HTTP/1.1 405 Method Not Allowed')
  })

  test('answers a failed precondition with 412, and ignores an unsatisfiable range', async () => {
    const page = (headers: Record<string, string>) => fetch(`${platform.url}/api/v1/docs`, { headers })
    const refused = await page({ 'if-match': '"another"' })
    expect(refused.status).toBe(412)
    expect(await refused.json()).toMatchObject({ error: { code: 'precondition_failed' } })
    expect((await page({ range: 'bytes=9999999-' })).status).toBe(200)
  })

  test('loads everything from its own origin, and nothing inline', async () => {
    const page = await fetch(`${platform.url}/api/v1/docs`)
    const html = await page.text()
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=|https?:/)
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
    expect(assets.map((path) => path?.split('?')[0])).toContain('/api/v1/docs/swagger-ui-bundle.js')
    for (const asset of assets) {
      const response = await fetch(`${platform.url}${asset}`)
      expect([asset, response.status]).toEqual([asset, 200])
      await response.arrayBuffer()
    }
  })

  test('has the content hash in the URLs of its files, so that browsers cache them permanently', async () => {
    const html = await (await fetch(`${platform.url}/api/v1/docs`)).text()
    const files = [...html.matchAll(/"(\/api\/v1\/docs\/[^"?]+)\?(\w+)"/g)]
    expect(files.length).toBeGreaterThan(4)
    const kept = async (path: string) => {
      const response = await fetch(`${platform.url}${path}`)
      return [response.headers.get('cache-control'), await response.text()] as const
    }
    for (const [, path = '', hash = ''] of files) {
      expect((await kept(`${path}?${hash}`))[0]).toBe('public, max-age=31536000, immutable')
      expect((await kept(`${path}?another`))[0]).toBe('public, max-age=3600')
    }
    const [, script] = await kept('/api/v1/docs/docs.js')
    expect(script).toMatch(/from '\.\/topics\.js\?\w{16}'/)
  })
})

describe('health', () => {
  test('reports that the gateway is live', async () => {
    const { status, body } = await call(`${platform.url}/healthz`)
    expect([status, body.data]).toEqual([200, { status: 'live' }])
  })

  const Detail = z.object({ params: z.object({ checks: z.record(z.string(), z.string()) }) })
  const checksOf = async () => {
    platform.pass(1_000)
    const { body } = await call(`${platform.url}/readyz`)
    const [detail] = body.error?.details ?? []
    return body.data?.checks ?? Detail.parse(detail).params.checks
  }

  test('reports ready while settings is ready, and the reasons of each service', async () => {
    const ready = () => call(`${platform.url}/readyz`)
    const allUp = { settings: 'up', itsm: 'up', dispatcher: 'up' }
    // On a busy machine a service may respond more slowly than a check waits.
    await waitFor(async () => {
      expect(await checksOf()).toEqual(allUp)
      return true
    })
    expect((await ready()).body.data).toEqual({ status: 'ready', checks: allUp, warnings: [] })
    const databaseAway: Handler = (request, response) => {
      if (request.url === '/healthz') return response.end(JSON.stringify({ data: { status: 'live' } }))
      const body = errorBody(notReady({ database: 'cannot be reached', disk: 'up' }), 'req_upstream')
      response.writeHead(503, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    }
    const reason = 'not ready: database (cannot be reached)'
    platform.itsm.handler = databaseAway
    platform.dispatcher.handler = (_request, response) => response.writeHead(500).end('<html>')
    await waitFor(async () => {
      expect(await checksOf()).toEqual({ settings: 'up', itsm: reason, dispatcher: 'answers 500' })
      return true
    })
    expect((await ready()).status).toBe(200)
    platform.settings.handler = databaseAway
    await platform.dispatcher.close()
    await waitFor(async () => {
      expect(await checksOf()).toEqual({ settings: reason, itsm: reason, dispatcher: 'does not answer' })
      return true
    })
    const refused = await ready()
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(refused.body.error).toMatchObject({
      message: `Not ready: settings (${reason}), itsm (${reason}), dispatcher (does not answer).`,
    })
  })

  test('checks the services at most once a second, however often health is requested', async () => {
    const asked = () => platform.itsm.requests.filter(({ url }) => url === '/readyz').length
    platform.pass(1_000)
    const before = asked()
    for (let n = 0; n < 20; n++) await call(`${platform.url}/readyz`)
    expect(asked()).toBe(before + 1)
  })

  test('accepts only GET and HEAD', async () => {
    const reply = await call(`${platform.url}/healthz`, { method: 'POST' })
    expect(reply).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(reply.headers.get('allow')).toBe('GET, HEAD')
  })
})
