import { ApiError, type Migration, newId } from '@opsplane/contracts'
import { VersionRaceError } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { checkAction, type MigrationFields, migration } from '../migration-ledger/domain.js'
import { checkChecksum, checkOrder, computeChecksum, toSequenceName } from '../migration-ledger/ledger.js'
import { createRuns, type Direction, type Run } from '../migration-ledger/runs.js'
import { createDefine } from '../table/define.js'
import { type Execution, execute, executeDry } from './execute.js'
import type { MigrationParts, MigrationService } from './migration-service.js'
import { pendingMigrations } from './pending.js'
import { type SettleOptions, settleRun } from './settle.js'
import { migrationStatements, withoutConcurrently } from './statements.js'
import { knownTables, parseShapes, tableChanges } from './table-changes.js'

const settlings = 5

interface Beginning {
  direction: Direction
  timeoutMs: number
  /** Apply it even if others precede it in the order. */
  anyTurn?: boolean
}

export function createMigrations(
  ctx: ServiceContext,
  { plane, definitions, tables, refuseRuled }: MigrationParts,
): MigrationService {
  const { store, database, clock } = ctx
  const migrations = store.aggregate(migration)
  const settling: SettleOptions = { store, migrations, tables }
  const runs = createRuns(database)
  const define = createDefine(ctx)

  /** Writes the outcome to the log and retries lost version races. If this fails, due work settles the run later. */
  async function settle(run: Run, error?: string): Promise<void> {
    const options = { spaceId: run.space.id, now: clock.now(), ...(error !== undefined && { error }) }
    for (let attempt = 1; ; attempt++) {
      try {
        const slugs = await database.sql.begin((tx) => settleRun(settling, tx, options))
        for (const slug of slugs) definitions.forget(run.space, slug)
        return
      } catch (failure) {
        if (!(failure instanceof VersionRaceError) || attempt === settlings) throw failure
      }
    }
  }

  /** Acquires the space and then reloads the migration: nothing else can change it from here on. */
  async function begin(id: string, { direction, timeoutMs, anyTurn = false }: Beginning, meta: RequestMeta) {
    await refuseRuled(meta)
    const found = await migrations.get(id, meta.tenant)
    const space = await plane.space(meta.tenant)
    const run = await runs.begin(space, found, direction, meta, timeoutMs)
    try {
      const current = await migrations.get(id, meta.tenant)
      if (meta.expectedVersion !== undefined && meta.expectedVersion !== current.version)
        throw new ApiError('precondition_failed', 'The migration has changed since.')
      if (!anyTurn) await checkOrder(database, meta.tenant, current, direction)
      return { run, execution: await prepare(current, run, timeoutMs, meta) }
    } catch (error) {
      await runs.end(run)
      throw error
    }
  }

  async function prepare(
    current: Migration,
    run: Run,
    timeoutMs: number,
    meta: RequestMeta,
  ): Promise<Execution> {
    const { direction } = run
    checkAction(direction === 'down' ? 'roll_back' : 'apply', current)
    checkChecksum(current)
    const { up, down, transactional } = current
    const sql = direction === 'down' ? down : up
    if (sql === null)
      throw new ApiError('conflict', 'The migration has no `down`, so it cannot be rolled back.')
    if (direction === 'dry' && !transactional)
      throw new ApiError(
        'conflict',
        'What is done concurrently cannot be undone, so there is no dry run of it.',
      )
    const path = direction === 'down' ? '/down' : '/up'
    const mayBeEmpty = current.origin !== 'sql'
    const statements = await migrationStatements(sql, { transactional, path, mayBeEmpty })
    return { run, statements, sql, path, acting: meta, timeoutMs, transactional }
  }

  async function perform(
    id: string,
    options: Beginning & { direction: 'up' | 'down' },
    meta: RequestMeta,
  ): Promise<Migration> {
    const { direction } = options
    const { run, execution } = await begin(id, options, meta)
    const failure = await execute(plane, execution).then(
      () => undefined,
      (error: unknown) => error ?? new Error('it failed'),
    )
    const reason =
      failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure)
    await settle(run, reason)
    const after = await migrations.get(id, meta.tenant)
    // The commit may have succeeded even though the connection failed.
    const done = after.status === (direction === 'up' ? 'applied' : 'rolled_back')
    if (failure !== undefined && !done) throw failure
    return after
  }

  return {
    migrations,
    settling,
    async create({ name, up, down, transactional }, meta, promoted) {
      const mayBeEmpty = promoted !== undefined
      await migrationStatements(up, { transactional, path: '/up', mayBeEmpty })
      if (down !== null) await migrationStatements(down, { transactional, path: '/down', mayBeEmpty })
      const { workspaceId, environment } = meta.tenant
      const number = await store.numbers.next(workspaceId, toSequenceName(environment))
      const wording = { up, down, transactional }
      const origin = promoted ? 'promotion' : 'sql'
      const { definition = null, previous = null } = promoted ?? {}
      const fields: MigrationFields = {
        number,
        name,
        ...wording,
        checksum: computeChecksum(wording),
        origin,
        definition,
        previous,
      }
      const id = newId('migration')
      return migrations.create(id, { kind: 'create', id, fields, applied: false, now: meta.now }, meta)
    },
    async remove(id, meta) {
      const space = await plane.space(meta.tenant)
      await define(space, meta, async ({ unit }) => {
        await unit.handle(migrations, id, { kind: 'delete' })
      })
    },
    ...pendingMigrations(ctx, { plane, migrations }),
    apply: (id, timeoutMs, meta, { anyTurn = false } = {}) =>
      perform(id, { direction: 'up', timeoutMs, anyTurn }, meta),
    rollBack: (id, timeoutMs, meta) => perform(id, { direction: 'down', timeoutMs }, meta),
    async dryRunAll([first, ...others], timeoutMs, meta, explain) {
      if (!first) return
      await refuseRuled(meta)
      const space = await plane.space(meta.tenant)
      const run = await runs.begin(space, first, 'dry', meta, timeoutMs * (others.length + 1))
      const executionOf = async ({ up, transactional, origin }: Migration): Promise<Execution> => {
        const options = { transactional, path: '/up', mayBeEmpty: origin !== 'sql' } as const
        const statements = (await migrationStatements(up, options)).map((statement) => ({
          ...statement,
          text: withoutConcurrently(statement.text),
        }))
        return { run, statements, sql: up, path: '/up', acting: meta, timeoutMs, transactional: true }
      }
      try {
        const rest = await Promise.all(others.map(executionOf))
        await executeDry(plane, [await executionOf(first), ...rest], explain)
      } finally {
        await runs.end(run)
      }
    },
    async dryRun(id, timeoutMs, meta) {
      const { run, execution } = await begin(id, { direction: 'dry', timeoutMs }, meta)
      try {
        const { statements, shapes } = await executeDry(plane, [execution])
        const changes = tableChanges(await knownTables(database.sql, meta.tenant), parseShapes(shapes))
        const slugs = {
          created: changes.created.map(({ found }) => found.slug),
          updated: changes.updated.map(({ slug }) => slug),
          deleted: changes.deleted.map(({ slug }) => slug),
        }
        return { statements, tables: slugs }
      } finally {
        await runs.end(run)
      }
    },
  }
}
