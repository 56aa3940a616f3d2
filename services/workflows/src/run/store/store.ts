import { type ArrayParameters, createMonths } from '@opsplane/eventstore'
import {
  createGroups,
  type Database,
  isDatabaseUnavailable,
  isMissingPartition,
  isTransient,
  type StatementRunner,
} from '@opsplane/postgres'
import { delay, retryDelayMs } from '@opsplane/runtime'
import { type NewRun, startParameters, startStatement } from './start-statement.js'
import { throttle } from './throttle.js'
import {
  type Transition,
  type TransitionResult,
  transitionParameters,
  transitionStatement,
} from './transition.js'

export interface RunStoreOptions {
  database: Database
  /** The simulated time in tests. */
  at(): string | null
  leaseMs: number
  /** Called after events were committed. */
  announce(): void
  closing: AbortSignal
}

export interface RunStore {
  /**
   * Stores a new run; returns false if its trigger has already started one. Throws if Postgres is unavailable; the
   * outcome is then unknown unless the run has a trigger key.
   */
  insert(start: NewRun, tx?: StatementRunner): Promise<boolean>
  /**
   * Stores a transition and retries while Postgres is unavailable. Returns `undefined` if another worker has the lease,
   * or the store is closed.
   */
  commit(transition: Transition): Promise<{ signals: number } | undefined>
  /** The same with further changes in its transaction; `followed` is `undefined` if the response was lost. */
  commitWith<Followed>(
    transition: Transition,
    follow: (tx: StatementRunner) => Promise<Followed>,
  ): Promise<{ signals: number; followed: Followed | undefined } | undefined>
  /** Repeats an idempotent operation while Postgres is unavailable. Returns `undefined` once the store is closed. */
  insist<Result>(attempt: () => Promise<Result>): Promise<Result | undefined>
  idle(): Promise<void>
}

const commitRetry = { strategy: 'exponential', baseMs: 50, maxMs: 2_000 } as const

/** Events of runs committed within this interval are published and consumed together, in milliseconds. */
const announceEveryMs = 20

export function createRunStore({ database, at, leaseMs, closing, ...options }: RunStoreOptions): RunStore {
  const { planned } = database
  const announce = throttle(options.announce, announceEveryMs)
  const months = createMonths('add_run_month')
  const eventMonths = createMonths('add_event_month')
  let written = 0
  /**
   * A plan made for nearly empty tables becomes inefficient later. The changing suffix forces a new plan as tables
   * grow.
   */
  const text = (statement: string, rows: number) => {
    written += rows
    return `${statement}\n-- ${Math.floor(Math.log2(written) / 3)}`
  }
  const statements = {
    transition: [transitionStatement(false), transitionStatement(true)] as const,
    start: [startStatement(false), startStatement(true)] as const,
  }

  async function ensureMonths(sql: StatementRunner, ids: readonly string[], eventIds: readonly string[]) {
    for (const id of ids) {
      const made = months.ensure(sql, id)
      if (made) await made
    }
    for (const id of eventIds) {
      const made = eventMonths.ensure(sql, id)
      if (made) await made
    }
  }

  async function move(sql: StatementRunner, transitions: readonly Transition[]) {
    const withEvents = transitions.some(({ events }) => events.length > 0)
    if (withEvents)
      await ensureMonths(
        sql,
        [],
        transitions.flatMap(({ events }) => events.map(({ id }) => id)),
      )
    const statement = statements.transition[withEvents ? 1 : 0]
    const parameters = transitionParameters(transitions, { at: at(), withEvents })
    const rows = await runStatement<TransitionResult>(sql, text(statement, transitions.length), parameters)
    if (withEvents && rows.length > 0) announce()
    const results = new Map(rows.map(({ n, signals }) => [n, { signals }]))
    return transitions.map((_, n) => results.get(n))
  }

  async function start(sql: StatementRunner, starts: readonly NewRun[]) {
    const withEvents = starts.some(({ events }) => events.length > 0)
    const ids = starts.map(({ identity }) => identity.id)
    await ensureMonths(
      sql,
      ids,
      starts.flatMap(({ events }) => events.map(({ id }) => id)),
    )
    const statement = statements.start[withEvents ? 1 : 0]
    const rows = await runStatement<{ n: number }>(
      sql,
      text(statement, starts.length),
      startParameters(starts, { at: at(), leaseMs, withEvents }),
    )
    if (withEvents && rows.length > 0) announce()
    const made = new Set(rows.map(({ n }) => n))
    return starts.map((_, n) => made.has(n))
  }

  const isAway = (error: unknown) => isDatabaseUnavailable(error)
  const moves = createGroups({
    write: (transitions: readonly Transition[]) => move(planned, transitions),
    isAway,
  })
  const starts = createGroups({ write: (rows: readonly NewRun[]) => start(planned, rows), isAway })

  /** Whether a statement whose response was lost has made the transition. No other worker writes with its fence. */
  async function isMade({
    runId,
    fence,
    seq,
    release,
  }: Transition): Promise<{ signals: number } | undefined> {
    const [row] = await runStatement<{ signals: number }>(
      database.sql,
      `select signals from runs where id = $1 and lease_fence = $2::bigint and seq = $3::int
         and (lease_owner is null) = $4::text::boolean`,
      [runId, fence, String(seq), String(release)],
    )
    return row
  }

  async function insist<Result>(attempt: (tries: number) => Promise<Result>): Promise<Result | undefined> {
    for (let tries = 1; !closing.aborted || tries === 1; tries++) {
      try {
        return await attempt(tries)
      } catch (error) {
        if (isMissingPartition(error)) months.forget()
        else if (!isDatabaseUnavailable(error) && !isTransient(error)) throw error
        await delay(retryDelayMs({ ...commitRetry, attempt: tries }), closing)
      }
    }
    return undefined
  }

  return {
    insert: async (row, tx) => {
      if (!tx) return starts.add(row)
      const [made = false] = await start(tx, [row])
      return made
    },
    commit: (transition) =>
      insist(async (tries) => (await moves.add(transition)) ?? (tries > 1 ? isMade(transition) : undefined)),
    commitWith: (transition, follow) =>
      insist(async (tries) => {
        const done = await database.sql.begin(async (tx) => {
          const [moved] = await move(tx, [transition])
          return moved && { ...moved, followed: await follow(tx) }
        })
        const made = done || tries === 1 ? undefined : await isMade(transition)
        return done ?? (made && { ...made, followed: undefined })
      }),
    insist,
    async idle() {
      await Promise.all([moves.idle(), starts.idle()])
    },
  }
}

export async function runStatement<Row extends object>(
  on: StatementRunner,
  text: string,
  parameters: (string | null | ArrayParameters[number])[],
): Promise<readonly Row[]> {
  return on.unsafe<Row[]>(text, parameters, { prepare: true })
}
