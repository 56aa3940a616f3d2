import { onRequest, respondRaw } from '../../fixture/hostile-receivers.js'
import { describeHostileEndpoints } from '../../fixture/hostile-suite.js'

const short = { timeoutMs: 200 }

describeHostileEndpoints('a delivery to an endpoint that cannot be connected to', [
  {
    name: 'it accepts and never does TLS',
    tls: 'none',
    behave: (socket) => socket.resume(),
    ...short,
    fails: 'timeout',
  },
  {
    name: 'it stops in the middle of the TLS handshake',
    tls: 'none',
    behave: (socket) => socket.on('data', () => socket.write(Buffer.from('160303004a', 'hex'))),
    ...short,
    fails: 'timeout',
  },
  {
    name: 'it closes every connection at once',
    tls: 'none',
    behave: (socket) => socket.destroy(),
    fails: 'connect',
  },
  {
    name: 'it resets every connection at once',
    tls: 'none',
    behave: (_socket, reset) => reset(),
    fails: 'connect',
  },
  {
    name: 'it speaks plain HTTP',
    tls: 'none',
    behave: (socket) => socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    fails: 'tls',
  },
  {
    name: 'its certificate has expired',
    tls: 'expired',
    behave: respondRaw(''),
    fails: 'tls',
    reported: 'expired',
  },
  {
    name: 'its certificate is for another host',
    tls: 'otherHost',
    behave: respondRaw(''),
    fails: 'tls',
    reported: 'another host',
  },
  {
    name: 'its certificate has an unknown issuer',
    tls: 'unknown',
    behave: respondRaw(''),
    fails: 'tls',
    reported: 'not trusted',
  },
  { name: 'it knows TLS 1.1 at most', tls: 'outdated', behave: respondRaw(''), fails: 'tls' },
  { name: 'it never answers', behave: onRequest(() => {}), ...short, fails: 'timeout' },
  { name: 'it closes after the request', behave: onRequest((socket) => socket.destroy()), fails: 'reset' },
  {
    name: 'it resets after the request',
    behave: onRequest((_socket, _count, reset) => reset()),
    fails: 'reset',
  },
])
