import { createFairQueue, type Logger } from '@opsplane/runtime'
import type { ChildFailure } from './channel.js'
import { type Child, ChildFailedError, type ChildLimits, NotBegunError, startChild } from './child.js'
import type { ChildProgram } from './program.js'
import { createStartAttempts } from './start-attempts.js'
import { createTenantStats } from './tenant-stats.js'

export interface PoolOptions {
  log: Logger
  program: ChildProgram
  limits: ChildLimits
  /** Children at most; started when there is something for them. */
  children: number
  /** One with nothing to do for so long is stopped. */
  idleMs: number
  /** Requests of one tenant that may wait. */
  maxWaiting: number
  /** The longest a request waits for a child. */
  maxWaitMs: number
  /**
   * Requests that a child is given at once at most, which it must answer in their order; one unless given. They are of a tenant
   * whose requests were all quick lately, while no other one waits, and one child is never given several.
   */
  atOnce?: number
}

interface PoolRequest<Answer> {
  tenant: string
  text: string
  /** Reads the child's answer; one that it throws at ends the child. */
  parse: (answer: string) => Answer
  /** From when a child has it. */
  deadlineMs: number
  signal?: AbortSignal | undefined
}

export type PoolFailure = ChildFailure | 'overloaded' | 'unavailable'

/** Why there is no answer. */
export class PoolError extends Error {
  constructor(
    readonly failure: PoolFailure,
    /** Parts of the request a child had done by then. */
    readonly done = 0,
  ) {
    super(`no answer from a child process: ${failure}`)
  }
}

export interface ChildPool {
  /** The child's answer. Rejects with `PoolError`, or with the signal's reason. */
  run<Answer>(request: PoolRequest<Answer>): Promise<Answer>
  close(): Promise<void>
  /** Process ids of the children that run; one that was killed is none of them, even while it still ends. */
  pids(which?: 'all' | 'working'): number[]
}

interface Entry extends Omit<PoolRequest<unknown>, 'parse'> {
  since: number
  /** Throws where it is no answer. */
  answer: (text: string) => void
  reject: (error: unknown) => void
}

interface Slot {
  child: Child | undefined
  /** Whose request it works on. */
  tenant: string | undefined
  /** Whether it was given several. */
  several: boolean
  starting: Promise<void> | undefined
  freeSince: number
}

const sweepMs = 1_000

/** What is longer is sent by itself. */
const shortText = 16 * 1024

/**
 * A few child processes that answer requests, one after another each. Tenants take turns. Each leaves at least one child to the
 * others, unless none of them waits and all it has asked for lately was quick; and so do all together that were slow. A
 * child that has failed costs the request it worked on, and is replaced.
 */
export function createChildPool(options: PoolOptions): ChildPool {
  const { log, limits, children, atOnce = 1 } = options
  const slots: Slot[] = Array.from({ length: children }, () => ({
    child: undefined,
    tenant: undefined,
    several: false,
    starting: undefined,
    freeSince: 0,
  }))
  const turns = createFairQueue<Entry>()
  const conduct = createTenantStats()
  const shared = Math.max(1, children - 1)
  const starts = createStartAttempts(log, options.program)
  let closed = false
  let sweep: NodeJS.Timeout | undefined
  let wake: NodeJS.Timeout | undefined

  const mayRun = (now: number) => (tenant: string) => {
    if (conduct.waitsUntil(tenant) > now) return false
    const slow = conduct.isSlow(tenant, now)
    const alone = turns.keyCount === 1 && conduct.isTrusted(tenant)
    if (!alone && held((other) => other === tenant) >= shared) return false
    return !slow || held((other) => conduct.isSlow(other, now)) < shared
  }
  const held = (matches: (tenant: string) => boolean): number =>
    slots.filter(({ tenant }) => tenant !== undefined && matches(tenant)).length

  function dispatch(): void {
    if (closed) return
    const now = performance.now()
    for (const slot of slots) {
      if (turns.size === 0) return
      if (!slot.child?.alive || slot.tenant !== undefined) continue
      const next = turns.dequeue(mayRun(now))
      if (!next) break
      void work(slot, slot.child, next.key, [next.entry, ...more(next)])
    }
    if (turns.size === 0) return
    startMissing(now)
    // Where all of them work, the next that is done looks again.
    if (slots.some(({ tenant }) => tenant === undefined)) wakeLater(now)
  }

  /** The limits sent to a child with a request. */
  function more({ key: tenant, entry }: { key: string; entry: Entry }): Entry[] {
    const [only, other] = turns.keys()
    const isAlone = only === tenant && other === undefined
    if (!isAlone || !conduct.isTrusted(tenant) || entry.text.length > shortText) return []
    // The next tenant waits for one request at most, however long consecutive ones of others take.
    if (slots.filter(({ several }) => several).length >= children - 1) return []
    let left = atOnce - 1
    return turns.dequeueMore(tenant, ({ text }) => text.length <= shortText && left-- > 0)
  }

  async function work(slot: Slot, child: Child, tenant: string, entries: readonly Entry[]) {
    slot.tenant = tenant
    slot.several = entries.length > 1
    let begun = performance.now()
    const last = entries.at(-1)
    let free = false
    const asked = entries.map(async (entry) => {
      try {
        const text = await child.request(entry.text, entry.deadlineMs)
        // A tenant that sends its next request right after a response must not find its child busy.
        free = entry === last
        if (free) release(slot)
        entry.answer(text)
        const now = performance.now()
        conduct.answered(tenant, now - begun, now)
        begun = now
        return []
      } catch (error) {
        if (error instanceof NotBegunError && !closed) return entry.signal?.aborted ? [] : [entry]
        child.kill()
        conduct.struck(tenant, performance.now())
        const { failure, done } = error instanceof ChildFailedError ? error : nonsense
        // Whatever kills a child again and again, such as the system for its memory, has its reason in what it is asked.
        const blamed = failure === 'died' && !closed && conduct.isHarmful(tenant)
        entry.reject(new PoolError(blamed ? 'crashed' : failure, done))
        return []
      }
    })
    turns.requeue(tenant, (await Promise.all(asked)).flat())
    if (!free) release(slot)
    dispatch()
  }

  function release(slot: Slot): void {
    slot.tenant = undefined
    slot.several = false
    slot.freeSince = performance.now()
  }

  /** As many as there is work for. */
  function startMissing(now: number): void {
    if (now < starts.againAt) return
    const coming = slots.filter(({ starting }) => starting).length
    const missing = slots.filter(({ child, starting }) => !child && !starting)
    for (const slot of missing.slice(0, Math.max(0, turns.size - coming))) slot.starting = start(slot)
  }

  async function start(slot: Slot): Promise<void> {
    try {
      const child = await startChild(starts.command(), limits)
      starts.succeeded()
      void child.exited.then(() => {
        slot.child = undefined
        dispatch()
      })
      if (child.alive) slot.child = child
      if (closed) {
        child.kill()
        await child.exited
      }
    } catch (error) {
      if (starts.failed(error)) refuse(() => true, 'unavailable')
    }
    slot.starting = undefined
    slot.freeSince = performance.now()
    dispatch()
  }

  const refuse = (matches: (entry: Entry) => boolean, failure: PoolFailure) => {
    for (const entry of turns.remove(matches)) entry.reject(new PoolError(failure))
  }

  /** When the next tenant has waited for its own fault, or children may be started again. */
  function wakeLater(now: number): void {
    let next = starts.againAt > now ? starts.againAt : Number.POSITIVE_INFINITY
    for (const tenant of turns.keys()) {
      const until = conduct.waitsUntil(tenant)
      if (until > now) next = Math.min(next, until)
    }
    clearTimeout(wake)
    if (Number.isFinite(next)) wake = setTimeout(dispatch, next - now + 1)
  }

  /** Only while something waits or runs. */
  function sweepRegularly(): void {
    sweep ??= setInterval(() => {
      const now = performance.now()
      refuse(({ since }) => now - since > options.maxWaitMs, 'overloaded')
      for (const { child, tenant, freeSince } of slots)
        if (tenant === undefined && now - freeSince > options.idleMs) child?.kill()
      if (turns.size > 0 || slots.some(({ child, starting }) => child || starting)) return
      clearInterval(sweep)
      sweep = undefined
    }, sweepMs).unref()
  }

  function run<Answer>({ parse, ...request }: PoolRequest<Answer>): Promise<Answer> {
    const { tenant, signal } = request
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (closed) return Promise.reject(new PoolError('unavailable'))
    if (turns.waiting(tenant) >= options.maxWaiting) return Promise.reject(new PoolError('overloaded'))
    return new Promise((resolve, reject) => {
      const answer = (text: string) => resolve(parse(text))
      const entry: Entry = { ...request, since: performance.now(), answer, reject }
      if (signal) endWith(signal, entry)
      turns.add(tenant, entry)
      sweepRegularly()
      dispatch()
    })
  }

  function endWith(signal: AbortSignal, entry: Entry): void {
    const { answer, reject } = entry
    const abort = () => {
      turns.remove((waiting) => waiting === entry)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort)
    entry.answer = (text) => {
      answer(text)
      signal.removeEventListener('abort', abort)
    }
    entry.reject = (error) => {
      signal.removeEventListener('abort', abort)
      reject(error)
    }
  }

  return {
    run,
    pids: (which = 'all') =>
      slots.flatMap(({ child, tenant }) =>
        child?.alive && (which === 'all' || tenant !== undefined) ? [child.pid] : [],
      ),
    async close() {
      closed = true
      clearInterval(sweep)
      clearTimeout(wake)
      refuse(() => true, 'unavailable')
      const running = slots.flatMap(({ child }) => (child ? [child] : []))
      for (const child of running) child.kill()
      await Promise.all([
        ...running.map(({ exited: gone }) => gone),
        ...slots.map(({ starting }) => starting),
      ])
    },
  }
}

const nonsense = { failure: 'died', done: 0 } as const
