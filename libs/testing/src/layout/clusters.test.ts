import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const folder = fileURLToPath(new URL('../../../../test-e2e/src/', import.meta.url))

/**
 * Reasons for a separate platform instead of the run's shared one: other settings,
 * more replicas, or stopping a part of it.
 */
const reasons =
  /\b(?:extra|postgresFlags)\b|\b(?:tls|metrics): true|\.replica\(|\.kill\(|cluster\.(?:nats|postgres|services\S*)\.stop\(/

const wantsNone = (source: string) => source.includes('startTestCluster(') && !reasons.test(source)

test.each([
  ["cluster = await startTestCluster({ services: ['itsm'] })\nafterAll(() => cluster?.stop())", true],
  ["cluster = await startTestCluster({ extra: { LOG_LEVEL: 'debug' } })", false],
  ['cluster = await startTestCluster()\nawait cluster.services.itsm.stop()', false],
  ["cluster = await startTestCluster()\nawait cluster.replica('gateway')", false],
  ['platform = await joinPlatform()', false],
])('%j starts a cluster without a reason: %s', (source, is) => {
  expect(wantsNone(source)).toBe(is)
})

test('tests start their own platform only where they cannot use the shared one', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.e2e.test.ts'),
  )
  expect(files.length).toBeGreaterThan(40)
  expect(files.filter((file) => wantsNone(readFileSync(`${folder}${file}`, 'utf8')))).toEqual([])
})
