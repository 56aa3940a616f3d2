import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Execution, newId } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { type SdkFixture, startSdk } from './invoke.fixture.js'

/**
 * Each hostile artifact ends within its limits, is logged with the right outcome, and does not affect another tenant's
 * invocations.
 */

const endless = 'timeout cpu_timeout'
const full = 'failed out_of_memory'

/** Slug, function body and recorded outcome. */
const cases: [string, string, string][] = [
  ['loops', 'for (;;);', endless],
  ['loops-in-microtasks', 'for (;;) await 1', endless],
  ['loops-in-promises', 'const t = { then(f) { f(t) } }; return t', endless],
  ['backtracks', 'return /^(a+)+$/.test("a".repeat(50) + "!")', endless],
  ['fills-an-array', 'const a = []; for (;;) a.push(new Array(1000).fill(1))', full],
  ['fills-strings', 'const a = []; for (let n = 0; ; n += 1) a.push("x".repeat(100000) + n)', full],
  ['fills-a-map', 'const m = new Map(); for (let n = 0; ; n += 1) m.set(n, {})', full],
  ['fills-typed-arrays', 'const a = []; for (;;) a.push(new Uint8Array(1000000))', full],
  ['recurs', 'const f = () => f() + 1; return f()', 'failed stack_overflow'],
  ['gives-back-a-giant', 'return "x".repeat(2000000)', 'failed output_too_large'],
  ['logs-a-giant', 'console.log("x".repeat(10000000)); return 1', 'completed'],
  ['logs-without-end', 'for (;;) console.log("x".repeat(1000))', endless],
  [
    'pollutes',
    'try { await host.http(JSON.parse(\'{"__proto__": {"polluted": 1}}\')) } catch (e) { return e.code }',
    'completed',
  ],
  ['escapes', 'return host.http.constructor("return typeof process + typeof require")()', 'completed'],
  ['throws-hostile-getters', 'throw new Proxy({}, { get() { throw 1 } })', 'failed error'],
  ['throws-a-getter-that-loops', 'throw { get message() { for (;;); } }', endless],
  [
    'calls-thousands',
    'for (let n = 0; n < 5000; n += 1) host.http({ url: "https://example.com" })',
    'failed host_calls_exceeded',
  ],
  ['never-settles', 'return new Promise(() => {})', 'failed never_settles'],
]
/** Timeout for artifacts that end by another limit, even on a busy machine. */
const patientMs = 10_000
const endlessMs = 150

let world: SdkFixture
let other: ApiClient

beforeAll(async () => {
  world = await startSdk()
  const limits = { memoryMb: 32, logBytes: 10_000, hostCalls: 100 }
  for (const [slug, body, ends] of cases)
    await world.install({
      slug,
      code: `export default async function (input, host) {\n${body}\n}`,
      permissions: { http: ['127.0.0.1'] },
      limits: { ...limits, cpuMs: ends === endless ? endlessMs : patientMs },
    })
  const stranger = testPrincipal({ workspaceId: newId('workspace') })
  other = world.service.as(stranger)
  const double = { slug: 'double', code: 'export default async function (n) { return 2 * n }' }
  await world.install(double, { workspaceId: stranger.workspaceId ?? '' })
})
afterAll(() => world?.stop())

const doubled = async (input: number) =>
  (await other.post('/sdk/artifacts/double/invoke', { input })).data(Execution).output

it.each(cases)(
  'code that %s is logged with the right outcome, and does not affect another tenant',
  async (slug, _, ends) => {
    const before = doubled(20)
    const execution = (await world.api.post(`/sdk/artifacts/${slug}/invoke`, {})).data(Execution)
    const { status, error } = execution
    expect(error ? `${status} ${error.code}` : status).toBe(ends)
    expect(await Promise.all([before, doubled(21)])).toEqual([40, 42])
    const kept = await world.api.get(`/origin/api/service-sdk/executions/${execution.id}`)
    expect(kept.data(Execution)).toEqual(execution)
    expect(execution.memory_peak_mb).toBeLessThanOrEqual(32)
    expect(JSON.stringify(execution).length).toBeLessThan(60_000)
    const events = await world.service.sql`select type from events where stream_id = ${execution.id}`
    expect(events.map(({ type }) => type)).toEqual(ends === 'completed' ? [] : ['sdk.execution.failed'])
  },
)

it('code that tries to escape the sandbox reaches nothing of the platform', async () => {
  const output = async (slug: string) =>
    (await world.api.post(`/sdk/artifacts/${slug}/invoke`, {})).data(Execution).output
  expect(await output('escapes')).toBe('undefinedundefined')
  expect(await output('pollutes')).toBe('invalid_argument')
  expect('polluted' in {}).toBe(false)
})
