import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { codeRunner } from '../fixture/code-fixture.js'
import type { CodeOutcome, HostCall, Json } from './types.js'

const { runner, run } = codeRunner()
afterAll(() => runner.close())

const hostile = (body: string, cpuMs: number) => run(body, { tenant: 'ws_hostile/x', limits: { cpuMs } })
const good = async (n: number) =>
  (await run('return input * 2 + [].length', { tenant: 'ws_good/production', args: [n] })).output
const endOf = ({ status, error }: CodeOutcome) => (error ? `${status} ${error.code}` : status)

beforeAll(() => good(1))

/** CPU time limit for code that ends by another limit, in milliseconds; generous for a busy machine. */
const patientMs = 60_000
const endless = 'timeout cpu_timeout'
const full = 'failed out_of_memory'
const deep = 'failed stack_overflow'
const invalid = 'failed output_invalid'

/** What the code does, its body, and the expected endings. */
const cases: [string, string, string][] = [
  ['loops', 'for (;;);', endless],
  ['loops and catches', 'for (;;) { try { for (;;); } catch {} }', endless],
  ['loops in the end', 'try { for (;;); } finally { for (;;); }', endless],
  ['waits without end', 'for (;;) await 1', endless],
  ['has promises without end', 'const f = () => Promise.resolve().then(f); return f()', `${endless}|${full}`],
  ['has a thenable without end', 'const t = { then(f) { f(t) } }; return t', endless],
  ['loops in a generator', 'for (const n of (function* () { for (;;) yield 1 })());', endless],
  ['loops when it sorts', 'return [1, 2, 3].sort(() => { for (;;); })', endless],
  [
    'loops in the background after it returns',
    '(async () => { for (;;) await 1 })(); await new Promise(() => {})',
    endless,
  ],
  ['backtracks', 'return /^(a+)+$/.test("a".repeat(50) + "!")', endless],
  ['backtracks otherwise', 'return /(x+x+)+y/.test("x".repeat(200))', endless],
  ['replaces with backtracking', 'return ("a".repeat(60) + "!").replace(/(a|a)*$/, "b")', endless],
  ['looks through nothing, natively', 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)', endless],
  ['joins holes, natively', 'for (;;) new Array(1e7).join()', endless],
  ['fills an array', 'const a = []; for (;;) a.push(new Array(1000).fill(1))', full],
  ['fills a huge array', 'return new Array(1e9).fill(0).length', full],
  ['doubles a string', 'let s = "ab"; for (;;) s += s', 'failed error'],
  ['fills strings', 'const a = []; for (let n = 0; ; n += 1) a.push("x".repeat(100000) + n)', full],
  ['fills a map', 'const m = new Map(); for (let n = 0; ; n += 1) m.set(n, {})', full],
  ['fills a set', 'const s = new Set(); for (let n = 0; ; n += 1) s.add("k" + n)', full],
  ['fills an object', 'const o = {}; for (let n = 0; ; n += 1) o["k" + n] = n', full],
  ['fills typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1000000))', full],
  ['makes a huge buffer', 'return new ArrayBuffer(2 ** 30).byteLength', full],
  ['chains promises', 'let p = Promise.resolve(); for (;;) p = p.then(() => p)', full],
  ['chains closures', 'let f = () => 1; for (;;) { const g = f; f = () => g() + 1 }', full],
  ['fills a number', 'let n = 3n; for (;;) n **= 3n', 'failed error'],
  ['recurs', 'const f = () => f() + 1; return f()', deep],
  ['recurs in a conversion', 'const o = { toString: () => [o, o].sort() + "" }; return "" + o', deep],
  ['recurs in a proxy', 'const p = new Proxy({}, { get: (t, k) => p[k] }); return p.x', deep],
  ['nests a program', 'return eval("(".repeat(100000))', deep],
  ['nests JSON', 'return JSON.parse("[".repeat(100000))', 'failed error'],
  [
    'nests a regular expression',
    'return new RegExp("(?:".repeat(100000) + ")".repeat(100000))',
    'failed error',
  ],
  ['gives back a huge string', 'return "x".repeat(2000000)', 'failed output_too_large'],
  ['gives back a huge array', 'return new Array(600000).fill(1)', 'failed output_too_large'],
  [
    'gives back what is shared exponentially',
    'let a = [1, 1]; for (let n = 0; n < 40; n += 1) a = [a, a]; return a',
    `${full}|${endless}`,
  ],
  ['gives back what goes deep', 'let a = 1; for (let n = 0; n < 100; n += 1) a = [a]; return a', invalid],
  [
    'gives back what goes very deep',
    'let a = 1; for (let n = 0; n < 1e4; n += 1) a = [a]; return a',
    `${invalid}|${deep}|${endless}`,
  ],
  ['gives back a circle', 'const a = []; a.push(a); return a', invalid],
  ['gives back a big integer', 'return 1n', invalid],
  ['gives back a prototype', 'return JSON.parse(\'{"__proto__": {"polluted": true}}\')', invalid],
  ['throws when it is written', 'return { toJSON() { throw new Error("no") } }', invalid],
  ['loops when it is written', 'return { toJSON() { for (;;); } }', endless],
  ['loops when its keys are read', 'return new Proxy({}, { ownKeys() { for (;;); } })', endless],
  ['throws an error that loops', 'throw { get message() { for (;;); } }', endless],
  ['throws an error that throws', 'throw new Proxy({}, { get() { throw 1 } })', 'failed error'],
  [
    'throws an error of bad texts',
    'throw { message: { toString() { throw 1 } }, stack: Symbol() }',
    'failed error',
  ],
  ['throws a giant error', 'throw new Error("x".repeat(2000000))', 'failed error'],
  ['throws nothing', 'throw undefined', 'failed error'],
  ['throws null', 'throw null', 'failed error'],
  ['throws a symbol', 'throw Symbol("x")', 'failed error'],
  ['rejects with a function', 'return Promise.reject(() => {})', 'failed error'],
  ['logs without end', 'for (;;) console.log("x".repeat(1000))', endless],
  ['logs what loops', 'console.log({ toJSON() { for (;;); } })', endless],
  ['logs what throws', 'console.log(new Proxy({}, { get() { throw 1 } })); return 1', 'completed'],
  [
    'logs a giant',
    'console.log("x".repeat(10000000)); host.log("x", "y".repeat(1000000)); return 1',
    'completed',
  ],
  ['never settles', 'return new Promise(() => {})', 'failed never_settles'],
  ['waits for what never settles', 'await host.echo(1); await new Promise(() => {})', 'failed never_settles'],
  ['calls too often', 'for (;;) await host.echo(1)', 'failed host_calls_exceeded'],
  ['calls too often at once', 'for (let n = 0; n < 5000; n += 1) host.echo(n)', 'failed host_calls_exceeded'],
  ['calls with what loops', 'await host.echo({ toJSON() { for (;;); } })', endless],
  ['calls with what cannot be written', 'await host.echo(1n)', 'failed error'],
  ['has no such function', 'return host.http("x")', 'failed error'],
  ['changes its host', 'host.echo = 1; return host.echo', 'failed error'],
  [
    'spoils all it can',
    `for (const of of [Object, Array, String, Promise, Map, JSON, Reflect, Function, Error])
       for (const key of Object.getOwnPropertyNames(of.prototype ?? of))
         try { (of.prototype ?? of)[key] = () => { throw new Error('spoilt') } } catch {}
     return 1`,
    'completed|failed error|failed output_invalid|failed never_settles',
  ],
  [
    'is a thenable of everything',
    'Object.prototype.then = function (f) { f(1) }; return await host.echo({})',
    'completed',
  ],
]

/** Neighbouring cases are similar: normally every second one runs, in the long tier all of them. */
const tried = cases.filter((_, n) => process.env.SEARCH_TIMES !== undefined || n % 2 === 0)

test.each(tried)(
  'code that %s ends with the expected status, and affects no other run',
  async (_, body, ends) => {
    const before = good(20)
    const outcome = await hostile(body, ends.includes(endless) ? 100 : patientMs)
    expect(ends.split('|')).toContain(endOf(outcome))
    expect(await Promise.all([before, good(21)])).toEqual([40, 42])
    expect(outcome.memoryPeakMb).toBeLessThanOrEqual(32)
    const text = outcome.logs.reduce((bytes, { message }) => bytes + message.length, 0)
    expect(text).toBeLessThanOrEqual(10_000)
    expect(JSON.stringify(outcome.error).length).toBeLessThan(40_000)
  },
)

describe('code does not reach', () => {
  test.each([
    [
      'globals of Node',
      'return ["process", "require", "global", "Buffer", "fetch", "WebAssembly", "Deno", "std", "os", "bjson", "gc", "print", "scriptArgs", "Worker"].filter((name) => name in globalThis)',
      [],
    ],
    ['a process by constructors', 'return host.echo.constructor("return typeof process")()', 'undefined'],
    [
      'a process by those of errors',
      'try { await host.nothing() } catch (e) { return e.constructor.constructor("return typeof process + typeof require")() }',
      'undefinedundefined',
    ],
    [
      'a process by asynchronous ones',
      'return (async () => {}).constructor("return typeof process")()',
      'undefined',
    ],
    [
      'a process by what the host answers',
      'const a = await host.echo({}); return a.constructor.constructor("return this.process === undefined")()',
      true,
    ],
    ['the function that leads out', 'return typeof send', 'undefined'],
    [
      'modules',
      'const ends = []; for (const name of ["fs", "node:fs", "./main.js", "/etc/passwd", "prelude.js"]) try { await import(name); ends.push(name) } catch { ends.push(null) } return ends',
      [null, null, null, null, null],
    ],
  ] as [string, string, Json][])('%s', async (_, body, expected) => {
    expect(await run(body, { tenant: 'ws_reach/x' })).toMatchObject({ status: 'completed', output: expected })
  })

  test('objects of the host', async () => {
    const seen: HostCall[] = []
    const host = async (call: HostCall): Promise<Json> => {
      seen.push(call)
      return {}
    }
    const body = `const caught = []
      for (const key of ['__proto__', 'constructor'])
        try { await host.echo(JSON.parse('{"' + key + '": {"polluted": true}}')) } catch (e) { caught.push(e.code) }
      return caught`
    expect((await run(body, { tenant: 'ws_proto/x', host })).output).toEqual(['invalid_argument'])
    expect(seen).toEqual([{ name: 'echo', args: [{ constructor: { polluted: true } }] }])
    expect('polluted' in {}).toBe(false)
  })
})

test('of thousands of concurrent calls at most ten reach the host at a time', async () => {
  let [now, most] = [0, 0]
  const host = async ({ args }: HostCall): Promise<Json> => {
    now += 1
    most = Math.max(most, now)
    await new Promise((resolve) => setImmediate(resolve))
    now -= 1
    return args[0] ?? null
  }
  const outcome = await run(
    'return (await Promise.all(Array.from({ length: 5000 }, (_, n) => host.echo(n)))).length',
    { tenant: 'ws_many/x', host, limits: { hostCalls: 10_000 } },
  )
  expect(outcome.output).toBe(5_000)
  expect(most).toBeLessThanOrEqual(10)
})
