import { availableParallelism } from 'node:os'
import { createFairQueue, type Logger } from '@opsplane/runtime'
import { PoolError, type PoolFailure } from '../pool/pool.js'
import type { ChildProgram } from '../pool/program.js'
import { createStartAttempts } from '../pool/start-attempts.js'
import { createTenantStats } from '../pool/tenant-stats.js'
import { type CodeChild, startCodeChild } from './code-child.js'
import { failedOutcome, type Run, type RunOutcome } from './run.js'

interface CodePoolOptions {
  log: Logger
  program: ChildProgram
  /** Processes at most, the spare ones among them. */
  children: number
  /** Of them, one tenant may have so many. */
  childrenOfTenant: number
  /** Started ahead for the next request, once there was a first one. */
  spares: number
  idleMs: number
  /** How long a tenant may keep a child that others wait for. */
  turnMs: number
  maxWaiting: number
  maxWaitMs: number
  startMs: number
  frameBytes: number
  ownBytes: number
}

interface CodePool {
  /** It is settled in any case, unless this rejects: with `PoolError`, where it was not begun. */
  add(run: Run): Promise<void>
  /** Ends one, wherever it is. */
  end(run: Run, ending: RunOutcome): void
  close(): Promise<void>
  pids(which?: 'all' | 'working' | 'spare'): number[]
}

interface Entry {
  run: Run
  begun: () => void
  refuse: (failure: PoolFailure) => void
}

interface Place {
  child: CodeChild
  /** It serves this one and no other. */
  tenant: string | undefined
  ready: boolean
  /** Gets nothing more, and ends with its last run. */
  retires: boolean
  since: number
  idleSince: number
}

/** Runs a child may have, and of those so many that do not wait; with two it need not wait for the next. */
const runsAtOnce = 32
const computingAtOnce = 2
/** MB that runs of one child may have together, unless there is only one. */
const promisedMb = 512
/** A tenant whose runs wait for longer may have one more child. */
const patienceMs = 100
const sweepMs = 250
const cores = availableParallelism()

/**
 * Child processes that run code, each of one tenant from its first run to its end. Tenants take turns; where there are more of
 * them than children, a tenant that has had one for its turn gives it up.
 */
export function createCodePool(options: CodePoolOptions): CodePool {
  const { log } = options
  const places = new Set<Place>()
  const turns = createFairQueue<Entry>()
  const conduct = createTenantStats()
  const starts = createStartAttempts(log, options.program)
  let [closed, lastAsked] = [false, 0]
  let sweep: NodeJS.Timeout | undefined
  let wake: NodeJS.Timeout | undefined
  let scheduled = false

  const placesOf = (tenant: string) =>
    [...places].filter(
      (place) => place.tenant === tenant && place.ready && !place.retires && place.child.alive,
    )
  const spares = () => [...places].filter(({ tenant, child }) => tenant === undefined && child.alive)
  const spareReady = () => spares().find(({ ready }) => ready)

  /** Whether a tenant without a child waits for one. */
  const othersWait = (tenant: string): boolean => {
    for (const other of turns.keys()) if (other !== tenant && placesOf(other).length === 0) return true
    return false
  }

  function placeFor(tenant: string, now: number): Place | undefined {
    if (conduct.waitsUntil(tenant) > now) return undefined
    const own = placesOf(tenant)
    const best = own
      .filter(({ child }) => child.computing < computingAtOnce && child.size < runsAtOnce)
      .filter(({ child }) => child.size === 0 || child.promisedMb < promisedMb)
      .sort((a, b) => a.child.computing - b.child.computing)[0]
    if (best) return best
    return own.length === 0 || (mayHaveMore(own.length) && !othersWait(tenant)) ? spareReady() : undefined
  }

  /** Beyond its first child, while a core is free for it: the last quarter is for those who have none. */
  const mayHaveMore = (own: number): boolean =>
    own < options.childrenOfTenant &&
    [...places].filter(({ child }) => child.computing > 0).length < cores &&
    places.size - spares().length < options.children - Math.max(1, Math.floor(options.children / 4))

  function dispatch(): void {
    if (closed) return
    const now = performance.now()
    for (;;) {
      let found: Place | undefined
      const next = turns.dequeue((tenant) => {
        found = placeFor(tenant, now)
        return found !== undefined
      })
      if (!next || !found) break
      if (found.tenant === undefined) {
        found.tenant = next.key
        found.since = now
      }
      next.entry.begun()
      found.child.begin(next.entry.run)
    }
    for (const place of places) if (place.retires && place.child.size === 0) place.child.kill()
    startMissing(now)
    wakeLater(now)
  }

  /** Whatever happens at one moment is looked at together. */
  function dispatchSoon(): void {
    if (scheduled || closed) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      dispatch()
    })
  }

  /** Children for tenants who have none, or too few; spare ones a little later, so as not to take time from what is begun. */
  function startMissing(now: number, spareOnes = 0): void {
    if (now < starts.againAt) return
    const wanted = tenantsInNeed(now)
    const missing = wanted + spareOnes - spares().length
    const room = options.children - places.size
    for (let count = 0; count < Math.min(missing, room); count += 1) void start()
    if (wanted > Math.max(0, room) + spares().length) makeRoom(wanted, now)
  }

  function tenantsInNeed(now: number): number {
    let count = 0
    for (const tenant of turns.keys()) {
      if (conduct.waitsUntil(tenant) > now) continue
      const own = placesOf(tenant).length
      if (own === 0 || (mayHaveMore(own) && waitedMs(tenant, now) > patienceMs)) count += 1
    }
    return count
  }
  const waitedMs = (tenant: string, now: number) => now - (turns.oldest(tenant)?.run.since ?? now)

  /** Ends who has nothing to do, or lets go of children whose tenants have had their turn, most children first. */
  function makeRoom(wanted: number, now: number): void {
    const without = [...turns.keys()].filter((tenant) => placesOf(tenant).length === 0).length
    const leaving = [...places].filter(({ retires }) => retires).length
    const kept = [...places].filter(({ tenant, retires }) => tenant !== undefined && !retires)
    const idle = kept.filter(({ child }) => child.size === 0)
    const long = kept.filter(({ child, since }) => child.size > 0 && now - since > options.turnMs)
    const order = [
      ...idle.sort((a, b) => a.idleSince - b.idleSince),
      ...long.sort((a, b) => childrenOf(b) - childrenOf(a) || a.child.size - b.child.size),
    ]
    for (const place of order.slice(0, Math.max(0, Math.min(wanted, without) - leaving))) {
      place.retires = true
      if (place.child.size === 0) place.child.kill()
    }
  }
  const childrenOf = ({ tenant }: Place) => [...places].filter((place) => place.tenant === tenant).length

  async function start(): Promise<void> {
    const now = performance.now()
    const { startMs, frameBytes, ownBytes } = options
    const place: Place = {
      child: startCodeChild({
        command: starts.command(),
        startMs,
        frameBytes,
        ownBytes,
        changed: () => {
          place.idleSince = performance.now()
          dispatchSoon()
        },
        again: (run) => again(run),
        struck: () => place.tenant !== undefined && conduct.struck(place.tenant, performance.now()),
      }),
      tenant: undefined,
      ready: false,
      retires: false,
      since: now,
      idleSince: now,
    }
    places.add(place)
    void place.child.exited.then(() => {
      places.delete(place)
      dispatchSoon()
    })
    try {
      await place.child.ready
      place.ready = true
      place.idleSince = performance.now()
      starts.succeeded()
    } catch (error) {
      if (!closed && starts.failed(error)) refuse(() => true, 'unavailable')
    }
    dispatchSoon()
  }

  /** Begins one again that has done nothing yet. */
  function again(run: Run): void {
    if (run.settled) return
    run.reset()
    void add(run).catch(() => run.settle(lost))
  }

  const refuse = (matches: (entry: Entry) => boolean, failure: PoolFailure) => {
    for (const entry of turns.remove(matches)) entry.refuse(failure)
  }

  function wakeLater(now: number): void {
    clearTimeout(wake)
    if (turns.size === 0) return
    let next = starts.againAt > now ? starts.againAt : Number.POSITIVE_INFINITY
    for (const tenant of turns.keys()) {
      const until = conduct.waitsUntil(tenant)
      if (until > now) next = Math.min(next, until)
    }
    if (Number.isFinite(next)) wake = setTimeout(dispatch, next - now + 1)
  }

  function sweepRegularly(): void {
    sweep ??= setInterval(() => {
      const now = performance.now()
      refuse(({ run }) => now - run.since > options.maxWaitMs, 'overloaded')
      for (const { child, tenant, ready, idleSince } of places) {
        const done = tenant !== undefined || lastAsked < now - options.idleMs
        if (ready && done && child.size === 0 && now - idleSince > options.idleMs) child.kill()
      }
      if (turns.size > 0) dispatch()
      if (lastAsked > now - options.idleMs) startMissing(now, options.spares)
      if (places.size > 0 || turns.size > 0) return
      clearInterval(sweep)
      sweep = undefined
    }, sweepMs).unref()
  }

  function add(run: Run): Promise<void> {
    const { tenant } = run.request
    if (closed) return Promise.reject(new PoolError('unavailable'))
    if (turns.waiting(tenant) >= options.maxWaiting) return Promise.reject(new PoolError('overloaded'))
    return new Promise((resolve, reject) => {
      lastAsked = performance.now()
      turns.add(tenant, { run, begun: resolve, refuse: (failure) => reject(new PoolError(failure)) })
      sweepRegularly()
      dispatchSoon()
    })
  }

  return {
    add,
    end(run, ending) {
      const [waiting] = turns.remove((entry) => entry.run === run)
      if (waiting) {
        waiting.begun()
        run.settle(ending)
      } else for (const { child } of places) child.end(run, ending)
    },
    pids: (which = 'all') =>
      [...places].flatMap(({ child, tenant, ready }) => {
        const shown = which === 'all' || (which === 'spare' ? tenant === undefined && ready : child.size > 0)
        return shown && child.alive ? [child.pid] : []
      }),
    async close() {
      closed = true
      clearInterval(sweep)
      clearTimeout(wake)
      refuse(() => true, 'unavailable')
      const running = [...places].map(({ child }) => child)
      for (const child of running) child.kill()
      await Promise.all(running.map(({ exited: gone }) => gone))
    },
  }
}

const lost = failedOutcome('crashed', 'the process that ran it has ended')
