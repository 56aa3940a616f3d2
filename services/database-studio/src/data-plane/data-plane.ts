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

/** A session of a tenant, for SQL written by tenants. */
export interface Session {
  /** One connection. It prepares no statements, and an extended-protocol message contains exactly one statement. */
  sql: Sql
  pid: number
  /**
   * Resets the counter of received bytes to 0. Call it before COMMIT: if a connection is closed while COMMIT is in
   * flight, its outcome is unknown.
   */
  renewAnswer(): void
  /** Sets the actor of the present transaction. Must be its first statement if rows are written. */
  act(tx: StatementRunner, journalActor: JournalActor): Promise<void>
}

/** One statement of this service, for `writeOne`. */
export interface Statement {
  text: string
  parameters: readonly ParameterOrJSON<never>[]
}

export interface DataPlane {
  /** The space of a tenant. Created on first use. */
  space(tenant: TenantScope): Promise<Space>
  /**
   * Runs `work` with exclusive use of a session of this role, which is reset afterwards. If the deadline passes or the
   * signal aborts, the running statement is cancelled from another connection; if that does not help, the session is
   * ended. A session is never reused after that.
   * Rejects with AnswerTooLargeError if Postgres sends more than `answerBytes.session`; the rest is not read.
   */
  session<T>(
    space: Space,
    role: SpaceRole,
    deadline: Deadline,
    work: (session: Session) => Promise<T>,
  ): Promise<T>
  /**
   * Runs statements of this service as role `runtime` in one transaction, with `journalActor` as the actor in the journal.
   * Rejects with AnswerTooLargeError, and writes nothing, if the answers exceed `answerBytes.write`.
   */
  write<T>(space: Space, journalActor: JournalActor, work: (tx: TransactionSql) => Promise<T>): Promise<T>
  /**
   * Same as `write` for a single statement, in one round trip. `statement` receives a function call to select from, as
   * in `insert into t (…) select … from <proof>, unnest($4 …)`. The call uses $1 to $3, so parameters of the statement
   * start at $4. It returns at most `maxRecordsWritten` records, so that an oversized answer never leaves the outcome
   * unknown.
   */
  writeOne<Row extends object>(
    space: Space,
    journalActor: JournalActor,
    statement: (proof: string) => Statement,
  ): Promise<Row[]>
  /**
   * Runs statements of this service as role `reader`, each in its own transaction. Rejects with AnswerTooLargeError if
   * the answers exceed `answerBytes.read`; the rest is not read.
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
  /** Woken when rows may have changed: the events of rows are not written by the event store. */
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
      // The session may still be sending the answer, which is no longer read. If it cannot be
      // ended now, it ends at its next write.
      await endSession(database.sql, pid, true).catch(() => {})
      throw new AnswerTooLargeError(maxBytes, { cause: error })
    } finally {
      // Not awaited: the caller does not wait until the connection is ready for its next user.
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
                act: async (tx, journalActor) => void (await tx.unsafe(prove, proof(journalActor))),
              }),
          ),
      ),
    write: (space, journalActor, work) =>
      using(
        { space, role: 'runtime', purpose: 'own' },
        answerBytes.write,
        async ({ sql, meter, prove: proof }) => {
          const result = await sql.begin(async (tx) => {
            // Sent together with the first statement of `work`.
            const proved = tx.unsafe(prove, proof(journalActor), { prepare: true }).execute()
            const [value] = await Promise.all([work(tx), proved])
            meter.allow(answerBytes.write)
            return { value }
          })
          return result.value
        },
      ),
    writeOne: <Row extends object>(
      space: Space,
      journalActor: JournalActor,
      statement: (proof: string) => Statement,
    ) =>
      using({ space, role: 'runtime', purpose: 'own' }, answerBytes.write, async ({ sql, prove: proof }) => {
        const { text, parameters } = statement('studio.acting($1, $2, $3)')
        return sql.unsafe<Row[]>(text, [...proof(journalActor), ...parameters], { prepare: true })
      }),
    read: (space, work) =>
      using({ space, role: 'reader', purpose: 'own' }, answerBytes.read, ({ sql }) => work(sql)),
    counts: pool.counts,
    close: pool.close,
  }
}

/** Cancels the running statement of a tenant session, or with `hard` ends the session. */
async function endSession(sql: Sql, pid: number, hard: boolean): Promise<void> {
  await sql.unsafe('select end_session($1, $2)', [pid, hard])
}
