import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { generate } from 'selfsigned'
import { z } from 'zod'
import { defineRoute, type InternalTls, readInternalTls, serviceClient } from '../index.js'
import { issuerFor, startTestApp, type TestApp } from '../server/test-app.fixture.js'

/** A self-signed certificate that is also its own CA. */
async function certificate(): Promise<InternalTls> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...{ algorithm: 'sha256', keyType: 'ec' },
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  })
  return { cert: made.cert, key: made.private, ca: made.cert, mutual: true }
}

const route = defineRoute({
  ...{ operationId: 'echo', method: 'post', path: '/internal/echo', summary: 'x', tag: 'internal' },
  ...{ scope: 'service', callers: ['itsm'] },
  body: z.object({ text: z.string() }),
  response: z.object({ text: z.string() }),
  handler: async ({ body }) => body,
})

let own: InternalTls
let app: TestApp
beforeAll(async () => {
  own = await certificate()
  app = await startTestApp([route], {}, { tls: own })
})
afterAll(() => app.close())

async function echo(tls: InternalTls | undefined, scheme = 'https'): Promise<unknown> {
  const baseUrl = app.url.replace('http', scheme)
  const client = serviceClient({
    baseUrl,
    audience: 'sut',
    issuer: issuerFor('itsm'),
    timeoutMs: 60_000,
    tls,
  })
  try {
    return await client.post('/internal/echo', { text: 'hi' }, z.unknown())
  } finally {
    await client.close()
  }
}

test('services call each other over mutual TLS, and reject peers without a trusted certificate', async () => {
  expect(await echo(own)).toEqual({ text: 'hi' })
  const unreachable = { code: 'service_unavailable' }
  const stranger = await certificate()
  // A foreign server, callers without a certificate or with a foreign one, and no TLS at all.
  await expect(echo(stranger)).rejects.toMatchObject(unreachable)
  await expect(echo({ ...stranger, ca: own.ca })).rejects.toMatchObject(unreachable)
  await expect(echo({ cert: '', key: '', ca: own.ca, mutual: false })).rejects.toMatchObject(unreachable)
  await expect(echo(undefined)).rejects.toMatchObject(unreachable)
  await expect(echo(own, 'http')).rejects.toMatchObject(unreachable)
})

test.each([
  ['never sent anything', '', 600_000],
  // The first bytes of a longer handshake message.
  ['has only begun its handshake', '\x16\x03\x01\x02\x00', 30],
])('a connection that %s does not delay the shutdown', async (_what, bytes, drainTimeoutMs) => {
  const ending = await startTestApp([route], {}, { tls: own, drainTimeoutMs })
  const accepted = once(ending.listening.server, 'connection')
  const silent = connect(ending.listening.port, '127.0.0.1')
  silent.on('error', () => undefined)
  const [socket] = await accepted
  silent.write(bytes, 'latin1')
  while (socket.bytesRead < bytes.length) await new Promise(setImmediate)
  const gone = once(silent, 'close')
  await ending.close()
  await gone
})

test('the TLS files must all be configured and must exist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'internal-tls-'))
  const at = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const files = {
    internalTlsCertFile: at('cert.pem', own.cert),
    internalTlsKeyFile: at('key.pem', own.key),
    internalTlsCaFile: at('ca.pem', own.ca),
  }
  const read = (changes: object) => readInternalTls({ ...files, internalTlsMutual: true, ...changes })
  expect(read({})).toEqual(own)
  const none = { internalTlsCertFile: undefined, internalTlsKeyFile: undefined, internalTlsCaFile: undefined }
  expect(read({ ...none, internalTlsMutual: false })).toBeUndefined()
  expect(() => read(none)).toThrow('belong together')
  expect(() => read({ internalTlsKeyFile: undefined })).toThrow('belong together')
  expect(() => read({ internalTlsCaFile: join(folder, 'none') })).toThrow('INTERNAL_TLS_CA_FILE')
  rmSync(folder, { recursive: true })
})
