import {
  type ChangeState,
  type CommandMeta,
  storedState,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { isDependencyUnavailable } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { AffectedChange } from '../../change-window/affected.js'
import { findConflictsOfMany } from '../../change-window/bulk-conflicts.js'
import { conflictEvents, pendingStatuses } from '../../change-window/conflict-events.js'
import { linksInDatabase, readTenantLinks } from '../../change-window/impact-links.js'
import type { ImpactLinks } from '../../change-window/links-in-memory.js'
import type { StatementRunner } from '../../cmdb/impact/impact-graph.js'
import { change } from '../domain.js'

const maxTries = 3

type FoundChange = { id: string; state: ChangeState; version: number }

/** Updates the conflicts of pending changes. */
export function createConflictUpdates({ store, clock, database: { sql } }: ServiceContext) {
  const changes = store.aggregate(change)

  const read = async (
    runner: StatementRunner,
    { workspaceId, environment }: TenantScope,
    affected: readonly AffectedChange[],
    lock: '' | 'for update' = '',
  ): Promise<FoundChange[]> => {
    const rows = await runner.unsafe<{ id: string; state: unknown; version: number }[]>(
      `select id, state, version from changes
        where workspace_id = $1 and environment = $2 and id in (select unnest($3::text[])) and status = any($4::text[])
        order by id ${lock}`,
      [workspaceId, environment, affected.map(({ id }) => id), [...pendingStatuses]],
    )
    return rows.map(({ id, state, version }) => ({ id, state: storedState(change, state), version }))
  }

  /** Returns the changes whose stored conflicts differ from the current ones. */
  const findOutdated = async (
    tenant: TenantScope,
    affected: readonly AffectedChange[],
    links: ImpactLinks,
  ): Promise<AffectedChange[]> => {
    const now = clock.now()
    const states = new Map((await read(sql, tenant, affected)).map(({ id, state }) => [id, state]))
    const found = await findConflictsOfMany(sql, tenant, [...states.values()], links)
    return affected.filter(({ id }) => {
      const [state, conflicts] = [states.get(id), found.get(id)]
      return (
        state && conflicts && conflictEvents({ kind: 'update_conflicts', conflicts, now }, state).length > 0
      )
    })
  }

  /** Reads everything again under a row lock, so that nothing is computed from outdated state. */
  const write = (tenant: TenantScope, affected: readonly AffectedChange[], whole: boolean) =>
    sql.begin(async (tx) => {
      const now = clock.now()
      const found = new Map((await read(tx, tenant, affected, 'for update')).map((row) => [row.id, row]))
      const states = [...found.values()].map(({ state }) => state)
      const links = (whole && (await readTenantLinks(tx, tenant))) || linksInDatabase(tx, tenant)
      const conflictsOf = await findConflictsOfMany(tx, tenant, states, links)
      const meta: CommandMeta = { tenant, actor: systemActor, now, requestId: null }
      await store.within(tx, meta, async (unit) => {
        for (const { id, event } of affected) {
          const [current, conflicts] = [found.get(id), conflictsOf.get(id)]
          if (current === undefined || conflicts === undefined) continue
          const command = { kind: 'update_conflicts', conflicts, now } as const
          await unit.handle(changes, id, command, { current, causationId: event.id })
        }
      })
    })

  /**
   * Writes all changes in one transaction. If that fails, retries each change in a separate transaction, up to
   * `maxTries`, so that one failing or concurrently edited change does not block the others. `whole`: reads all
   * relations of the tenant, instead of only those around the changes.
   */
  const writeAll = async (
    tenant: TenantScope,
    affected: readonly AffectedChange[],
    whole: boolean,
    tried = 1,
  ): Promise<void> => {
    try {
      await write(tenant, affected, whole)
    } catch (error) {
      if (isDependencyUnavailable(error) || tried === maxTries) throw error
      const failures: unknown[] = []
      for (const one of affected)
        await writeAll(tenant, [one], false, tried + 1).catch((failure) => failures.push(failure))
      if (failures.length > 0) throw failures[0]
    }
  }

  return { findOutdated, writeAll }
}
