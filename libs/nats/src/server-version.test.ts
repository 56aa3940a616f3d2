import { expect, test } from '@jest/globals'
import { isSupportedServer, minServerVersion } from './server-version.js'

test.each([
  [minServerVersion, true],
  ['nats-server: v2.15.1', true],
  ['2.14.3-RC.1', true],
  ['3.0.0', true],
  ['2.13.9', false],
  ['nats-server: v2.9.10', false],
  ['1.20.0', false],
  ['unknown', false],
  ['', false],
])('whether the version %j is supported: %j', (version, isSupported) => {
  expect(isSupportedServer(version)).toBe(isSupported)
})
