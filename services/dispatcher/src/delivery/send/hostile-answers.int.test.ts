import { afterAll, describe, expect, it } from '@jest/globals'
import {
  drip,
  flood,
  head,
  onRequest,
  respond,
  respondRaw,
  respondRawAndReset,
  startHostileReceiver,
} from '../../fixture/hostile-receivers.js'
import { describeHostileEndpoints } from '../../fixture/hostile-suite.js'

const short = { timeoutMs: 200 }
/** Long enough to receive a status line on a busy machine. */
const unhurried = { timeoutMs: 5_000 }
const cut = { keeps: { truncated: true } }
const inside = await startHostileReceiver((socket) => socket.end(head(200)))
afterAll(() => inside.stop())
/** The start of a gzip file with a file name that is never terminated by NUL. */
const namedGzip = Buffer.from('1f8b0808000000000003', 'hex')
const redirects = [301, 302, 303, 307, 308]

describeHostileEndpoints('a delivery to an endpoint whose answer is no good', [
  { name: 'headers drip for ever', behave: drip('HTTP/1.1 200 OK\r\nx: ', 'y'), ...short, fails: 'timeout' },
  {
    name: 'a body drips for ever',
    behave: drip(head(200, { 'content-length': 1_000_000 }), 'y'),
    ...unhurried,
    ...cut,
  },
  {
    name: 'a chunked body drips for ever',
    behave: drip(head(200, { 'transfer-encoding': 'chunked' }), '1\r\ny\r\n'),
    ...unhurried,
    ...cut,
  },
  {
    name: 'a compressed body drips for ever',
    behave: drip(Buffer.concat([Buffer.from(head(200, { 'content-encoding': 'gzip' })), namedGzip]), 'y'),
    ...unhurried,
    ...cut,
  },
  {
    name: 'the extension of a chunk never ends',
    behave: flood(`${head(200, { 'transfer-encoding': 'chunked' })}1;`, 'x'.repeat(4096)),
    ...cut,
  },
  {
    name: 'trailers never end',
    behave: flood(`${head(200, { 'transfer-encoding': 'chunked' })}0\r\n`, 'a: b\r\n'.repeat(500)),
    ...cut,
  },
  {
    name: 'a connection is reset after the headers',
    behave: respondRawAndReset(head(200, { 'content-length': 10 })),
    ...cut,
  },
  {
    name: 'a connection is reset in the middle of the body',
    behave: respondRawAndReset(`${head(200, { 'content-length': 10 })}half`),
    ...cut,
  },
  {
    name: 'a connection ends before the announced length',
    behave: onRequest((socket) => socket.end(`${head(200, { 'content-length': 10 })}half`)),
    ...cut,
  },
  {
    name: 'a connection ends in the middle of a compressed body',
    behave: onRequest((socket) =>
      socket.end(`${head(200, { 'content-length': 10, 'content-encoding': 'gzip' })}\x1f`),
    ),
    ...cut,
  },
  { name: 'it is no HTTP', behave: respondRaw('220 mail.example ESMTP\r\n'), fails: 'protocol' },
  { name: 'it is binary garbage', behave: respondRaw(Buffer.alloc(5_000, 0xfe)), fails: 'protocol' },
  { name: 'it is HTTP without a status', behave: respondRaw('HTTP/1.1 \r\n\r\n'), fails: 'protocol' },
  {
    name: 'it has two lengths',
    behave: respondRaw('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    fails: 'protocol',
  },
  {
    name: 'it has both a length and chunks',
    behave: respondRaw(
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ),
    fails: 'protocol',
  },
  { name: 'a header holds NUL', behave: respondRaw('HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n'), fails: 'protocol' },
  {
    name: 'headers never end',
    behave: flood('HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(500)),
    fails: 'protocol',
  },
  {
    name: 'one header never ends',
    behave: flood('HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(4096)),
    fails: 'protocol',
  },
  {
    name: 'it sends 100 Continue unasked',
    behave: respondRaw(`${head(100)}${head(103)}${head(200, { 'content-length': 2 })}ok`),
    keeps: { truncated: false, body: 'ok' },
  },
  { name: 'it asks to continue for ever', behave: flood('', head(100)), fails: 'protocol' },
  {
    name: 'early hints never end',
    behave: flood('', head(103, { link: '</a>; rel=preload' })),
    fails: 'protocol',
  },
  { name: 'processing never ends', behave: flood('', head(102)), fails: 'protocol' },
  {
    name: 'it switches protocols unasked',
    behave: respondRaw(head(101, { upgrade: 'websocket', connection: 'upgrade' })),
    fails: 'protocol',
  },
  { name: 'it is 500', behave: respond(500, {}, 'oops'), fails: 500, reported: 'answered 500' },
  { name: 'it is 404', behave: respond(404), fails: 404, reported: 'answered 404' },
  {
    name: 'it is 503 and to be tried in years',
    behave: respond(503, { 'retry-after': 999_999_999 }),
    fails: 503,
  },
  {
    name: 'it is 429 and to be tried in another century',
    behave: respond(429, { 'retry-after': 'Fri, 01 Jan 2199 00:00:00 GMT' }),
    fails: 429,
  },
  {
    name: 'it is 503 and to be tried in no time that makes sense',
    behave: respond(503, { 'retry-after': '-1e999, soon' }),
    fails: 503,
  },
  {
    name: 'it is 500 and never ends',
    behave: flood(head(500, { 'transfer-encoding': 'chunked' }), '1\r\nx\r\n'.repeat(500)),
    fails: 500,
  },
  {
    name: 'it is 502 and its body stalls',
    behave: respondRaw(`${head(502, { 'content-length': 100 })}half`),
    ...unhurried,
    fails: 502,
  },
  {
    name: 'it is 503 and is reset in the middle of the body',
    behave: respondRawAndReset(`${head(503, { 'content-length': 100 })}half`),
    fails: 503,
  },
  ...redirects.map((status) => ({
    name: `it is ${status} to the metadata address`,
    behave: respond(status, { location: 'http://169.254.169.254/latest/meta-data/' }),
    fails: status,
    reported: `answered ${status}`,
  })),
  ...redirects.map((status) => ({
    name: `it is ${status} to a server inside`,
    behave: respond(status, { location: inside.url.replace('https', 'http') }),
    fails: status,
  })),
  {
    name: 'it is 200 with a refresh to a server inside',
    behave: respond(200, { refresh: `0; url=${inside.url}`, link: `<${inside.url}>; rel=preload` }),
    keeps: { truncated: false, body: '' },
  },
])

describe('an internal server that endpoints redirect to', () => {
  it('is never called', () => {
    expect(inside.connections()).toBe(0)
  })
})
