import { afterAll, describe, expect, test } from '@jest/globals'
import { codeRunner } from '../fixture/code-fixture.js'
import { type HostCall, HostError, type Json } from './types.js'

const { runner, run, compiled } = codeRunner()
afterAll(() => runner.close())

/** A host that exposes the signal a host function receives, and never answers. */
function silentHost() {
  const calls: AbortSignal[] = []
  let called: (signal: AbortSignal) => void = () => {}
  const signal = new Promise<AbortSignal>((resolve) => {
    called = resolve
  })
  return {
    signal,
    calls,
    host: (_call: HostCall, given: AbortSignal) => {
      calls.push(given)
      called(given)
      return new Promise<Json>(() => {})
    },
  }
}

const aborted = (signal: AbortSignal) =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', resolve))

describe('code', () => {
  test('is called with its arguments and a host, and returns its output', async () => {
    const host = async ({ name, args }: HostCall) => ({ name, args })
    const outcome = await run(
      `console.log('starts', { with: input })
       host.log.warn('calls', { next: 'table' })
       const row = await host.table.get('servers', 7)
       return { double: input.n * 2, row, id: host.context.id }`,
      { args: [{ n: 21 }], functions: ['table.get'], host, context: { id: 'exec' } },
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      output: { double: 42, row: { name: 'table.get', args: ['servers', 7] }, id: 'exec' },
      error: null,
      logsTruncated: false,
      logs: [
        { level: 'info', message: 'starts {"with":{"n":21}}', data: null },
        { level: 'warn', message: 'calls', data: { next: 'table' } },
      ],
    })
    expect(outcome.cpuMs).toBeGreaterThan(0)
    expect(outcome.memoryPeakMb).toBeGreaterThan(0)
    expect(outcome.durationMs).toBeGreaterThan(0)
  })

  test('starts in a clean context, whatever the previous run changed in its own', async () => {
    const spoils = `globalThis.left = 1
       Object.prototype.left = 1
       JSON.parse = () => 'spoilt'
       Math.random = () => 0
       delete globalThis.HostError
       host.context.left = 1
       const kept = []
       for (let n = 0; n < 2000; n += 1) kept.push({ ['key' + n]: new Array(20).fill(n) })
       if (input === 'loops') for (;;);
       if (input === 'throws') throw new Error('of the run before')
       return input === 'large' ? 'x'.repeat(500000) : kept.length`
    const looks = `return {
       left: [typeof left, ({}).left, host.context.left], random: Math.random(),
       parses: JSON.parse('[1]'), HostError: typeof HostError, keys: Object.keys(globalThis),
     }`
    const context = { id: 'exec' }
    const clean = (await run(looks, { tenant: 'ws_clean/production', context })).output as {
      keys: Json
      random: number
    }
    for (const input of ['ends', 'large', 'throws', 'ends', 'loops', 'ends']) {
      await run(spoils, { args: [input], context, limits: { cpuMs: input === 'loops' ? 100 : 60_000 } })
      const { random, ...seen } = (await run(looks, { context })).output as { random: number }
      expect(seen).toEqual({
        ...{ left: ['undefined', null, null], parses: [1], HostError: 'function', keys: clean.keys },
      })
      expect(random).not.toBe(clean.random)
    }
  })

  test('has different random numbers in each run', async () => {
    const draws = await Promise.all(
      Array.from({ length: 20 }, () => run('return [Math.random(), Math.random()]')),
    )
    const drawn = draws.flatMap(({ output }) => output as number[])
    expect(new Set(drawn).size).toBe(40)
    for (const number of drawn) {
      expect(number).toBeGreaterThanOrEqual(0)
      expect(number).toBeLessThan(1)
    }
  })

  test('can export several functions from one module', async () => {
    const code = `import { artifact } from '@opsplane/sdk'
      export const first = artifact(() => 1)
      export default artifact(() => 2)
      await null`
    expect((await run('', { code })).output).toBe(2)
    expect((await run('', { code, entry: 'first' })).output).toBe(1)
    expect(await run('', { code, entry: 'third' })).toMatchObject({
      status: 'failed',
      error: { code: 'error', message: 'TypeError: the code has no function exported as "third"' },
    })
  })

  test('leaves nothing behind for the next invocation', async () => {
    expect((await run('globalThis.kept = 1; Array.prototype.kept = 2; return 1')).output).toBe(1)
    expect((await run('return [typeof kept, typeof [].kept]')).output).toEqual(['undefined', 'undefined'])
  })

  test('receives texts unchanged', async () => {
    const odd = ['\u0000 \ud800 \u2028 " \\ é 🦉', { a: {} }, 2 ** 53, -0.5]
    expect((await run('return [input, await host.echo(input)]', { args: [odd] })).output).toEqual([odd, odd])
    const { logs } = await run('console.log(input[0], undefined, null, () => 1)', { args: [odd] })
    expect(logs[0]?.message).toBe('\u0000 \ud800 \u2028 " \\ é 🦉 undefined null () => 1')
  })

  test('returns null for an undefined output or one that JSON does not support', async () => {
    for (const nothing of ['', 'return undefined', 'return () => 1', 'return NaN', 'return null'])
      expect((await run(nothing)).output).toBeNull()
  })
})

describe('calls of the host', () => {
  test('fail with errors that the code can catch', async () => {
    const host = async ({ args: [kind] }: HostCall): Promise<Json> => {
      if (kind === 'mine') throw new HostError('not_granted', 'not for you', { missing: ['x'] })
      throw new Error('postgres://user:password@db')
    }
    const caught = `try { await host.echo(input) } catch (e) {
      return [e instanceof HostError, e instanceof Error, e.name, e.code, e.message, e.details] }`
    expect((await run(caught, { host, args: ['mine'] })).output).toEqual([
      true,
      true,
      'HostError',
      'not_granted',
      'not for you',
      { missing: ['x'] },
    ])
    expect((await run(caught, { host, args: ['other'] })).output).toEqual([
      true,
      true,
      'HostError',
      'internal_error',
      'the call failed',
      null,
    ])
    expect(await run('await host.echo("mine")', { host })).toMatchObject({
      status: 'failed',
      error: { code: 'error', message: 'HostError: not for you' },
    })
  })

  test('are limited to the functions given to the run', async () => {
    const { output } = await run('return [Object.keys(host), typeof host.http]', {
      functions: ['a.b', 'echo'],
    })
    expect(output).toEqual([['log', 'context', 'a', 'echo'], 'undefined'])
  })

  test('are sent in order and up to the concurrency limit', async () => {
    let most = 0
    const order: Json[] = []
    const underWay: (() => void)[] = []
    const host = ({ args }: HostCall): Promise<Json> =>
      new Promise((resolve) => {
        order.push(args[0] ?? null)
        most = Math.max(
          most,
          underWay.push(() => resolve(args[0] ?? null)),
        )
        if (underWay.length === 4) for (const answer of underWay.splice(0)) answer()
      })
    const numbers = Array.from({ length: 100 }, (_, n) => n)
    const outcome = await run('return Promise.all(input.map((n) => host.echo(n)))', {
      args: [numbers],
      host,
      limits: { hostCallsAtOnce: 4 },
    })
    expect(outcome.output).toEqual(numbers)
    expect(order).toEqual(numbers)
    expect(most).toBe(4)
  })

  test('that are never answered are awaited until the time limit of the code', async () => {
    const { host, signal } = silentHost()
    const running = run('host.echo(1); return 2', { host, limits: { wallMs: 3_000 } })
    expect(await running).toMatchObject({ status: 'timeout', output: null })
    await aborted(await signal)
  })

  test('that wait do not block other code of the tenant, and share processes', async () => {
    const waiting = Array.from({ length: 10 }, silentHost)
    const stop = new AbortController()
    const outcomes = waiting.map(({ host }) => run('await host.echo(1)', { host, signal: stop.signal }))
    await Promise.all(waiting.map(({ signal }) => signal))
    const before = runner.pids('working')
    expect((await run('return 1')).output).toBe(1)
    expect(before.length).toBeLessThan(10)
    stop.abort()
    for (const outcome of await Promise.all(outcomes)) expect(outcome.status).toBe('cancelled')
  })
})

describe('a limit', () => {
  test('on the duration ends code that waits', async () => {
    const waits = 'console.log("begins"); await host.echo(1)'
    // On a busy machine the code may need this long before it starts to wait.
    for (let wallMs = 500; ; wallMs *= 2) {
      const { host, calls } = silentHost()
      const outcome = await run(waits, { host, limits: { wallMs } })
      expect(outcome).toMatchObject({
        status: 'timeout',
        error: { code: 'wall_timeout', message: `it takes longer than ${wallMs} ms` },
      })
      const [signal] = calls
      if (!signal) continue
      expect(outcome.logs).toMatchObject([{ message: 'begins' }])
      return aborted(signal)
    }
  })

  test('on the input rejects a larger input', async () => {
    expect(await run('return 1', { args: ['x'.repeat(100)], limits: { inputBytes: 50 } })).toMatchObject({
      status: 'failed',
      error: { code: 'input_too_large', message: 'its input has more than 50 bytes' },
    })
  })

  test('on arguments and results of host calls fails those calls', async () => {
    const caught = 'try { await host.echo(input) } catch (e) { return e.code + ": " + e.message }'
    const given = { args: ['é'.repeat(60)], limits: { outputBytes: 100, inputBytes: 1_000 } }
    expect((await run(caught, given)).output).toBe('too_large: the arguments are longer than 100 bytes')
    const host = async () => 'x'.repeat(200)
    expect((await run(caught, { host, limits: { inputBytes: 100 } })).output).toBe(
      'too_large: the answer of echo is longer than 100 bytes',
    )
  })

  test('on logs truncates them', async () => {
    const { logs, logsTruncated, status } = await run(
      'for (let n = 0; n < 1000; n += 1) console.log("0123456789"); return 1',
      { limits: { logBytes: 100 } },
    )
    expect({ status, logsTruncated }).toEqual({ status: 'completed', logsTruncated: true })
    expect(logs.map(({ message }) => message)).toEqual(['0123456789', '0123456789'])
  })
})

describe('the caller', () => {
  test('can cancel a run before and after it has started', async () => {
    expect(await run('return 1', { signal: AbortSignal.abort() })).toMatchObject({ status: 'cancelled' })
    const { host, signal } = silentHost()
    const stop = new AbortController()
    const outcome = run('await host.echo(1)', { host, signal: stop.signal })
    const given = await signal
    stop.abort()
    expect(await outcome).toMatchObject({ status: 'cancelled', output: null, error: { code: 'cancelled' } })
    expect(given.aborted).toBe(true)
  })
})

describe('compiling', () => {
  const source = `import { artifact } from '@opsplane/sdk'
import type { Whatever } from 'somewhere'

interface Input {
  n: number
}
enum Factor {
  Two = 2,
}

/** Doubles. */
export default artifact(async (input: Input): Promise<number> => {
  if (input.n > 100) throw new RangeError('too much')
  return input.n * Factor.Two
})
`
  test('removes types, and failures have the line numbers of the source', async () => {
    const code = await compiled(source, 'double.ts')
    expect((await run('', { code, args: [{ n: 21 }] })).output).toBe(42)
    expect(await run('', { code, args: [{ n: 101 }] })).toMatchObject({
      error: {
        message: 'RangeError: too much',
        stack: expect.stringMatching(/^RangeError: too much\n {4}at .*\(double\.ts:13:\d+\)$/),
      },
    })
  })

  test('accepts a source that is full of source map comments', async () => {
    const code = await compiled(
      `/*${'//# sourceMappingURL='.repeat(40_000)}\n*/ export default () => 3`,
      'maps.ts',
    )
    expect((await run('', { code })).output).toBe(3)
  })

  test('leaves JavaScript unchanged', async () => {
    const code = await compiled('export default (n) => n + 1', 'add.js')
    expect((await run('', { code, args: [1] })).output).toBe(2)
    expect(
      await runner.compile({ tenant: 'a', source: 'let n: number = 1', fileName: 'add.js' }),
    ).toMatchObject({
      ok: false,
      diagnostics: [{ line: 1, column: 8 }],
    })
  })

  test.each([
    'export default () => { for (;;); }',
    'export default () => { for (;;) {} }',
    'export default async function () { while (true); }',
    'export const a = () => { do {} while (true) }\nexport default a',
    'export default 1\nfor (;;); // not run',
  ])('parses the source but does not run it: %s', async (source) => {
    for (const fileName of ['endless.js', 'endless.ts']) await compiled(source, fileName)
  })

  test.each([
    ['an error of syntax', 'const a: = 1', 1, 10, /Type expected/],
    ['an error at its end', 'const a = 1\nfoo(', 2, 5, /expected/],
    [
      'an import of Node',
      'import fs from "node:fs"\nexport default fs',
      1,
      16,
      /^Only "@opsplane\/sdk" can be imported, not "node:fs": bundle it/,
    ],
    ['an import passed on', 'export * from "lodash"', 1, 15, /not "lodash"/],
    ['an import in between', '\nexport default () => import("x")', 2, 22, /only by an import declaration/],
    ['a name twice', 'type A = 1\nlet a: A\nlet a: A', 3, 9, /redefinition/],
    ['a NUL', 'a\0b', 1, 1, /NUL/],
    ['too many parentheses', '('.repeat(200_000), 1, 1, /too deeply nested/],
    ['too much in it', `/*${' '.repeat(3_000_000)}*/`, 1, 1, /bytes/],
  ])('rejects a source with %s', async (_, source, line, column, message) => {
    const refused = await runner.compile({ tenant: 'a', source, fileName: 'bad.ts' })
    expect(refused).toMatchObject({
      ok: false,
      diagnostics: expect.arrayContaining([{ line, column, message: expect.stringMatching(message) }]),
    })
  })
})
