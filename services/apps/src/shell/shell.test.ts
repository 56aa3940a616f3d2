import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { builtAssets, createApp, type Listening, listen } from '@opsplane/http'
import { createLogger, systemClock } from '@opsplane/runtime'
import { shellRoutes } from './routes.js'

const folder = mkdtempSync(join(tmpdir(), 'shell-'))
let server: Listening
let url: string

beforeAll(async () => {
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text)
  file(
    'assets.json',
    JSON.stringify({ script: 'main-1.js', style: 'app-1.css', files: ['main-1.js', 'app-1.css'] }),
  )
  file('main-1.js', 'as it is')
  file('main-1.js.br', 'brotli')
  file('main-1.js.gz', 'gzip')
  for (const ending of ['', '.br', '.gz']) file(`app-1.css${ending}`, 'css')
  file('secret.txt', 'secret')
  const routes = shellRoutes({
    assets: builtAssets(pathToFileURL(`${folder}/`)),
    embedOrigins: async (id, { workspace, slug, environment = 'production' }) =>
      id === 'emb_1' && workspace === 'acme' && slug === 'assets' && environment === 'production'
        ? ['https://portal.example.com', "https://x.example.com; script-src 'unsafe-inline'"]
        : [],
  })
  const log = createLogger({ service: 'apps', level: 'silent' })
  const app = createApp({ service: 'apps', routes, log, clock: systemClock })
  server = await listen(app, { port: 0, host: '127.0.0.1', log })
  url = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/origin/apps${path}`, { headers })
const policyOf = (response: Response) => response.headers.get('content-security-policy')?.split('; ') ?? []

test('the page allows only resources of its own origin, nothing inline, and no framing', async () => {
  const response = await get('/acme/assets')
  expect(response.status).toBe(200)
  expect(policyOf(response)).toEqual(
    expect.arrayContaining([
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
      ...[
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ],
    ]),
  )
  expect(Object.fromEntries(response.headers)).toMatchObject({
    ...{ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
    ...{ 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' },
  })
  const text = await response.text()
  expect(text).toContain('src="/apps/-/assets/main-1.js"')
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|<style|\sstyle=/)
  expect(await (await get('/other/unknown/page?environment=staging')).text()).toBe(text)
})

test('origins of an embed token may frame the page, and add nothing else to the policy', async () => {
  const response = await get('/acme/assets?embed=emb_1')
  expect(policyOf(response)).toContain('frame-ancestors https://portal.example.com')
  expect(response.headers.get('x-frame-options')).toBeNull()
  expect(policyOf(await get('/acme/assets/page?embed=emb_1&environment=production'))).toContain(
    'frame-ancestors https://portal.example.com',
  )
  for (const elsewhere of [
    '/acme/assets?embed=emb_2',
    '/acme/other?embed=emb_1',
    '/other/assets?embed=emb_1',
    '/acme/assets?embed=emb_1&environment=staging',
  ])
    expect(policyOf(await get(elsewhere))).toContain("frame-ancestors 'none'")
  expect((await get('/acme/assets?token=x')).status).toBe(422)
})

test.each([
  ['br, gzip', 'br', 'brotli'],
  ['gzip, br;q=0', 'gzip', 'gzip'],
  ['identity', null, 'as it is'],
])(
  'a file is served for Accept-Encoding %s with Content-Encoding %p, cacheable permanently',
  async (accepted, encoding, text) => {
    const response = await fetch(`${url}/origin/apps/-/assets/main-1.js`, {
      headers: { 'accept-encoding': accepted },
      method: 'HEAD',
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(text.length),
      vary: 'Accept-Encoding',
    })
    expect(response.headers.get('content-encoding')).toBe(encoding)
  },
)

test.each(['secret.txt', 'assets.json', 'main-1.js.br', '..%2fsecret.txt', 'main-2.js'])(
  'returns 404 for a file that the build does not list: %s',
  async (name) => {
    expect((await get(`/-/assets/${name}`)).status).toBe(404)
  },
)
