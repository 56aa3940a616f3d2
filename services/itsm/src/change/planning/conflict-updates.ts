import {
  type ChangeState,
  type CommandMeta,
  storedState,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { isDependencyUnavailable } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { Affected } from '../../change-window/affected.js'
import { conflictsOfMany } from '../../change-window/conflicts-of-many.js'
import { linksInDatabase, linksOfTenant } from '../../change-window/impact-links.js'
import type { ImpactLinks } from '../../change-window/links-in-memory.js'
import { noticed, waiting } from '../../change-window/notice.js'
import type { StatementRunner } from '../../cmdb/impact/impact-graph.js'
import { change } from '../domain.js'

const mostTries = 3

type Found = { id: string; state: ChangeState; version: number }

/** Tells changes that wait for their time what they collide with. */
export function createConflictUpdates({ store, clock, database: { sql } }: ServiceContext) {
  const changes = store.aggregate(change)

  const read = async (
    runner: StatementRunner,
    { workspaceId, environment }: TenantScope,
    affected: readonly Affected[],
    lock: '' | 'for update' = '',
  ): Promise<Found[]> => {
    const rows = await runner.unsafe<{ id: string; state: unknown; version: number }[]>(
      `select id, state, version from changes
        where workspace_id = $1 and environment = $2 and id in (select unnest($3::text[])) and status = any($4::text[])
        order by id ${lock}`,
      [workspaceId, environment, affected.map(({ id }) => id), [...waiting]],
    )
    return rows.map(({ id, state, version }) => ({ id, state: storedState(change, state), version }))
  }

  /** Those that collide with something else than they keep. */
  const outdatedOf = async (
    tenant: TenantScope,
    affected: readonly Affected[],
    links: ImpactLinks,
  ): Promise<Affected[]> => {
    const now = clock.now()
    const states = new Map((await read(sql, tenant, affected)).map(({ id, state }) => [id, state]))
    const found = await conflictsOfMany(sql, tenant, [...states.values()], links)
    return affected.filter(({ id }) => {
      const [state, conflicts] = [states.get(id), found.get(id)]
      return state && conflicts && noticed({ kind: 'notice', conflicts, now }, state).length > 0
    })
  }

  /** Reads everything again under the lock, so that nobody writes by what is no longer so. */
  const write = (tenant: TenantScope, affected: readonly Affected[], whole: boolean) =>
    sql.begin(async (tx) => {
      const now = clock.now()
      const found = new Map((await read(tx, tenant, affected, 'for update')).map((row) => [row.id, row]))
      const states = [...found.values()].map(({ state }) => state)
      const links = (whole && (await linksOfTenant(tx, tenant))) || linksInDatabase(tx, tenant)
      const conflictsOf = await conflictsOfMany(tx, tenant, states, links)
      const meta: CommandMeta = { tenant, actor: systemActor, now, requestId: null }
      await store.within(tx, meta, async (unit) => {
        for (const { id, event } of affected) {
          const [current, conflicts] = [found.get(id), conflictsOf.get(id)]
          if (current === undefined || conflicts === undefined) continue
          const command = { kind: 'notice', conflicts, now } as const
          await unit.handle(changes, id, command, { current, causationId: event.id })
        }
      })
    })

  /**
   * In one transaction; where that fails each in its own, and once more, so that none keeps the others from being notified and
   * whoever edits one meanwhile costs no more than that. All relations of the tenant are read for them (`whole`), or what
   * is asked for.
   */
  const writeAll = async (
    tenant: TenantScope,
    affected: readonly Affected[],
    whole: boolean,
    tried = 1,
  ): Promise<void> => {
    try {
      await write(tenant, affected, whole)
    } catch (error) {
      if (isDependencyUnavailable(error) || tried === mostTries) throw error
      const failures: unknown[] = []
      for (const one of affected)
        await writeAll(tenant, [one], false, tried + 1).catch((failure) => failures.push(failure))
      if (failures.length > 0) throw failures[0]
    }
  }

  return { outdatedOf, writeAll }
}
