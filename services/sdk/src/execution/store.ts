import { createMonths } from '@opsplane/eventstore'
import type { ChangedSignals } from '@opsplane/nats'
import {
  createGroups,
  type Database,
  isDatabaseUnavailable,
  isMissingPartition,
  isTransient,
  type StatementRunner,
} from '@opsplane/postgres'
import { delay, retryDelayMs } from '@opsplane/runtime'
import { beginParameters, beginStatement } from './begin-statement.js'
import { endParameters, endStatement } from './end-statement.js'
import { buildFailureRow } from './events.js'
import type { EndedExecution, NewExecution } from './model.js'

export interface ExecutionStoreOptions {
  database: Database
  /** The simulated time in tests. */
  at(): string | null
  leaseMs: number
  /** Called when an execution was created or has ended; within a transaction, when it is about to be created. */
  changed: ChangedSignals['changed']
  /** Called after events were committed. */
  announce(): void
  closing: AbortSignal
}

export interface ExecutionStore {
  /** Stores a new execution; returns false if its key has already led to one. Throws if Postgres is unavailable. */
  begin(execution: NewExecution, tx?: StatementRunner): Promise<boolean>
  /**
   * Stores the end of an execution and retries while Postgres is unavailable. Returns false if another replica has
   * leased the execution, or the store is closed.
   * @param seal returns the sealed part of the result that the row does not show
   */
  end(execution: Omit<EndedExecution, 'sealedResult'>, seal?: () => Promise<string>): Promise<boolean>
  idle(): Promise<void>
}

const endRetry = { strategy: 'exponential', baseMs: 50, maxMs: 2_000 } as const

/** Executions that begin or end concurrently share a statement. */
export function createExecutionStore(options: ExecutionStoreOptions): ExecutionStore {
  const { database, at, leaseMs, changed, announce, closing } = options
  const months = createMonths('add_execution_month')
  const eventMonths = createMonths('add_event_month')
  const begun = beginStatement()
  const endStatements = [endStatement(false), endStatement(true)] as const
  let written = 0
  /**
   * A plan made for nearly empty tables becomes inefficient later. The changing suffix forces a new plan as tables
   * grow.
   */
  const aged = (text: string, rows: number) => {
    written += rows
    return `${text}\n-- ${Math.floor(Math.log2(written) / 3)}`
  }
  const made = async (sql: StatementRunner, text: string, parameters: Parameters<typeof sql.unsafe>[1]) =>
    new Set((await sql.unsafe<{ n: number }[]>(text, parameters, { prepare: true })).map(({ n }) => n))

  const signal = (rows: readonly Pick<NewExecution, 'identity'>[], here: ReadonlySet<number>) => {
    for (const [n, { identity }] of rows.entries()) if (here.has(n)) changed(identity.tenant, identity.id)
  }

  async function insert(sql: StatementRunner, rows: readonly NewExecution[]) {
    for (const { identity } of rows) await months.ensure(sql, identity.id)
    const here = await made(sql, aged(begun, rows.length), beginParameters(rows, { at: at(), leaseMs }))
    signal(rows, here)
    return rows.map((_, n) => here.has(n))
  }

  async function update(sql: StatementRunner, rows: readonly EndedExecution[]) {
    const events = rows.flatMap((row, n) => buildFailureRow(row).map((event) => ({ n, row: event })))
    for (const { row } of events) await eventMonths.ensure(sql, row.id)
    const text = aged(endStatements[events.length > 0 ? 1 : 0], rows.length)
    const here = await made(sql, text, endParameters(rows, events))
    signal(rows, here)
    if (events.length > 0 && here.size > 0) announce()
    return rows.map((_, n) => here.has(n))
  }

  const isAway = (error: unknown) => isDatabaseUnavailable(error)
  const begins = createGroups({
    write: (rows: readonly NewExecution[]) => insert(database.planned, rows),
    isAway,
  })
  const ends = createGroups({
    write: (rows: readonly EndedExecution[]) => update(database.planned, rows),
    isAway,
  })

  /** Whether a statement whose response was lost has ended the execution. No other replica writes with its fence. */
  async function hasEnded({ identity, fence }: Pick<EndedExecution, 'identity' | 'fence'>): Promise<boolean> {
    const rows = await database.sql.unsafe(
      'select 1 from executions where id = $1 and lease_fence = $2::text::bigint and completed_at is not null',
      [identity.id, fence],
      { prepare: true },
    )
    return rows.length > 0
  }

  return {
    begin: async (row, tx) => {
      if (!tx) return begins.add(row)
      const [here = false] = await insert(tx, [row])
      return here
    },
    async end(row, seal) {
      let sealedResult: string | null = null
      for (let tries = 1; !closing.aborted || tries === 1; tries++) {
        try {
          if (seal) sealedResult ??= await seal()
          return (await ends.add({ ...row, sealedResult })) || (tries > 1 && (await hasEnded(row)))
        } catch (error) {
          if (isMissingPartition(error)) months.forget()
          else if (!isDatabaseUnavailable(error) && !isTransient(error)) throw error
          await delay(retryDelayMs({ ...endRetry, attempt: tries }), closing)
        }
      }
      return false
    },
    async idle() {
      await Promise.all([begins.idle(), ends.idle()])
    },
  }
}
