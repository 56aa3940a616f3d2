import type { TenantScope } from '@opsplane/contracts'
import { createConnectionPool, type StatementRunner } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { ParameterOrJSON, Sql, TransactionSql } from 'postgres'
import type { StudioConfig } from '../config.js'
import { AnswerTooLargeError, answerBytes } from './answer-size.js'
import { type Deadline, runWithDeadline } from './deadline.js'
import type { JournalActor, Space, SpaceRole } from './space.js'
import { createSpaces } from './spaces.js'
import {
  AlteredLoginError,
  type ConnectionKey,
  openConnection,
  type TenantConnection,
  toConnectionName,
} from './tenant-connection.js'

/** A session of a tenant, for SQL that tenants write. */
export interface Session {
  /** One connection. Nothing is prepared on it, and an extended-protocol statement is one statement. */
  sql: Sql
  pid: number
  /**
   * Counts what is answered from 0 again. Comes before COMMIT: a connection that is ended while COMMIT is in flight says nothing
   * of whether it was done.
   */
  renewAnswer(): void
  /** Says who acts in the present transaction: its first statement where rows are written. */
  act(tx: StatementRunner, acting: JournalActor): Promise<void>
}

/** One statement of ours, for `writeOne`. */
export interface Statement {
  text: string
  parameters: readonly ParameterOrJSON<never>[]
}

export interface DataPlane {
  /** The space of a tenant, made when it is first needed. */
  space(tenant: TenantScope): Promise<Space>
  /**
   * A session of this role, alone with it until `work` ends, and reset afterwards. What runs when the deadline has passed,
   * or the signal aborts, is cancelled from outside, and the session ended where that does not help; it is never reused after that.
   * Rejects with AnswerTooLargeError where Postgres answers more than `answerBytes.session`, of which no more is read.
   */
  session<T>(
    space: Space,
    role: SpaceRole,
    deadline: Deadline,
    work: (session: Session) => Promise<T>,
  ): Promise<T>
  /**
   * Statements of ours, as runtime and in one transaction; the journal names who acts. Rejects with AnswerTooLargeError, and
   * nothing written, where they are answered more than `answerBytes.write`.
   */
  write<T>(space: Space, acting: JournalActor, work: (tx: TransactionSql) => Promise<T>): Promise<T>
  /**
   * The same for one statement, in one round trip. `statement` is given a function call to select from, such as `insert
   * into t (…) select … from <proof>, unnest($4 …)`; $1 to $3 are its arguments, so that those of the statement begin at $4.
   * It answers `maxRecordsWritten` records at most, so that its answer is never the reason that its outcome is unknown.
   */
  writeOne<Row extends object>(
    space: Space,
    acting: JournalActor,
    statement: (proof: string) => Statement,
  ): Promise<Row[]>
  /**
   * Statements of ours, as reader; each is a transaction. Rejects with AnswerTooLargeError where they are answered more than
   * `answerBytes.read`, of which no more is read.
   */
  read<T>(space: Space, work: (sql: StatementRunner) => Promise<T>): Promise<T>
  counts(): { open: number; idle: number; waiting: number }
  close(): Promise<void>
}

const maxEach = 8
const idleMs = 60_000
const prove = 'select studio.acting($1, $2, $3)'

export function createDataPlane({
  config,
  database,
  relay,
}: Pick<ServiceContext<StudioConfig>, 'config' | 'database'> & {
  /** Woken when rows may have changed: their events are not the store's. */
  relay: Pick<ServiceContext['relay'], 'wake'>
}): DataPlane {
  const spaces = createSpaces(database)
  const pool = createConnectionPool({
    ...{ max: config.dataSessions, maxEach, idleMs, nameOf: toConnectionName, open },
    groupOf: ({ space }) => space.id,
  })

  async function open(key: ConnectionKey): Promise<TenantConnection> {
    const options = { ...key, url: config.databaseUrl, key: await spaces.key() }
    try {
      return await openConnection(options)
    } catch (error) {
      if (!(error instanceof AlteredLoginError)) throw error
      await spaces.repair(key.space)
      return openConnection(options)
    }
  }

  async function using<T>(
    key: ConnectionKey,
    maxBytes: number,
    work: (connection: TenantConnection) => Promise<T>,
  ): Promise<T> {
    const connection = await pool.acquire(key)
    const { meter, pid } = connection
    meter.allow(maxBytes)
    try {
      return await work(connection)
    } catch (error) {
      if (!meter.exceeded()) throw error
      // It may still be busy with an answer that is not read any more. Where it cannot be ended now, it ends when it next writes.
      await endSession(database.sql, pid, true).catch(() => {})
      throw new AnswerTooLargeError(maxBytes, { cause: error })
    } finally {
      // Who waits for an answer does not wait for the next one's session.
      void pool.release(key, connection)
      if (key.role !== 'reader') relay.wake()
    }
  }

  return {
    space: (tenant) => spaces.of(tenant),
    session: (space, role, deadline, work) =>
      using(
        { space, role, purpose: 'free' },
        answerBytes.session,
        ({ sql, pid, meter, prove: proof, retire }) =>
          runWithDeadline(
            deadline,
            (hard) => {
              retire()
              return endSession(database.sql, pid, hard)
            },
            () =>
              work({
                sql,
                pid,
                renewAnswer: () => meter.allow(answerBytes.session),
                act: async (tx, acting) => void (await tx.unsafe(prove, proof(acting))),
              }),
          ),
      ),
    write: (space, acting, work) =>
      using(
        { space, role: 'runtime', purpose: 'own' },
        answerBytes.write,
        async ({ sql, meter, prove: proof }) => {
          const result = await sql.begin(async (tx) => {
            // Sent together with the first statement of the work.
            const proved = tx.unsafe(prove, proof(acting), { prepare: true }).execute()
            const [value] = await Promise.all([work(tx), proved])
            meter.allow(answerBytes.write)
            return { value }
          })
          return result.value
        },
      ),
    writeOne: <Row extends object>(
      space: Space,
      acting: JournalActor,
      statement: (proof: string) => Statement,
    ) =>
      using({ space, role: 'runtime', purpose: 'own' }, answerBytes.write, async ({ sql, prove: proof }) => {
        const { text, parameters } = statement('studio.acting($1, $2, $3)')
        return sql.unsafe<Row[]>(text, [...proof(acting), ...parameters], { prepare: true })
      }),
    read: (space, work) =>
      using({ space, role: 'reader', purpose: 'own' }, answerBytes.read, ({ sql }) => work(sql)),
    counts: pool.counts,
    close: pool.close,
  }
}

/** Cancels what a session of a tenant runs, or ends the session. */
async function endSession(sql: Sql, pid: number, hard: boolean): Promise<void> {
  await sql.unsafe('select end_session($1, $2)', [pid, hard])
}
