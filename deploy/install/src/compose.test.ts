import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { prepareLocal } from './compose.js'

const folder = mkdtempSync(join(tmpdir(), 'opsplane-compose-'))
afterAll(() => rmSync(folder, { recursive: true }))

const servers = { POSTGRES_URL: 'postgres://postgres@postgres:5432/opsplane', NATS_URL: 'nats://nats:4222' }

test.each<[string, Record<string, string>, string]>([
  ['the port it is published at', { PUBLIC_ORIGIN: '', PUBLIC_PORT: '18080' }, 'http://localhost:18080'],
  [
    'the origin that is named',
    { PUBLIC_ORIGIN: 'https://ops.example.com', PUBLIC_PORT: '18080' },
    'https://ops.example.com',
  ],
  ['8080 unless it is said', {}, 'http://localhost:8080'],
])('PUBLIC_ORIGIN of the services is derived from %s', async (_what, place, origin) => {
  await prepareLocal(folder, { ...servers, ...place })
  for (const service of ['gateway', 'analytics', 'settings'])
    expect(readFileSync(join(folder, 'env', `${service}.env`), 'utf8')).toContain(`PUBLIC_ORIGIN='${origin}'`)
})

test.each<[string, Record<string, string>, string | undefined]>([
  ['the one that is named', { APPS_ORIGIN: 'https://apps.example.com' }, 'https://apps.example.com'],
  ['one of this machine', { PUBLIC_PORT: '18080' }, 'http://apps.localhost:18080'],
  [
    'none where people use a name that is not of this machine',
    { PUBLIC_ORIGIN: 'https://ops.example.com' },
    undefined,
  ],
])('only the gateway has APPS_ORIGIN: %s', async (_what, place, origin) => {
  await prepareLocal(folder, { ...servers, ...place })
  const found = ['gateway', 'apps'].map(
    (service) =>
      /^APPS_ORIGIN='(.*)'$/m.exec(readFileSync(join(folder, 'env', `${service}.env`), 'utf8'))?.[1],
  )
  expect(found).toEqual([origin, undefined])
})
