import { afterAll, describe, expect, test } from '@jest/globals'
import { codeRunner } from '../fixture/code-fixture.js'
import { type HostCall, HostError, type Json } from './types.js'

/** Work that the code starts without awaiting it is still completed, and its failure fails the run. */

const { runner, run, compiled } = codeRunner()
afterAll(() => runner.close())

const calls: Json[] = []
const host = async ({ args: [kind = null] }: HostCall): Promise<Json> => {
  calls.push(kind)
  if (kind === 'fails') throw new HostError('not_granted', 'not for you')
  return kind
}
const runCompiled = async (body: string) =>
  run('', {
    host,
    code: await compiled(
      `const echo = async (host: any, kind: string) => { await null; return host.echo(kind) }
class Work {
  kind = 'fails'
  async done(host: any) { return host.echo(this.kind) }
}
class Other extends Work {
  async done(host: any, { times } = { times: 1 }) { for (let n = 0; n < times; n += 1) await super.done(host) }
}
export default async function (input: null, host: any) {
  ${body}
  return 'over'
}`,
    ),
  })

describe('a host call that is not awaited', () => {
  test.each([
    ['by itself', `host.echo('one')`],
    ['behind another', `host.echo('zero').then(() => host.echo('one'))`],
    ['in an asynchronous function', `echo(host, 'one')`],
    ['in a list', `[1].forEach(async () => { await echo(host, 'zero'); await echo(host, 'one') })`],
    ['as void', `void (async () => { await echo(host, 'one') })()`],
  ])('is made before the execution has completed: %s', async (_, body) => {
    calls.length = 0
    expect(await runCompiled(body)).toMatchObject({ status: 'completed', output: 'over' })
    expect(calls.at(-1)).toBe('one')
  })

  test('is made even if many calls exceed the concurrency limit', async () => {
    calls.length = 0
    const outcome = await run(`for (let n = 0; n < 50; n += 1) host.echo(n); return 'over'`, {
      ...{ host, limits: { hostCallsAtOnce: 2 } },
    })
    expect([outcome.output, calls.length]).toEqual(['over', 50])
  })
})

describe('an unhandled rejection', () => {
  test.each([
    ['of a call', `host.echo('fails')`],
    ['of what follows a call', `host.echo('one').then(() => host.echo('fails'))`],
    ['of a function behind a call', `host.echo('one').then(() => { throw new Error('not for you') })`],
    ['of an asynchronous function', `echo(host, 'fails')`],
    ['of a method', 'new Work().done(host)'],
    ['of a method of a method', 'new Other().done(host)'],
    ['of one without a name', `void (async () => { await null; throw new Error('not for you') })()`],
    ['in a list', `[1].forEach(async () => { await echo(host, 'fails') })`],
    ['of a promise', `Promise.reject(new Error('not for you'))`],
    ['of a new one', `new Promise(() => { throw new Error('not for you') })`],
    [
      'of one that another one resolves',
      `new Promise((done) => done(Promise.reject(new Error('not for you'))))`,
    ],
    ['of a few', `Promise.all([host.echo('one'), host.echo('fails')])`],
    ['of one finally', `host.echo('fails').finally(() => 1)`],
    ['that is thrown on', `host.echo('fails').catch((error) => { throw error })`],
  ])('fails the execution: %s', async (_, body) => {
    expect(await runCompiled(body)).toMatchObject({
      ...{ status: 'failed', output: null },
      error: {
        code: 'unhandled_rejection',
        message: expect.stringMatching(/^nothing handles that a promise was rejected: .*not for you$/),
      },
    })
  })

  test.each([
    ['a call', `const call = host.echo('fails'); await host.echo('one'); await call.catch(() => 1)`],
    ['an asynchronous function', `try { await echo(host, 'fails') } catch {}`],
    ['a method', `await new Other().done(host).catch(() => 1)`],
    [
      'a later one',
      `const later = echo(host, 'fails'); await echo(host, 'one'); try { await later } catch {}`,
    ],
    ['all', `await Promise.allSettled([host.echo('fails'), echo(host, 'fails'), Promise.reject(1)])`],
    ['the first', `await Promise.any([host.echo('fails'), echo(host, 'one')])`],
    [
      'the slower',
      `await Promise.race([echo(host, 'one'), new Promise((_, fail) => fail(1)).catch(() => 1)])`,
    ],
    ['one in another', `await new Promise((done) => done(echo(host, 'fails'))).catch(() => 1)`],
    ['a thenable', `await new Promise((done) => done({ then: (_, fail) => fail(1) })).catch(() => 1)`],
  ])('is not reported if the code handles it: %s', async (_, body) =>
    expect(await runCompiled(body)).toMatchObject({ status: 'completed', output: 'over' }),
  )
})

test('promises keep their standard behaviour', async () => {
  const { output } = await run(`
    class Own extends Promise {}
    const own = Own.resolve(1)
    const native = (async () => 2)()
    return [
      own instanceof Own, own instanceof Promise, native instanceof Promise, ({}) instanceof Promise,
      native instanceof Own, Promise.name, await own, await native, await Promise.resolve(own),
      Promise.resolve(own) instanceof Promise,
    ]`)
  expect(output).toEqual([true, true, true, false, false, 'Promise', 1, 2, 1, true])
})

describe('an error that code throws', () => {
  test('keeps its name, code and causes, with their positions in the source', async () => {
    const code = await compiled(
      `class Refused extends RangeError {
  code = 'luck'
}
async function read(host: any) {
  await host.echo('fails')
}
export default async (input: null, host: any) => {
  try {
    await read(host)
  } catch (cause) {
    throw new Refused('no luck', { cause })
  }
}`,
      'refused.ts',
    )
    const { error } = await run('', { code, host })
    expect(error).toMatchObject({
      ...{ code: 'error', message: 'RangeError: no luck' },
      thrown: { name: 'RangeError', code: 'luck', cause: 'HostError: not for you' },
    })
    const [own, cause] = error?.stack.split('Caused by: ') ?? []
    expect(own).toMatch(/\(refused\.ts:11:\d+\)/)
    expect(cause).toMatch(/^HostError: not for you\n {4}at read \(refused\.ts:5:\d+\)/)
  })

  test.each([
    [`throw 'text'`, 'text', undefined],
    ['throw null', 'null', undefined],
    [`throw { code: 7, message: 'seven' }`, 'seven', { name: 'Error', code: '7', cause: null }],
    [`throw Object.assign(new Error('a'), { get cause() { throw 1 } })`, '1', undefined],
  ])('can be any value: %s', async (body, message, thrown) => {
    const { error } = await run(body)
    expect(error).toMatchObject({ code: 'error', message })
    expect(error?.thrown).toEqual(thrown)
  })

  test('is truncated even if its causes are circular', async () => {
    const { error } = await run(`const e = new Error('x'.repeat(3000)); e.cause = e; throw e`)
    expect(error?.thrown?.cause).toHaveLength(1_000)
    expect(error?.stack.length).toBeLessThanOrEqual(12_000)
  })
})

test('a refused function throws an error with the reason', async () => {
  const refused = { http: 'Declare permissions.http in the manifest.' }
  const body = `try { await host.http({}) } catch (e) { return [e instanceof HostError, e.code, e.message, 'http' in host] }`
  expect((await run(body, { refused })).output).toEqual([true, 'not_permitted', refused.http, true])
  expect(await run('host.http({}); return 1', { refused })).toMatchObject({
    error: { code: 'unhandled_rejection', message: expect.stringContaining(refused.http) },
  })
})
