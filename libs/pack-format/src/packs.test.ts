import { describe, expect, test } from '@jest/globals'
import { ArtifactPermissions, ArtifactTest, type JsonValue } from '@opsplane/contracts'
import fc from 'fast-check'
import {
  compareOutcome,
  compareVersions,
  findMissingPermissions,
  mergePermissions,
  readPack,
  recordedHost,
} from './index.js'
import { findDifferences } from './testing/differences.js'

describe('versions', () => {
  // The order given on semver.org.
  const ordered = [
    ...['0.9.10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2'],
    ...['1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1-a-b', '1.2.0', '1.10.0', '2.0.0'],
  ]
  test('are ordered by semantic versioning', () => {
    const shuffled = fc.shuffledSubarray(ordered, { minLength: ordered.length })
    fc.assert(fc.property(shuffled, (some) => expect([...some].sort(compareVersions)).toEqual(ordered)))
  })
  test('are equal to themselves', () => {
    for (const version of ordered) expect(compareVersions(version, version)).toBe(0)
  })
})

describe('permissions', () => {
  const of = (given: object) => ArtifactPermissions.parse(given)
  const first = of({ api: ['b'], tables: { assets: ['read'] } })
  const second = of({ api: ['a', 'b'], tables: { assets: ['write'], people: ['read'] } })

  test('of several artifacts are merged', () => {
    const tables = { assets: ['read', 'write'], people: ['read'] }
    expect(mergePermissions([first, second])).toEqual(of({ api: ['a', 'b'], tables }))
  })
  test('that are not granted are reported, and no others', () => {
    expect(findMissingPermissions(second, first)).toEqual({
      api: ['a'],
      tables: { assets: ['write'], people: ['read'] },
    })
    expect(findMissingPermissions(second, mergePermissions([first, second]))).toBeUndefined()
    expect(findMissingPermissions(of({ http: ['api.example.com'] }), of({ http: ['*'] }))).toEqual({
      http: ['api.example.com'],
    })
  })
})

describe('a manifest', () => {
  const artifact = { slug: 'greet', kind: 'workflow_action', source: 'a.ts' }
  const read = (more: object, files: Record<string, string> = {}) =>
    readPack({
      manifest: {
        format: 'opsplane.pack/1',
        name: 'p',
        version: '1.0.0',
        artifacts: [{ ...artifact, ...more }],
      },
      files: { 'a.ts': 'x', ...files },
    })
  const places = (more: object, files?: Record<string, string>) =>
    read(more, files).problems.map(({ file, path, code }) => `${file}#${path} ${code}`)

  test('may reference schemas and tests in separate files', () => {
    const files = { 'in.json': '{"type":"object"}', 'tests.json': '[{"name":"works"}]' }
    const { problems, artifacts } = read({ input: 'in.json', tests: 'tests.json' }, files)
    expect(problems).toEqual([])
    expect(artifacts[0]).toMatchObject({
      inputSchema: { type: 'object' },
      tests: [{ name: 'works' }],
      api: null,
    })
  })
  test.each<[string, object, Record<string, string>, ...string[]]>([
    [
      'a file that is not there',
      { input: 'none.json' },
      {},
      'opsplane.pack.json#/artifacts/0/input missing_file',
    ],
    ['a file that is no JSON', { output: 'o.json' }, { 'o.json': '{' }, 'o.json# malformed_json'],
    ['tests that are none', { tests: 't.json' }, { 't.json': '[{"name":1}]' }, 't.json#/0/name invalid_type'],
    [
      'a rule without its events',
      { kind: 'business_rule' },
      {},
      'opsplane.pack.json#/artifacts/0/rule custom',
    ],
    [
      'a rule on an event that there is not',
      { kind: 'business_rule', rule: { events: ['incident.created', 'incident.exploded', 'incidents.*'] } },
      {},
      'opsplane.pack.json#/artifacts/0/rule/events/1 unknown_event',
      'opsplane.pack.json#/artifacts/0/rule/events/2 unknown_event',
    ],
    [
      'a path that leads out',
      { source: '../a.ts' },
      {},
      'opsplane.pack.json#/artifacts/0/source invalid_format',
    ],
    [
      'limits beyond what there are',
      { limits: { memoryMb: 4_096 } },
      {},
      'opsplane.pack.json#/artifacts/0/limits/memoryMb too_big',
    ],
  ])('with %s is rejected with the path of the problem', (_, more, files, ...expected) => {
    expect(places(more, files)).toEqual(expected)
  })

  test('with a rule on an unknown event is rejected with a suggestion', () => {
    const { problems } = read({ kind: 'business_rule', rule: { events: ['incident.creatd'] } })
    expect(problems[0]?.message).toBe(
      'matches no event there is; did you mean incident.created? GET /events/catalog lists all',
    )
  })
})

const testOf = (fields: object) => ArtifactTest.parse({ name: 'test', ...fields })
const done = (output: JsonValue) => ({ status: 'completed', output, error: null, logs: [] })
const failed = {
  status: 'failed',
  output: null,
  error: { code: 'error', message: 'no such thing' },
  logs: [],
}

describe('recorded calls', () => {
  const host = [
    { call: 'http', with: { url: 'a' }, returns: 1 },
    { call: 'http', with: { url: 'b' }, throws: { code: 'away', message: 'Away.' } },
    { call: 'table', times: 2 },
  ]
  test('are answered in order, and report no differences once all were made', () => {
    const recorded = recordedHost(testOf({ host }))
    expect(recorded.answer('http', { url: 'a', method: 'GET' })).toEqual({ returns: 1 })
    expect(recorded.answer('http', { url: 'b' })).toEqual({ throws: { code: 'away', message: 'Away.' } })
    expect(recorded.answer('table', null)).toEqual({ returns: null })
    expect(recorded.differences()).toMatchObject([{ path: 'host/2', expected: 2, actual: 1 }])
    recorded.answer('table', null)
    expect(recorded.differences()).toEqual([])
  })
  test('that differ are reported field by field', () => {
    const recorded = recordedHost(testOf({ host }))
    expect(recorded.answer('http', { url: 'b' })).toMatchObject({ throws: { code: 'unrecorded_call' } })
    expect(recorded.differences()[0]).toEqual({
      ...{ path: 'host/0/with/url', message: 'is another value', expected: 'a', actual: 'b' },
    })
    expect(recordedHost(testOf({})).answer('publish', {})).toMatchObject({
      throws: { code: 'unrecorded_call' },
    })
  })
  test('may be made in any order if the test allows it', () => {
    const recorded = recordedHost(testOf({ host: host.slice(0, 2), anyOrder: true }))
    expect(recorded.answer('http', { url: 'b' })).toHaveProperty('throws.code', 'away')
    expect(recorded.answer('http', { url: 'a' })).toEqual({ returns: 1 })
    expect(recorded.answer('http', { url: 'a' })).toHaveProperty('throws.code', 'unrecorded_call')
  })
})

describe('the outcome of an artifact test', () => {
  test.each<[string, object, Parameters<typeof compareOutcome>[1], string[]]>([
    ['as expected', { output: { a: 1 } }, done({ a: 1 }), []],
    ['with more than expected', { output: { a: 1 } }, done({ a: 1, b: 2 }), ['output/b']],
    [
      'with more, as it may have',
      { outputIncludes: { a: [{ c: 1 }] } },
      done({ a: [{ c: 1, d: 2 }], b: 2 }),
      [],
    ],
    ['of another length', { outputIncludes: [1] }, done([1, 2]), ['output']],
    ['a failure', { output: 1 }, failed, ['status']],
    ['no failure', { error: {} }, done(1), ['status']],
    ['the failure', { error: { code: 'error', message: 'such' } }, failed, []],
    [
      'another failure',
      { error: { code: 'other', message: 'nothing' } },
      failed,
      ['error/code', 'error/message'],
    ],
  ])('is compared with the expectation: %s', (_, expect_, outcome, paths) => {
    expect(compareOutcome(testOf({ expect: expect_ }), outcome).map(({ path }) => path)).toEqual(paths)
  })
  test('matches the expected log entries in order, among other entries', () => {
    const logs = ['one', 'two', 'three'].map((message) => ({ level: 'info', message }))
    const judged = (...messages: string[]) =>
      compareOutcome(testOf({ expect: { logs: messages.map((message) => ({ message })) } }), {
        ...done(null),
        logs,
      })
    expect(judged('on', 'thr')).toEqual([])
    expect(judged('three', 'one')).toMatchObject([{ path: 'logs/1', expected: 'one' }])
  })
  test('has no differences from itself, and at least one from any other value', () => {
    const options = { path: '', partial: false }
    const sameJson = (a: unknown, b: unknown) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [left, right] = [a, b].map((value) => JSON.parse(JSON.stringify(value)) as unknown)
        expect(findDifferences(left, left, options)).toEqual([])
        expect(findDifferences(left, right, options).length === 0).toBe(sameJson(left, right))
      }),
    )
  })
})

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}
