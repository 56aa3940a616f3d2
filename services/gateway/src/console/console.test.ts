import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startPlatform, type TestPlatform } from '../fixture/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())

/** Does not use fetch, which sets its own Sec-Fetch-Mode and resolves dots in paths. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
    (resolve, reject) => {
      request(platform.url, { path, method, headers }, async (response) => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: await buffer(response),
        })
      })
        .on('error', reject)
        .end()
    },
  )
}

const visit = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }
const old = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const script = { 'sec-fetch-mode': 'cors', accept: 'text/html' }

describe('the page of the console', () => {
  test.each([
    ['the start', '/', visit],
    ['a page of an environment', '/w/acme/production/events/evt_1?tab=raw', visit],
    ['what is nowhere', '/nowhere', visit],
    ['a browser that names no mode', '/sign-in', old],
  ])('is returned to a browser: %s', async (_, path, headers) => {
    const { status, headers: answered, bytes } = await ask(path, headers)
    expect([status, answered['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(String(bytes)).toContain('<div id="console">')
    expect((await ask(path, headers, 'HEAD')).status).toBe(200)
  })

  test.each([
    ['a program', '/nowhere', {}, 'GET'],
    ['a script of a page', '/w/acme/production/events', script, 'GET'],
    ['what is not only read', '/sign-in', visit, 'POST'],
    ['the API', '/api/v1/nowhere', visit, 'GET'],
    ['what is below it', '/api', visit, 'GET'],
    ['an asset that is not there', '/console/assets/nothing.js', visit, 'GET'],
    ['a file next to the assets', '/console/assets/assets.json', visit, 'GET'],
    ['a file above them', '/console/assets/..%2f..%2fpackage.json', visit, 'GET'],
  ])('is not returned for %s', async (_, path, headers, method) => {
    const { status, bytes } = await ask(path, headers, method)
    expect([status, JSON.parse(String(bytes)).error.code]).toEqual([
      404,
      expect.stringMatching(/^(route_)?not_found$/),
    ])
  })

  test('does not replace the redirect from / for programs', async () => {
    const { status, headers } = await ask('/')
    expect([status, headers.location]).toEqual([302, '/api/v1/docs'])
  })

  test('allows only resources of its own origin, nothing inline, and no frame around it', async () => {
    const { headers, bytes } = await ask('/', visit)
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
        ...["base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"],
        ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
      ]),
    )
    expect(policy.filter((rule) => /unsafe|https?:|\*/.test(rule))).toEqual([])
    const page = String(bytes)
    expect(page.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/g)).toBeNull()
    expect(page.match(/(?:src|href)="(?!\/console\/assets\/|data:)/g)).toBeNull()
  })

  test('identifies its build by the path of its script, for pages that were loaded earlier', async () => {
    const { headers, bytes } = await ask('/console/version', script)
    expect([headers['content-type'], headers['cache-control']]).toEqual([
      ...['application/json; charset=utf-8', 'no-cache'],
    ])
    const page = String((await ask('/', visit)).bytes)
    expect(page).toContain(`<script type="module" src="${JSON.parse(String(bytes)).script}"></script>`)
  })

  test('refers to assets that are immutable and compressed', async () => {
    const page = String((await ask('/', visit)).bytes)
    const assets = [...page.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(assets.length).toBeGreaterThan(3)
    for (const path of assets) {
      const plain = await ask(path)
      expect([path, plain.status, plain.headers['cache-control']]).toEqual([
        ...[path, 200, 'public, max-age=31536000, immutable'],
      ])
      const packed = await ask(path, { 'accept-encoding': 'br' })
      if (path.endsWith('.woff2')) expect(packed.headers['content-type']).toBe('font/woff2')
      else expect(brotliDecompressSync(packed.bytes).equals(plain.bytes)).toBe(true)
    }
  })
})
