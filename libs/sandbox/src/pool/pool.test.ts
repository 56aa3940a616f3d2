import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { waitForExit } from '@opsplane/runtime/server-process'
import { type ChildPool, createChildPool, type PoolOptions } from './pool.js'
import { buildChildCommand } from './program.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const program = (name: string) => ({
  file: here(`../fixture/${name}.js`),
  readable: [here('../..')],
  heapMb: 32,
})
const parse = (answer: string) => {
  if (answer === 'nonsense') throw new Error('is no answer')
  return answer
}
/** Longer than any test takes, in milliseconds. */
const ages = 600_000

/** These tests read process data that only Linux provides. */
const onLinux = process.platform === 'linux' ? test : test.skip

/** Runs where the parent may change the user of a child, and that user may run Node. */
const asRoot =
  process.getuid?.() === 0 && (statSync(process.execPath).mode & 0o001) !== 0 ? onLinux : test.skip

const pools: ChildPool[] = []
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())))

function poolOf(options: Partial<PoolOptions> = {}) {
  const pool = createChildPool({
    log: createLogger({ service: 'pool', level: 'silent' }),
    program: program('obedient-child'),
    limits: { startMs: ages, residentBytes: 1_000_000_000, replyBytes: 10_000 },
    children: 2,
    idleMs: ages,
    maxWaiting: 100,
    maxWaitMs: ages,
    ...options,
  })
  pools.push(pool)
  const ask = (tenant: string, text: string, more: { deadlineMs?: number; signal?: AbortSignal } = {}) =>
    pool.run({ tenant, text, parse, deadlineMs: ages, ...more })
  /** For requests that are cut off by the end of the test. */
  const leave = (tenant: string, text: string) => void ask(tenant, text).catch(() => {})
  return { pool, ask, leave }
}

const waitFor = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('children', () => {
  test('are started on demand and process requests one after another', async () => {
    const { pool, ask } = poolOf()
    expect(pool.pids()).toEqual([])
    expect(await ask('a', 'echo:1')).toBe('1')
    expect(await ask('a', 'echo:ü')).toBe('ü')
    expect(pool.pids()).toHaveLength(1)
    const texts = Array.from({ length: 50 }, (_, at) => `${at}`)
    expect(await Promise.all(texts.map((text) => ask(`t${text}`, `echo:${text}`)))).toEqual(texts)
    await waitFor(() => pool.pids().length === 2)
  })

  test('are free again after they have answered', async () => {
    const { pool, ask } = poolOf()
    for (let n = 0; n < 25; n++) await ask('a', 'echo:1')
    // A second child, if the requests had started one, would be ready before the child of this pool.
    const { pool: other, ask: askOther } = poolOf()
    await askOther('a', 'echo:1')
    await ask('a', 'echo:1')
    expect([pool.pids().length, other.pids().length]).toEqual([1, 1])
  })

  test.each([
    ['die', 'crashed'],
    ['crash', 'memory'],
    ['flood', 'too_large'],
    ['echo:nonsense', 'died'],
  ])('that %s fail only their current request, and are replaced', async (act, failure) => {
    const { pool, ask } = poolOf()
    await Promise.all([ask('a', 'echo:1'), ask('b', 'echo:2')])
    // The first child may have answered both requests while the other was still starting.
    await waitFor(() => pool.pids().length === 2)
    const before = pool.pids()
    const answers = Promise.all(['1', '2', '3'].map((text) => ask('b', `echo:${text}`)))
    await expect(ask('a', act)).rejects.toMatchObject({ failure })
    expect(await answers).toEqual(['1', '2', '3'])
    expect(await ask('a', 'echo:again')).toBe('again')
    expect(pool.pids().filter((pid) => !before.includes(pid)).length).toBeLessThanOrEqual(1)
  })

  test('are ended when they send a message without a request', async () => {
    const { pool, ask } = poolOf({ children: 1 })
    expect(await ask('a', 'twice:1')).toBe('1')
    const [pid = 0] = pool.pids()
    expect(await waitForExit(pid, ages)).toBe(true)
    expect(await ask('b', 'echo:2')).toBe('2')
  })

  test('report their progress before they die', async () => {
    const { ask } = poolOf()
    await expect(ask('a', 'parts:3')).rejects.toMatchObject({ failure: 'crashed', done: 3 })
  })

  test('killed from outside do not count against their request, unless it happens repeatedly', async () => {
    const { pool, ask } = poolOf({ children: 1 })
    const failures: unknown[] = []
    for (const attempt of [1, 2, 3]) {
      await ask(`good${attempt}`, 'echo:1')
      await waitFor(() => pool.pids('working').length === 0)
      const hanging = ask('a', 'hang').catch((error: unknown) => failures.push(error))
      await waitFor(() => pool.pids('working').length > 0)
      for (const pid of pool.pids('working')) process.kill(pid, 'SIGKILL')
      await hanging
    }
    expect(failures).toMatchObject([{ failure: 'died' }, { failure: 'died' }, { failure: 'crashed' }])
  })

  test('that do not answer in time are killed', async () => {
    const { pool, ask } = poolOf()
    await ask('a', 'echo:1')
    const [pid = 0] = pool.pids()
    await expect(ask('a', 'hang', { deadlineMs: 100 })).rejects.toMatchObject({ failure: 'deadline' })
    expect(pool.pids()).not.toContain(pid)
    expect(await waitForExit(pid, ages)).toBe(true)
    expect(await ask('b', 'echo:2')).toBe('2')
  })

  onLinux('that take more memory than they may are killed', async () => {
    const { ask } = poolOf({ limits: { startMs: ages, residentBytes: 150_000_000, replyBytes: 10_000 } })
    await expect(ask('a', 'grow')).rejects.toMatchObject({ failure: 'memory' })
  })

  test('are stopped when they are idle, and started again on demand', async () => {
    const { pool, ask } = poolOf({ idleMs: 1 })
    await ask('a', 'echo:1')
    await waitFor(() => pool.pids().length === 0)
    expect(await ask('a', 'echo:2')).toBe('2')
  })

  test('that cannot be started fail the waiting requests', async () => {
    const { ask } = poolOf({ program: program('failing-child') })
    await expect(ask('a', 'echo:1')).rejects.toMatchObject({ failure: 'unavailable' })
    await expect(ask('a', 'echo:1')).rejects.toMatchObject({ failure: 'unavailable' })
  })

  onLinux(
    'have no environment, no files of the parent, and another user than root where that is possible',
    async () => {
      const { pool, ask } = poolOf()
      await ask('a', 'echo:1')
      const [pid] = pool.pids()
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('')
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/')
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const uid = buildChildCommand(program('obedient-child')).identity.uid ?? process.getuid?.()
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'))
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      expect(links.filter((link) => link.startsWith('socket:'))).toHaveLength(1)
      expect(links.filter((link) => link.startsWith('/') && link !== '/dev/null')).toEqual([])
    },
  )

  asRoot(
    'run as the user "nobody" where the parent is root, unless that user cannot read their program',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'children-'))
      const file = join(folder, 'child.js')
      writeFileSync(file, '')
      const identity = (mode: number) => {
        chmodSync(folder, mode)
        return buildChildCommand({ file, readable: [folder], heapMb: 32 }).identity
      }
      const unprivileged = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }))
      expect([identity(0o755).uid, identity(0o700).uid]).toEqual([unprivileged, undefined])
      rmSync(folder, { recursive: true })
    },
  )

  test('exit when their parent is killed while they compute', async () => {
    const parent = spawn(process.execPath, [here('../fixture/parent.js')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    parent.kill('SIGKILL')
    expect(await waitForExit(Number(String(line)), ages)).toBe(true)
  })
})

describe('tenants', () => {
  test('leave a child to other tenants, however many requests they send', async () => {
    const { ask, leave } = poolOf()
    for (const _ of [1, 2, 3]) leave('a', 'hang')
    expect(await ask('b', 'echo:1')).toBe('1')
    expect(await ask('c', 'echo:2')).toBe('2')
  })

  test('that were slow together leave a child to other tenants', async () => {
    const { ask, leave } = poolOf({ children: 3 })
    const slow = ['a', 'b', 'c', 'd']
    await Promise.allSettled(slow.map((tenant) => ask(tenant, 'hang', { deadlineMs: 50 })))
    for (const tenant of slow) leave(tenant, 'hang')
    // Each sends one request: next to children that compute endlessly a response may take so long that its tenant counts as slow as well.
    for (const text of ['1', '2', '3']) expect(await ask(`good${text}`, `echo:${text}`)).toBe(text)
  })

  test('are served in turn', async () => {
    const { ask } = poolOf({ children: 1 })
    const order: string[] = []
    const asked = ['a', 'a', 'a', 'b', 'c', 'b'].map(async (tenant, at) => {
      order.push(await ask(tenant, `echo:${tenant}${at}`))
    })
    await Promise.all(asked)
    expect(order).toEqual(['a0', 'b3', 'c4', 'a1', 'b5', 'a2'])
  })

  test('receive "overloaded" for requests beyond the maximum number or the maximum wait', async () => {
    const { ask, leave } = poolOf({ children: 1, maxWaiting: 1, maxWaitMs: 1 })
    // Starting the child may take longer than the maximum wait of this request.
    const begin = (): Promise<string> => ask('a', 'echo:1').catch(begin)
    await begin()
    leave('a', 'hang')
    const waiting = ask('a', 'echo:2')
    await expect(ask('a', 'echo:3')).rejects.toMatchObject({ failure: 'overloaded' })
    await expect(waiting).rejects.toMatchObject({ failure: 'overloaded' })
  })
})

describe('several concurrent requests', () => {
  /** The pool's limit for a quick request. */
  const quickMs = 200

  /**
   * A pool of two children, with a tenant whose requests were all quick. `counts` are the numbers of requests that arrived
   * together, for the last 20 requests.
   */
  async function trustedPool() {
    const { pool, ask } = poolOf({ atOnce: 4 })
    const values = (texts: readonly string[]) => Promise.all(texts.map((text) => ask('a', text)))
    // Waits until both children run and share the requests.
    while (pool.pids().length < 2) await values(['echo:1', 'echo:2', 'echo:3'])
    // On a busy machine some requests are not quick; the loop then repeats all of them.
    for (;;) {
      const begun = performance.now()
      const counts = await values(Array.from({ length: 20 }, () => 'together:'))
      if (counts.includes('4') && performance.now() - begun < quickMs) return { pool, ask, values, counts }
    }
  }

  test('are sent to one child if they belong to the only tenant', async () => {
    const { ask, values, counts } = await trustedPool()
    expect(counts.slice(0, 2)).toEqual(['1', '1'])
    // Not together while another tenant waits, nor for the remaining tenant, whose speed is not known yet.
    const [own, others] = [
      values(Array.from({ length: 3 }, () => 'together:')),
      Array.from({ length: 6 }, () => ask('b', 'together:')),
    ]
    expect([...(await own), ...(await Promise.all(others))]).toEqual(Array.from({ length: 9 }, () => '1'))
  })

  test.each([
    ['die', 'crashed'],
    ['crash', 'memory'],
    ['hang', 'deadline'],
  ])(
    'fail only for the request %s; the later ones are completed in order by another child',
    async (act, failure) => {
      const { ask } = await trustedPool()
      const texts = ['echo:0', 'echo:1', 'echo:2', act, 'echo:4', 'echo:5', 'echo:6']
      const done = await Promise.allSettled(
        texts.map((text) => ask('a', text, text === 'hang' ? { deadlineMs: 200 } : {})),
      )
      expect(
        done.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.failure)),
      ).toEqual(['0', '1', '2', failure, '4', '5', '6'])
    },
  )

  test('are not run if they are cancelled before their turn', async () => {
    const { pool, ask, values } = await trustedPool()
    const calledOff = new AbortController()
    const busy = values(['echo:0', 'echo:1'])
    const hanging = ask('a', 'hang').catch(({ failure }) => failure)
    const waiting = ask('a', 'die', { signal: calledOff.signal }).catch((reason: unknown) => reason)
    const last = ask('a', 'echo:2')
    await busy
    calledOff.abort('called off')
    await waitFor(() => pool.pids('working').length > 0)
    for (const pid of pool.pids('working')) process.kill(pid, 'SIGKILL')
    expect(await Promise.all([hanging, waiting, last])).toEqual(['died', 'called off', '2'])
  })

  test('leave a child to the next tenant', async () => {
    const { pool, ask } = await trustedPool()
    const order: string[] = []
    const hanging = Array.from({ length: 6 }, () => ask('a', 'hang').catch(() => order.push('a')))
    const [pid = 0, ...others] = pool.pids('working')
    expect(others).toHaveLength(1)
    const next = ask('b', 'echo:b')
    process.kill(pid, 'SIGKILL')
    order.push(await next)
    expect(order).toEqual(['a', 'b'])
    await pool.close()
    await Promise.all(hanging)
    expect(order).toHaveLength(7)
  })
})

test('a cancelled request is not run, or no longer awaited', async () => {
  const { ask } = poolOf({ children: 1 })
  await ask('a', 'echo:1')
  const [running, waiting] = [new AbortController(), new AbortController()]
  const requests = [
    ask('a', 'hang', { deadlineMs: 500, signal: running.signal }),
    ask('a', 'die', { signal: waiting.signal }),
    ask('a', 'echo:1', { signal: AbortSignal.abort('before') }),
  ]
  running.abort('running')
  waiting.abort('waiting')
  const outcomes = await Promise.allSettled(requests)
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual([
    'running',
    'waiting',
    'before',
  ])
  expect(await ask('b', 'echo:2')).toBe('2')
})

test('closing the pool rejects running, waiting and later requests', async () => {
  const { pool, ask } = poolOf({ children: 1 })
  await ask('a', 'echo:1')
  const pids = pool.pids()
  const requests = [ask('a', 'hang'), ask('a', 'echo:1')]
  const outcomes = Promise.allSettled(requests)
  await pool.close()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(ask('a', 'echo:1')).rejects.toMatchObject({ failure: 'unavailable' })
  for (const pid of pids) expect(await waitForExit(pid, ages)).toBe(true)
})
