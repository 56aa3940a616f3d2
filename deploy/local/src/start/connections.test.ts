import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { type BackendName, backendNames, serviceNames } from '@opsplane/contracts'
import { mapNames } from '../map-names.js'
import { completeSecrets } from '../secrets.js'
import { type Environment, planServices } from '../service-plan.js'
import { connectionsByServer, countConnections } from './connections.js'

const planOf = (environment: Environment, urls: Partial<Record<BackendName, string>> = {}) =>
  planServices({
    secrets: completeSecrets(),
    databaseUrls: { ...mapNames(backendNames, (name) => `postgres://${name}@db:5432/ops`), ...urls },
    natsUrls: mapNames(serviceNames, () => 'nats://127.0.0.1:1'),
    ports: mapNames(serviceNames, () => 1),
    origin: 'http://127.0.0.1:1',
    environment,
  })
const scaling = readFileSync(fileURLToPath(new URL('../../../../docs/scaling.md', import.meta.url)), 'utf8')

test('one replica of every service opens at most 60 connections, as many as docs/scaling.md states', () => {
  const plan = planOf({})
  const sum = connectionsByServer(plan).get('db:5432') ?? 0
  expect(sum).toBeLessThanOrEqual(60)
  for (const name of backendNames)
    expect(scaling).toMatch(new RegExp(`^\\| ${name} \\|.* ${countConnections(name, plan[name])} \\|$`, 'm'))
  expect(scaling).toMatch(new RegExp(`^\\| together \\|.* ${sum} \\|$`, 'm'))
})

test('connections are counted for each database server by the configuration, without those of a pooler', () => {
  const few = { DATABASE_POOL_SIZE: '3', DATA_SESSIONS: '2' }
  expect([...connectionsByServer(planOf(few))]).toEqual([['db:5432', backendNames.length * 3 + 2]])
  const apart = planOf(few, {
    'database-studio': 'postgres://studio@data/ops',
    itsm: 'postgres://itsm@pool/ops?pooler=transaction',
  })
  expect([...connectionsByServer(apart)]).toEqual([
    ['db:5432', (backendNames.length - 2) * 3],
    ['data', 5],
  ])
})
