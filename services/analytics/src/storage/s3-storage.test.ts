import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { createOutbound, createOutboundHttp, type Outbound } from '@opsplane/http'
import { MissingObjectError } from './object-storage.js'
import { s3Storage } from './s3-storage.js'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret that is nowhere on the wire' }
const objects = new Map<string, Buffer>()
let server: Server
let outbound: Outbound
let url = ''
/** Everything sent over the wire, to search it for secrets. */
let wire = ''

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Verifies Signature Version 4 according to its specification, independently of the client's implementation. */
function isSigned({ method, url: path = '', headers }: IncomingMessage, body: Buffer): boolean {
  const [, credential = '', signed = '', signature = ''] =
    /Credential=([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(headers.authorization ?? '') ?? []
  const [, day = '', region = '', service = ''] = credential.split('/')
  const canonical = [
    ...[method, path, ''],
    ...signed.split(';').map((name) => `${name}:${String(headers[name])}`),
    ...['', signed, sha256(body)],
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${keys.secretAccessKey}`,
  )
  return hmac(key, text).toString('hex') === signature && headers['x-amz-content-sha256'] === sha256(body)
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await buffer(request)
    wire += JSON.stringify(request.rawHeaders)
    const { method, url: path = '' } = request
    const answer = (status: number, content: string | Buffer = '') => response.writeHead(status).end(content)
    if (!isSigned(request, body)) return answer(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    if (path.includes('denied')) return answer(403, '<Error><Code>AccessDenied</Code></Error>')
    if (method === 'PUT') {
      objects.set(path, body)
      return answer(200)
    }
    if (method === 'DELETE') return answer(objects.delete(path) ? 204 : 404)
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    const found = objects.get(path)
    return found ? answer(206, found.subarray(Number(from), Number(to) + 1)) : answer(404)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  outbound = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: 'loopback' })
})
afterAll(async () => {
  await outbound?.close()
  server?.closeAllConnections()
  server?.close()
})

const { signal } = new AbortController()
const objectOf = (name: string, bytes = Buffer.from('x')) => ({ name, bytes, sha256: sha256(bytes) })
const storageBy = (guard: Outbound, secretAccessKey = keys.secretAccessKey) =>
  s3Storage({
    ...{ endpoint: url, region: 'eu-central-1', bucket: 'files', prefix: 'opsplane' },
    ...{ ...keys, secretAccessKey, http: createOutboundHttp(guard) },
  })

it('puts an object, reads ranges of it, including large ones, and removes it', async () => {
  const storage = storageBy(outbound)
  const content = Buffer.alloc(9_000_000, 'some bytes ')
  await storage.put(objectOf('exp_1/1-0', content), signal)
  expect([...objects.keys()]).toEqual(['/files/opsplane/exp_1/1-0'])
  const whole = await storage.get('exp_1/1-0', { from: 0, to: content.length - 1 }, signal)
  expect(content.equals(whole)).toBe(true)
  const some = await storage.get('exp_1/1-0', { from: 5, to: 14 }, signal)
  expect(Buffer.from(some).toString()).toBe(content.subarray(5, 15).toString())
  await storage.remove('exp_1/1-0', signal)
  await storage.remove('exp_1/1-0', signal)
  await expect(storage.get('exp_1/1-0', { from: 0, to: 1 }, signal)).rejects.toThrow(MissingObjectError)
  expect(wire).not.toContain(keys.secretAccessKey)
})

it('reports the error code of the storage, and is rejected with a wrong secret key', async () => {
  await expect(storageBy(outbound).put(objectOf('denied'), signal)).rejects.toThrow('403 AccessDenied')
  const other = storageBy(outbound, 'another secret')
  await expect(other.put(objectOf('a'), signal)).rejects.toThrow('403 SignatureDoesNotMatch')
})

it('connects only to addresses that the outbound guard allows', async () => {
  const strict = createOutbound({ allowedCidrs: [], allowHttp: 'loopback' })
  try {
    await expect(storageBy(strict).put(objectOf('a'), signal)).rejects.toThrow(/not allowed|address/i)
    expect([...objects.keys()]).toEqual([])
  } finally {
    await strict.close()
  }
})
