import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { chunk, flood, head, onRequest, respond, respondRaw } from '../../fixture/hostile-receivers.js'
import { describeHostileEndpoints } from '../../fixture/hostile-suite.js'

const cap = 64 * 1024
const zeros = Buffer.alloc(32 * 1024 * 1024, 'z')
const gzipped = gzipSync(zeros)
const packed = (encoding: string) => ({ 'content-encoding': encoding })
const chunked = { 'transfer-encoding': 'chunked' }

describeHostileEndpoints('a delivery to an endpoint whose answer is too much, or odd', [
  {
    name: 'chunks without end',
    behave: flood(head(200, chunked), chunk('x'.repeat(4096))),
    keeps: { truncated: true, bytes: cap },
  },
  {
    name: 'a length of 1 GiB',
    behave: flood(head(200, { 'content-length': 2 ** 30 }), 'x'.repeat(4096)),
    keeps: { truncated: true, bytes: cap },
  },
  {
    name: 'a body that ends with the connection, which it never does',
    behave: flood(head(200), 'x'.repeat(4096)),
    keeps: { truncated: true, bytes: cap },
  },
  {
    // Concatenated members form one gzip file: without the limit it would be decompressed without end.
    name: 'a gzip bomb without end',
    behave: flood(head(200, { ...chunked, ...packed('gzip') }), chunk(gzipped)),
    keeps: { truncated: true, bytes: cap },
  },
  {
    name: 'a deflate bomb',
    behave: respond(200, packed('deflate'), deflateSync(zeros)),
    keeps: { truncated: true, bytes: cap },
  },
  {
    name: 'a brotli bomb',
    behave: respond(
      200,
      packed('br'),
      brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ),
    keeps: { truncated: true, bytes: cap },
  },
  {
    name: 'a gzip bomb within gzip, which is left packed',
    behave: respond(200, packed('gzip, gzip'), gzipSync(gzipped)),
    keeps: { truncated: false },
  },
  {
    name: 'an unknown encoding',
    behave: respond(200, packed('rot13'), 'uryyb'),
    keeps: { truncated: false, body: 'uryyb' },
  },
  {
    name: 'gzip that is none',
    behave: respond(200, packed('gzip'), 'plain'),
    keeps: { truncated: true, body: '' },
  },
  {
    name: 'gzip that breaks in the middle',
    behave: respond(200, packed('gzip'), gzipSync('a fine text').subarray(0, -4)),
    keeps: { truncated: true },
  },
  {
    name: 'gzip with something behind it',
    behave: respond(200, packed('gzip'), Buffer.concat([gzipSync('text'), Buffer.from('and more')])),
    keeps: { truncated: true },
  },
  {
    name: 'more than the announced length',
    behave: onRequest((socket) =>
      socket.end(`${head(200, { 'content-length': 2 })}ok and HTTP/1.1 500 more`),
    ),
    keeps: { truncated: false, body: 'ok' },
  },
  {
    name: 'a second answer behind the first',
    behave: onRequest((socket) =>
      socket.end(head(200, { 'content-length': 0 }) + head(500, { 'content-length': 0 })),
    ),
    keeps: { truncated: false, body: '' },
  },
  {
    name: 'a 204 that announces a body',
    behave: respondRaw(`${head(204, { 'content-length': 5 })}extra`),
    keeps: { truncated: true, body: '' },
  },
  {
    name: 'a body of invalid UTF-8, NUL and half a surrogate pair',
    behave: respond(200, {}, Buffer.from([0x61, 0xff, 0xfe, 0x00, 0xed, 0xa0, 0x80, 0x62])),
    keeps: { truncated: false, body: `a${'\ufffd'.repeat(6)}b` },
  },
  {
    name: 'headers of odd bytes',
    behave: onRequest((socket) =>
      socket.end(
        Buffer.from(
          'HTTP/1.1 200 \xff\r\ncontent-length: 0\r\nx-odd: \xff\xfe \x80"\\u0000\r\n\r\n',
          'latin1',
        ),
      ),
    ),
    keeps: { truncated: false, headers: { 'x-odd': '\xff\xfe \x80"\\u0000' } },
  },
  {
    name: 'headers named as what every object has',
    behave: respondRaw(
      'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ntoString: c\r\ntoString: d\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
    ),
    keeps: { truncated: false, headers: { constructor: 'b', tostring: 'c, d' } },
  },
])
