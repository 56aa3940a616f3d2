import { expect, test } from '@jest/globals'
import { backendNames, serviceNames, serviceRegistry } from '../index.js'

test('no two services share a path, and no service uses a path reserved for the gateway', () => {
  const paths = serviceNames.flatMap((name): readonly string[] => serviceRegistry[name].paths)
  expect(new Set(paths).size).toBe(paths.length)
  for (const own of ['internal', 'openapi.json', 'openapi.yaml', 'docs']) expect(paths).not.toContain(own)
  for (const path of paths) expect(path).toMatch(/^[a-z][a-z-]*(?:\/[a-z][a-z-]*)?$/)
})

test('every service name is a valid schema name, and the gateway starts last', () => {
  for (const name of backendNames) expect(name.replaceAll('-', '_')).toMatch(/^[a-z][a-z0-9_]*$/)
  expect(serviceNames.at(-1)).toBe('gateway')
})
