import { startDaily } from '@opsplane/eventstore'
import type { Delegations } from '@opsplane/http'
import type { Database, StatementRunner } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { BackgroundWork } from '@opsplane/service'
import { z } from 'zod'

/** Revokes standing grants that are no longer used: see ADR 080. */
export interface GrantRevocations {
  /** Idempotent, so it can be repeated after a crash. `workflowId`: limits it to one workflow. */
  settle(of?: { workflowId?: string; closing?: AbortSignal }): Promise<void>
  /** The same, ignoring failures: the next daily run repeats it. */
  trySettle(workflowId: string): Promise<void>
}

const Row = z.object({ id: z.string(), grant: z.string() })
const grantsAtOnce = 100

const grants = `select g.id, g.state->>'grant' as grant
  from version_grants g
    join workflow_versions v on v.id = g.version_id
    join workflows w on w.id = v.workflow_id`
const isSuperseded = `exists (select from version_grants later where later.version_id = g.version_id
  and later.run_id is not distinct from g.run_id and later.place > g.place)`
const openRun = (condition: string) =>
  `exists (select from runs r where r.workflow_id = w.id and r.ended_at is null and ${condition})`
/** The grant for a draft test expires by itself. A run continues shortly after it has received a grant. */
const isNeeded = `(case when g.run_id is not null
    then ${openRun('r.id = g.run_id')} or (g.state->>'givenAt')::timestamptz > now() - interval '1 minute'
  else (w.status <> 'archived' and v.number in (0, (w.state->>'publishedVersion')::int))
    or ${openRun('r.workflow_version = v.number')} end)`
const isDue = `(${isSuperseded} or not ${isNeeded})`

export function createGrantRevocations(
  { sql }: Pick<Database, 'sql'>,
  { revoke }: Pick<Delegations, 'revoke'>,
  log: Logger,
): GrantRevocations {
  /**
   * Revokes the grant in settings and deletes its row with the workflow locked, so that its published version cannot
   * change in the meantime.
   */
  const revokeOne = (id: string) =>
    sql.begin(async (tx: StatementRunner) => {
      const [row] = await tx.unsafe(`${grants} where g.id = $1 and ${isDue} for update of w`, [id], {
        prepare: true,
      })
      if (!row) return
      await revoke(Row.parse(row).grant)
      await tx.unsafe('delete from version_grants where id = $1', [id], { prepare: true })
    })

  const settle: GrantRevocations['settle'] = async ({ workflowId = null, closing } = {}) => {
    for (let after = ''; !closing?.aborted; ) {
      const rows = await sql.unsafe<{ id: string }[]>(
        `${grants} where ($1::text is null or w.id = $1) and g.id > $2 and ${isDue}
         order by g.id limit ${grantsAtOnce}`,
        [workflowId, after],
        { prepare: true },
      )
      for (const { id } of rows) await revokeOne(id)
      if (rows.length < grantsAtOnce) return
      after = rows.at(-1)?.id ?? after
    }
  }

  return {
    settle,
    trySettle: (workflowId) =>
      settle({ workflowId }).catch((error: unknown) =>
        log.warn(
          { err: error, workflowId },
          'grants of a workflow could not be revoked yet; trying again later',
        ),
      ),
  }
}

/** Revokes unused grants of all workflows at start and daily, because the last run of a version may end later. */
export const startSettling = (grants: GrantRevocations, log: Logger): BackgroundWork =>
  startDaily(log, 'grants of workflows could not be settled', (closing) => grants.settle({ closing }))
