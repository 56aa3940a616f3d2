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
  /** Maximum number of children; they are started on demand. */
  children: number
  /** Children that are idle for longer are stopped, in milliseconds. */
  idleMs: number
  /** Maximum number of waiting requests of one tenant. */
  maxWaiting: number
  /** Maximum time a request waits for a child, in milliseconds. */
  maxWaitMs: number
  /**
   * Maximum number of requests sent to a child together, which it must answer in order; 1 by default. They belong to one
   * tenant whose recent requests were all quick, while no other tenant waits. At least one child never
   * receives several.
   */
  atOnce?: number
}

interface PoolRequest<Answer> {
  tenant: string
  text: string
  /** Parses the child's answer; if it throws, the child is ended. */
  parse: (answer: string) => Answer
  /** Starts when a child has received the request, in milliseconds. */
  deadlineMs: number
  signal?: AbortSignal | undefined
}

export type PoolFailure = ChildFailure | 'overloaded' | 'unavailable'

/** Why there is no answer. */
export class PoolError extends Error {
  constructor(
    readonly failure: PoolFailure,
    /** Number of parts of the request that a child completed. */
    readonly done = 0,
  ) {
    super(`no answer from a child process: ${failure}`)
  }
}

export interface ChildPool {
  /** Returns the child's answer. Rejects with `PoolError`, or with the signal's reason. */
  run<Answer>(request: PoolRequest<Answer>): Promise<Answer>
  close(): Promise<void>
  /** Process ids of the running children; a killed child is excluded, even before it has exited. */
  pids(state?: 'all' | 'working'): number[]
}

interface Entry extends Omit<PoolRequest<unknown>, 'parse'> {
  since: number
  /** Throws if the text is not a valid answer. */
  answer: (text: string) => void
  reject: (error: unknown) => void
}

interface Slot {
  child: Child | undefined
  /** The tenant of its current request. */
  tenant: string | undefined
  /** Whether it received several requests together. */
  several: boolean
  starting: Promise<void> | undefined
  freeSince: number
}

const sweepMs = 1_000

/** Longer requests are sent separately, in characters. */
const shortText = 16 * 1024

/**
 * A few child processes that answer requests, each one after another. Tenants take turns. A tenant leaves at least one
 * child to the others, unless no other waits and its recent requests were all quick; all slow tenants together also
 * leave one. A child that fails costs its current request, and is replaced.
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
    if (!alone && countBusySlots((other) => other === tenant) >= shared) return false
    return !slow || countBusySlots((other) => conduct.isSlow(other, now)) < shared
  }
  const countBusySlots = (matches: (tenant: string) => boolean): number =>
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
    // If all children are busy, the next one that is free dispatches again.
    if (slots.some(({ tenant }) => tenant === undefined)) wakeLater(now)
  }

  /** Further requests of the same tenant to send together with `entry`. */
  function more({ key: tenant, entry }: { key: string; entry: Entry }): Entry[] {
    const [only, other] = turns.keys()
    const isAlone = only === tenant && other === undefined
    if (!isAlone || !conduct.isTrusted(tenant) || entry.text.length > shortText) return []
    // This child gets only one request, so another tenant waits for one request at most, however long the others take.
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
    const requests = entries.map(async (entry) => {
      try {
        const text = await child.request(entry.text, entry.deadlineMs)
        // A tenant that sends its next request immediately after a response must not find its child busy.
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
        // If children are killed repeatedly, for example by the system because of memory, the tenant's requests are the cause.
        const blamed = failure === 'died' && !closed && conduct.isHarmful(tenant)
        entry.reject(new PoolError(blamed ? 'crashed' : failure, done))
        return []
      }
    })
    turns.requeue(tenant, (await Promise.all(requests)).flat())
    if (!free) release(slot)
    dispatch()
  }

  function release(slot: Slot): void {
    slot.tenant = undefined
    slot.several = false
    slot.freeSince = performance.now()
  }

  /** Starts as many children as there are waiting requests. */
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

  /** Schedules the next dispatch for when the delay of a tenant ends, or when children may be started again. */
  function wakeLater(now: number): void {
    let next = starts.againAt > now ? starts.againAt : Number.POSITIVE_INFINITY
    for (const tenant of turns.keys()) {
      const until = conduct.waitsUntil(tenant)
      if (until > now) next = Math.min(next, until)
    }
    clearTimeout(wake)
    if (Number.isFinite(next)) wake = setTimeout(dispatch, next - now + 1)
  }

  /** Runs only while requests wait or children exist. */
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
    pids: (state = 'all') =>
      slots.flatMap(({ child, tenant }) =>
        child?.alive && (state === 'all' || tenant !== undefined) ? [child.pid] : [],
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
