import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'

const folder = fileURLToPath(new URL('../../../../helm/opsplane', import.meta.url))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

type Map = Record<string, unknown>
const isMap = (value: unknown): value is Map =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const schema: Map = JSON.parse(read('values.schema.json'))
const resolved = (part: unknown): Map => {
  if (!isMap(part)) return {}
  const [, name] = /^#\/\$defs\/(.*)$/.exec(String(part.$ref)) ?? []
  return name === undefined ? part : resolved(isMap(schema.$defs) ? schema.$defs[name] : undefined)
}

/** Paths of all values of a schema, such as `defaults.strategy.maxSurge`; an object with arbitrary keys is one value. */
function valuesOf(part: unknown, path = ''): string[] {
  const { properties, additionalProperties } = resolved(part)
  if (!isMap(properties) || additionalProperties !== false) return [path]
  return Object.entries(properties).flatMap(([key, inner]) => valuesOf(inner, path ? `${path}.${key}` : key))
}

const has = (values: unknown, path: string): boolean => {
  const [key = '', ...rest] = path.split('.')
  if (!isMap(values) || !(key in values)) return false
  return rest.length === 0 || has(values[key], rest.join('.'))
}

// Excluded: values of one service are those of `defaults`; variables are documented by the services; Helm adds
// `global` itself; and `claims` refer to devices that no service uses.
const all = valuesOf(schema).filter(
  (path) => !/^(services\.|defaults\.config\.|global$)|\.claims$/.test(path),
)
/** Kubernetes' own defaults, absent unless set. */
const absent = [/^probes\.\w+\.initialDelaySeconds$/, /^postgresql\.cnpg\.resources\./]

describe('every value of the schema', () => {
  test('has its default in values.yaml', () => {
    const values = parse(read('values.yaml'))
    const missing = all.filter((path) => !has(values, path))
    expect(missing.filter((path) => !absent.some((pattern) => pattern.test(path)))).toEqual([])
  })

  test('is set by at least one example, so that its manifests are validated', () => {
    const examples = readdirSync(join(folder, 'examples')).map((name) => parse(read(`examples/${name}`)))
    const isShown = (path: string) =>
      examples.some(
        (example) =>
          has(example, path) ||
          (path.startsWith('defaults.') &&
            Object.values(example.services ?? {}).some((own) => has(own, path.slice('defaults.'.length)))),
      )
    expect(all.filter((path) => !isShown(path))).toEqual([])
  })

  test('is found: more than 120 values, nested ones included', () => {
    expect(all.length).toBeGreaterThan(120)
    expect(all).toEqual(
      expect.arrayContaining(['extraObjects', 'backup.keep', 'networkPolicy.postgres.ports']),
    )
  })
})
