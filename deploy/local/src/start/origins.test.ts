import { expect, test } from '@jest/globals'
import { buildOrigins } from './origins.js'

const gateway = 'http://127.0.0.1:8080'
const localhost = { public: 'http://localhost:8080', apps: 'http://apps.localhost:8080' }

test.each<[string, Record<string, string>, object]>([
  ['nothing is set', {}, { gateway, ...localhost }],
  ['variables are empty', { HOST: '', PUBLIC_ORIGIN: '' }, { gateway, ...localhost }],
  ['it listens on all addresses', { HOST: '0.0.0.0' }, { gateway, ...localhost }],
  ['it listens on the loopback of IPv6', { HOST: '::1' }, { gateway: 'http://[::1]:8080', ...localhost }],
  [
    'it listens on one address of the network, which localhost does not lead to',
    { HOST: '192.0.2.7' },
    { gateway: 'http://192.0.2.7:8080', public: 'http://192.0.2.7:8080', apps: undefined },
  ],
  [
    'people use another name, below which there may be no apps',
    { PUBLIC_ORIGIN: 'https://ops.example' },
    { gateway, public: 'https://ops.example', apps: undefined },
  ],
  [
    'people use localhost behind a proxy',
    { PUBLIC_ORIGIN: 'https://localhost:8443' },
    { gateway, public: 'https://localhost:8443', apps: 'https://apps.localhost:8443' },
  ],
])('computes the gateway, public and app origins where %s', (_what, environment, origins) => {
  expect(buildOrigins(8080, environment)).toEqual(origins)
})
