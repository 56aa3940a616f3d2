import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { waitForExit } from '@opsplane/runtime/server-process'
import { codeRunner, limits } from '../fixture/code-fixture.js'
import { buildChildCommand } from '../pool/program.js'
import { createCodePool } from './code-pool.js'
import { codeProgram } from './program.js'
import { createRun } from './run.js'
import type { CodeOutcome, HostCall, Json } from './types.js'

/** Longer than any test takes, in milliseconds. */
const ages = 600_000

/** These tests read process data that only Linux provides. */
const onLinux = process.platform === 'linux' ? test : test.skip

const open: ReturnType<typeof codeRunner>[] = []
afterEach(() => Promise.all(open.splice(0).map(({ runner }) => runner.close())))
function runnerOf(options: Parameters<typeof codeRunner>[0]) {
  const made = codeRunner(options)
  open.push(made)
  return made
}

const waitFor = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** A host function that answers only after `open` is called. */
function gate() {
  let [calls, open] = [0, () => {}]
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const host = async (_call: HostCall): Promise<Json> => {
    calls += 1
    await opened
    return 'through'
  }
  return { host, open, calls: () => calls }
}
const wait = 'return host.echo(1)'

describe('a child process', () => {
  test('serves one tenant only, and spare processes serve new tenants', async () => {
    const { runner, run } = runnerOf({ children: 8, spares: 1, idleMs: ages })
    expect(runner.pids()).toEqual([])
    const seen = new Map<number, string>()
    for (const round of [1, 2])
      for (const tenant of ['a', 'b', 'c']) {
        const { host, open, calls } = gate()
        const outcome = run(wait, { tenant, host })
        await waitFor(() => calls() === 1)
        const [pid = 0, ...others] = runner.pids('working')
        expect(others).toEqual([])
        expect(seen.get(pid) ?? tenant).toBe(tenant)
        if (round === 2) expect(seen.has(pid)).toBe(true)
        seen.set(pid, tenant)
        open()
        expect((await outcome).output).toBe('through')
        await waitFor(() => runner.pids('spare').length === 1)
      }
    expect(seen.size).toBe(3)
  })

  test('exits when it is idle', async () => {
    const { runner, run } = runnerOf({ idleMs: 1 })
    expect((await run('return 1')).output).toBe(1)
    await waitFor(() => runner.pids().length === 0)
    expect((await run('return 2')).output).toBe(2)
  })

  onLinux(
    'has nothing of the service: no variables, one descriptor, another user where that may be',
    async () => {
      const { runner, run } = runnerOf({ idleMs: ages })
      const { host, open, calls } = gate()
      const outcome = run(wait, { host })
      await waitFor(() => calls() === 1)
      const [pid] = runner.pids('working')
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('')
      const uid = buildChildCommand(codeProgram(96)).identity.uid ?? process.getuid?.()
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(
        new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'),
      )
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      expect(links.filter((link) => link.startsWith('socket:'))).toHaveLength(1)
      expect(links.filter((link) => link.startsWith('/') && link !== '/dev/null')).toEqual([])
      open()
      expect((await outcome).output).toBe('through')
    },
  )

  onLinux(
    'that has more memory than all its runs may have is killed, and what it computes has taken it',
    async () => {
      const log = createLogger({ service: 'code', level: 'silent' })
      const pool = createCodePool({
        ...{ log, program: codeProgram(96), children: 1, childrenOfTenant: 1, spares: 0, idleMs: ages },
        ...{
          turnMs: ages,
          maxWaiting: 10,
          maxWaitMs: ages,
          startMs: ages,
          frameBytes: 1_000_000,
          ownBytes: 0,
        },
      })
      const request = { tenant: 'a', code: 'export default () => { for (;;); }', args: [], functions: [] }
      const outcome = await new Promise<CodeOutcome>((resolve, reject) => {
        const run = createRun({ ...request, limits, host: async () => null }, '[]', resolve)
        pool.add(run).catch(reject)
      })
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'out_of_memory' } })
      await pool.close()
    },
  )

  test('that is killed fails only its own runs, and none of another tenant', async () => {
    const { runner, run } = runnerOf({ idleMs: ages })
    const [hit, spared] = [gate(), gate()]
    const lost = run(wait, { tenant: 'a', host: hit.host })
    await waitFor(() => hit.calls() === 1)
    const pids = runner.pids('working')
    const kept = run(wait, { tenant: 'b', host: spared.host })
    await waitFor(() => spared.calls() === 1)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    expect(await lost).toMatchObject({ status: 'failed', error: { code: 'crashed' } })
    spared.open()
    expect((await kept).output).toBe('through')
    expect((await run('return 3', { tenant: 'a' })).output).toBe(3)
  })

  test('killed at random ends every invocation as completed or crashed', async () => {
    const { runner, run } = runnerOf({ children: 4, idleMs: ages })
    const runs = process.env.SEARCH_TIMES === undefined ? 10 : 20
    let left = 3 * runs
    const one = (tenant: string, n: number) =>
      run(
        'let sum = 0; for (let at = 0; at < 20000; at += 1) sum += at; return [await host.echo(input), sum]',
        {
          tenant,
          args: [n],
        },
      ).finally(() => {
        left -= 1
      })
    const outcomes = ['a', 'b', 'c'].flatMap((tenant) =>
      Array.from({ length: runs }, (_, n) => one(tenant, n)),
    )
    for (let killed = 0; killed < 5 && left > 0; ) {
      const [pid] = runner.pids('working')
      if (pid === undefined) {
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      process.kill(pid, 'SIGKILL')
      killed += 1
      await waitForExit(pid, ages)
    }
    for (const [at, { status, output, error }] of (await Promise.all(outcomes)).entries())
      if (status === 'completed') expect(output).toEqual([at % runs, 199_990_000])
      else expect(error).toMatchObject({ code: 'crashed' })
    expect((await run('return 4', { tenant: 'a' })).output).toBe(4)
  })

  test('that computes without end does not block other tenants', async () => {
    const { run } = runnerOf({ idleMs: ages })
    const stop = new AbortController()
    const hogs = Array.from({ length: 6 }, () => run('for (;;);', { tenant: 'hog', signal: stop.signal }))
    for (let n = 0; n < 20; n += 1)
      expect((await run('return input', { tenant: 'b', args: [n] })).output).toBe(n)
    stop.abort()
    for (const { status } of await Promise.all(hogs)) expect(status).toBe('cancelled')
  })
})

describe('tenants', () => {
  test('that outnumber the children are served in turn, even if other tenants have more to run', async () => {
    const { runner, run } = runnerOf({ children: 2, spares: 0, turnMs: 1, idleMs: ages, maxWaiting: 10_000 })
    let going = true
    const busy = ['a', 'b'].map(async (tenant) => {
      let done = 0
      const caller = async () => {
        while (going) {
          await run('return 1', { tenant })
          done += 1
        }
      }
      await Promise.all(Array.from({ length: 5 }, caller))
      return done
    })
    for (const tenant of ['c', 'd', 'e']) expect((await run('return 1', { tenant })).output).toBe(1)
    expect(runner.pids().length).toBeLessThanOrEqual(2)
    going = false
    for (const done of await Promise.all(busy)) expect(done).toBeGreaterThan(0)
  })

  test('whose code waits do not block other tenants, and start no more than the maximum number of children', async () => {
    const { runner, run } = runnerOf({ children: 3, spares: 0, idleMs: ages })
    const gates = ['a', 'b'].map((tenant) => ({ tenant, ...gate() }))
    const waiting = gates.flatMap(({ tenant, host }) =>
      Array.from({ length: 20 }, () => run(wait, { tenant, host, limits: { memoryMb: 16 } })),
    )
    await waitFor(() => gates.every(({ calls }) => calls() === 20))
    expect((await run('return 1', { tenant: 'c' })).output).toBe(1)
    expect((await run('return 2', { tenant: 'a' })).output).toBe(2)
    expect(runner.pids().length).toBeLessThanOrEqual(3)
    for (const { open } of gates) open()
    for (const { output } of await Promise.all(waiting)) expect(output).toBe('through')
  })

  test('receive "overloaded" for runs beyond the maximum number or the maximum wait', async () => {
    const { run } = runnerOf({
      children: 1,
      spares: 0,
      turnMs: ages,
      maxWaiting: 2,
      maxWaitMs: 1,
      idleMs: ages,
    })
    const { host, open, calls } = gate()
    // Starting the child may take longer than the maximum wait of this run.
    const begin = (): Promise<CodeOutcome> => run(wait, { tenant: 'a', host }).catch(begin)
    const first = begin()
    await waitFor(() => calls() === 1)
    const late = [1, 2, 3].map(() => run('return 1', { tenant: 'b' }))
    for (const outcome of late) await expect(outcome).rejects.toMatchObject({ failure: 'overloaded' })
    open()
    expect((await first).output).toBe('through')
  })
})

test('closing the pool settles every run', async () => {
  const { runner, run } = codeRunner({ children: 1, spares: 0 })
  const { host, calls } = gate()
  const running = run(wait, { tenant: 'a', host })
  await waitFor(() => calls() === 1)
  const waiting = run('return 1', { tenant: 'b' }).catch((error: unknown) => error)
  await runner.close()
  expect(await running).toMatchObject({ status: 'failed', error: { code: 'crashed' } })
  expect(await waiting).toMatchObject({ failure: 'unavailable' })
  await expect(run('return 1')).rejects.toMatchObject({ failure: 'unavailable' })
})
