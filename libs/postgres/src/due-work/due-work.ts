import { randomUUID } from 'node:crypto'
import { delay, type Logger, msToIdleTick, retryDelayMs } from '@opsplane/runtime'
import type { Database } from '../database.js'
import { databaseFault, isDatabaseUnavailable } from '../errors.js'
import type { DueTable } from './due-table.js'
import { nowSql } from './statements.js'
import { type CreateWorker, type DueCounts, runStatement, type Worker } from './work.js'

export interface DueWorkOptions {
  sql: Database['sql']
  log: Logger
  /** Identifies this process in its leases. */
  owner?: string
  /** Polling interval for due rows while none is expected; 10 s if absent. */
  restMs?: number
  /**
   * The time source of tests that simulate time. Otherwise the database's clock applies, never the clock of the
   * process.
   */
  simulated?: { now(): string } | undefined
  /** Wakes the same work in other replicas. Best effort: a wake-up may be lost. */
  hints?: WakeHints
}

export interface WakeHints {
  send(work: string): void
  /** Returns a function that unsubscribes. */
  subscribe(work: string, wake: () => void): () => void
}

export interface DueWork {
  /** Something is due, or will be in `inMs` milliseconds. Best effort: due rows are found without it within 10 s. */
  wake(inMs?: number): void
  counts(): DueCounts
}

/** Several kinds of work that poll together for due rows: one statement every 10 s while idle. */
export interface DueWorkGroup {
  start(make: CreateWorker): DueWork
  /** The work that runs in this process, with its counters. */
  works(): { name: string; of: DueTable; counts: DueCounts }[]
  /** Wakes the work of this name in this process or, if it does not run here, in another replica. */
  wake(work: string, inMs?: number): void
  /** Stops claiming and waits for work in flight, up to the grace period; then aborts and releases it. */
  close(graceMs?: number): Promise<void>
}

interface Member {
  worker: Worker
  counts: DueCounts
  lookAtMs: number
  isBusy(): boolean
  wake(inMs: number): void
  stop(graceMs: number): Promise<void>
}

export function createDueWork({ sql, log, ...options }: DueWorkOptions): DueWorkGroup {
  // A simulated clock has no timers.
  const { owner = randomUUID(), simulated, restMs = simulated ? 100 : 10_000, hints } = options
  const closing = new AbortController()
  const members: Member[] = []
  const trouble = createTrouble(log)
  const at = () => simulated?.now() ?? null
  let interrupt = new AbortController()

  const pollSoon = (member: Member) => {
    member.lookAtMs = 0
    interrupt.abort()
  }

  async function poll(polledMembers: readonly Member[]) {
    const columns = polledMembers.map(
      ({ worker }, index) =>
        `(extract(epoch from ${worker.nextDue} - ${nowSql}) * 1000)::float8 as w${index}`,
    )
    const [row] = await runStatement<Record<string, number | null>>(sql, {
      text: `select ${columns.join(', ')}`,
      parameters: [at()],
    })
    for (const [index, member] of polledMembers.entries()) {
      const everyMs = simulated ? restMs : (member.worker.options.lookEveryMs ?? restMs)
      const nextMs = msToIdleTick(everyMs)
      member.lookAtMs = performance.now() + nextMs
      const inMs = row?.[`w${index}`] ?? null
      if (inMs === null || inMs > 0) member.worker.fruitless = 0
      if (inMs !== null && inMs < nextMs) member.wake(inMs)
    }
  }

  async function watch() {
    for (let failures = 0; !closing.signal.aborted; ) {
      interrupt = new AbortController()
      const nowMs = performance.now()
      const idle = members.filter((member) => !member.isBusy())
      // Work that would be polled soon anyway is included in the same statement.
      const polledMembers = idle.some(({ lookAtMs }) => lookAtMs <= nowMs)
        ? idle.filter(({ lookAtMs }) => lookAtMs <= nowMs + restMs / 2)
        : []
      try {
        if (polledMembers.length > 0) await poll(polledMembers)
        trouble.over('look')
        failures = 0
      } catch (error) {
        trouble.met('look', error)
        await delay(pauseMs(++failures, restMs), closing.signal)
        continue
      }
      const next = Math.min(...idle.map(({ lookAtMs }) => lookAtMs), nowMs + restMs)
      await delay(Math.max(next - performance.now(), 0), AbortSignal.any([interrupt.signal, closing.signal]))
    }
  }

  const watching = watch()
  return {
    start(make) {
      const counts = noCounts()
      const worker = make({ sql, log, owner, at, counts, closing: closing.signal })
      const { name } = worker.options
      const member = createMember({
        ...{ worker, counts, trouble, restMs, closing: closing.signal },
        idle: () => pollSoon(member),
        helpWanted: () => hints?.send(name),
      })
      members.push(member)
      const unsubscribe = hints?.subscribe(name, () => member.wake(0))
      closing.signal.addEventListener('abort', () => unsubscribe?.())
      pollSoon(member)
      return {
        wake: (inMs = 0) => member.wake(inMs),
        counts() {
          const present = { ...counts }
          counts.lagMs = 0
          return present
        },
      }
    },
    works: () =>
      members.map(({ worker: { options }, counts }) => ({
        name: options.name,
        of: options.of,
        counts: { ...counts },
      })),
    wake(work, inMs = 0) {
      const member = members.find(({ worker }) => worker.options.name === work)
      if (member) member.wake(inMs)
      else hints?.send(work)
    },
    async close(graceMs = 5_000) {
      closing.abort()
      await Promise.all([watching, ...members.map((member) => member.stop(graceMs))])
    },
  }
}

/** Claims and works once, without a loop; resolves to the counts. */
export async function attemptDueWork(
  make: CreateWorker,
  { sql, log, simulated }: Pick<DueWorkOptions, 'sql' | 'log' | 'simulated'>,
): Promise<DueCounts> {
  const counts = noCounts()
  const closing = new AbortController().signal
  const worker = make({ sql, log, owner: randomUUID(), at: () => simulated?.now() ?? null, counts, closing })
  await worker.round()
  await worker.drain(600_000)
  return counts
}

const noCounts = (): DueCounts => ({ claimed: 0, done: 0, failed: 0, lost: 0, lagMs: 0 })

interface MemberOptions {
  worker: Worker
  counts: DueCounts
  trouble: Trouble
  restMs: number
  closing: AbortSignal
  /** The work has nothing more to do now. */
  idle(): void
  /** More rows are due than this process can claim now. */
  helpWanted(): void
}

function createMember({ worker, counts, trouble, restMs, closing, idle, helpWanted }: MemberOptions): Member {
  const { name } = worker.options
  let running: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined
  let timerAtMs = Number.POSITIVE_INFINITY

  const round = async () => {
    try {
      const full = await worker.round()
      trouble.over(name)
      if (!full) return
      again = true
      helpWanted()
    } catch (error) {
      worker.fruitless++
      trouble.met(name, error)
    }
  }
  const rounds = async () => {
    while (again && !closing.aborted) {
      again = false
      await round()
      // One fruitless round is normal: it finds out that no rows are left.
      if (worker.fruitless > 1) await delay(pauseMs(worker.fruitless - 1, restMs), closing)
    }
    running = undefined
    if (!closing.aborted) idle()
  }
  const start = () => {
    clearTimeout(timer)
    timerAtMs = Number.POSITIVE_INFINITY
    if (closing.aborted) return
    again = true
    running ??= rounds()
  }

  return {
    worker,
    counts,
    lookAtMs: 0,
    isBusy: () => running !== undefined,
    wake(inMs) {
      if (inMs <= 0) return start()
      const atMs = performance.now() + inMs
      if (atMs >= timerAtMs || closing.aborted) return
      clearTimeout(timer)
      timerAtMs = atMs
      timer = setTimeout(start, Math.ceil(Math.min(inMs, 2 ** 31 - 1)))
    },
    async stop(graceMs) {
      clearTimeout(timer)
      const drained = worker.drain(graceMs)
      // It may reject while a round is still awaited; the rejection is thrown at the await below.
      drained.catch(() => {})
      await running
      await drained
      // Rows a round has claimed in the meantime.
      await worker.drain(graceMs)
    },
  }
}

/** Maximum pause after a failure, even if the polling interval is longer. */
const maxPauseMs = 5_000

const pauseMs = (attempt: number, maxMs: number) =>
  retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: Math.min(maxMs, maxPauseMs) })

type Trouble = ReturnType<typeof createTrouble>

/** Logs once when something fails, and once when it works again. */
function createTrouble(log: Logger) {
  const away = new Set<string>()
  const faulty = new Set<string>()
  return {
    met(workName: string, error: unknown) {
      if (isDatabaseUnavailable(error)) {
        if (away.size === 0) log.warn({ err: error }, `Postgres ${databaseFault(error)}; due work waits`)
        away.add(workName)
      } else if (!faulty.has(workName)) {
        faulty.add(workName)
        log.error({ err: error, work: workName }, 'due work could not be leased; trying again')
      }
    },
    over(workName: string) {
      faulty.delete(workName)
      if (away.delete(workName) && away.size === 0) log.info('due work is being claimed again')
    },
  }
}
