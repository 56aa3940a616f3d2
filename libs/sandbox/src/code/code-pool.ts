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
  /** Maximum number of processes, including spare ones. */
  children: number
  /** Maximum number of processes of one tenant. */
  childrenOfTenant: number
  /** Number of processes started ahead for the next tenant, after the first request. */
  spares: number
  idleMs: number
  /** How long a tenant may keep a child that other tenants wait for, in milliseconds. */
  turnMs: number
  maxWaiting: number
  maxWaitMs: number
  startMs: number
  frameBytes: number
  ownBytes: number
}

interface CodePool {
  /** The run will be settled, unless this promise rejects with `PoolError` because the run was not started. */
  add(run: Run): Promise<void>
  /** Ends a run, whether it is waiting or running. */
  end(run: Run, outcome: RunOutcome): void
  close(): Promise<void>
  pids(state?: 'all' | 'working' | 'spare'): number[]
}

interface Entry {
  run: Run
  begun: () => void
  refuse: (failure: PoolFailure) => void
}

interface Place {
  child: CodeChild
  /** The only tenant that the child serves; `undefined` for a spare one. */
  tenant: string | undefined
  ready: boolean
  /** The child receives no further runs and exits after its last one. */
  retires: boolean
  since: number
  idleSince: number
}

/** Maximum number of runs of a child, and how many of them may compute; with two, the child need not idle between runs. */
const runsAtOnce = 32
const computingAtOnce = 2
/** Maximum sum of the memory limits of a child's runs, in MB; a single run may exceed it. */
const promisedMb = 512
/** A tenant whose runs wait longer than this may have one more child, in milliseconds. */
const patienceMs = 100
const sweepMs = 250
const cores = availableParallelism()

/**
 * Child processes that run code, each for a single tenant during its whole life. Tenants take turns: if there are more
 * tenants than children, a tenant gives up a child after its turn.
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

  /** Whether another tenant waits and has no child. */
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

  /**
   * A tenant may have several children while a core is free; the last quarter of the pool is reserved for tenants without
   * one.
   */
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

  /** Events of the same moment are handled together. */
  function dispatchSoon(): void {
    if (scheduled || closed) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      dispatch()
    })
  }

  /** Starts children for tenants with none or too few. Spare ones start later, so that they do not delay running code. */
  function startMissing(now: number, spareOnes = 0): void {
    if (now < starts.againAt) return
    const neededChildren = tenantsInNeed(now)
    const missing = neededChildren + spareOnes - spares().length
    const room = options.children - places.size
    for (let count = 0; count < Math.min(missing, room); count += 1) void start()
    if (neededChildren > Math.max(0, room) + spares().length) makeRoom(neededChildren, now)
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

  /**
   * Ends idle children, or retires children whose tenants have had their turn, starting with tenants that have the most
   * children.
   */
  function makeRoom(neededChildren: number, now: number): void {
    const without = [...turns.keys()].filter((tenant) => placesOf(tenant).length === 0).length
    const retiringCount = [...places].filter(({ retires }) => retires).length
    const kept = [...places].filter(({ tenant, retires }) => tenant !== undefined && !retires)
    const idle = kept.filter(({ child }) => child.size === 0)
    const long = kept.filter(({ child, since }) => child.size > 0 && now - since > options.turnMs)
    const order = [
      ...idle.sort((a, b) => a.idleSince - b.idleSince),
      ...long.sort((a, b) => childrenOf(b) - childrenOf(a) || a.child.size - b.child.size),
    ]
    for (const place of order.slice(0, Math.max(0, Math.min(neededChildren, without) - retiringCount))) {
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

  /** Starts a run again that has had no effect yet. */
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
    end(run, outcome) {
      const [waiting] = turns.remove((entry) => entry.run === run)
      if (waiting) {
        waiting.begun()
        run.settle(outcome)
      } else for (const { child } of places) child.end(run, outcome)
    },
    pids: (state = 'all') =>
      [...places].flatMap(({ child, tenant, ready }) => {
        const shown = state === 'all' || (state === 'spare' ? tenant === undefined && ready : child.size > 0)
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
