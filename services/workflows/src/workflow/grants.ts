import { startDaily } from '@opsplane/eventstore'
import type { Delegations } from '@opsplane/http'
import type { Database, StatementRunner } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { BackgroundWork } from '@opsplane/service'
import { z } from 'zod'

/** The standing grants of versions, which are revoked while nothing acts by them: see ADR 080. */
export interface VersionGrants {
  /** Revokes and reinstates what has to be. Repeated after a crash, which changes nothing. `workflowId`: of this one only. */
  settle(of?: { workflowId?: string; closing?: AbortSignal }): Promise<void>
  /** The same; where it fails, the next daily look does it. */
  trySettle(workflowId: string): Promise<void>
  /** For a run of this version that is about to go on. */
  reinstate(versionId: string): Promise<void>
}

const Version = z.object({ id: z.string(), grant: z.string() })
const versionsAtOnce = 100

const versions = `select v.id, v.state->>'grant' as grant
  from workflows w join workflow_versions v on v.workflow_id = w.id`
const isRevoked = 'exists (select from revoked_versions r where r.version_id = v.id)'
const isOpen = `exists (select from runs r where r.workflow_id = w.id and r.workflow_version = v.number
  and r.ended_at is null)`
/** The grant of a test of a draft has an end of its own. */
const isNeeded = `(case when w.status = 'archived' then false
  else v.number in (0, (w.state->>'publishedVersion')::int) end or ${isOpen})`

export function createVersionGrants(
  { sql }: Pick<Database, 'sql'>,
  { revoke, reinstate }: Pick<Delegations, 'revoke' | 'reinstate'>,
  log: Logger,
): VersionGrants {
  /** Asks settings and records it, with the workflow locked: whoever moves its pointer meanwhile finds what was done. */
  const change = (id: string, isDue: string, ask: (grant: string) => Promise<void>, record: string) =>
    sql.begin(async (tx: StatementRunner) => {
      const [row] = await tx.unsafe(`${versions} where v.id = $1 and ${isDue} for update of w`, [id], {
        prepare: true,
      })
      if (!row) return
      await ask(Version.parse(row).grant)
      await tx.unsafe(record, [id], { prepare: true })
    })

  const revokeOne = (id: string) =>
    change(
      id,
      `not ${isRevoked} and not ${isNeeded}`,
      revoke,
      'insert into revoked_versions (version_id) values ($1) on conflict do nothing',
    )
  const reinstateOne = (id: string) =>
    change(
      id,
      `${isRevoked} and w.status <> 'archived'`,
      reinstate,
      'delete from revoked_versions where version_id = $1',
    )

  async function each(
    isDue: string,
    { workflowId = null, closing }: { workflowId?: string | null; closing?: AbortSignal },
    settleOne: (id: string) => Promise<unknown>,
  ) {
    for (let after = ''; !closing?.aborted; ) {
      const rows = await sql.unsafe<{ id: string }[]>(
        `${versions} where ($1::text is null or w.id = $1) and v.id > $2 and ${isDue}
         order by v.id limit ${versionsAtOnce}`,
        [workflowId, after],
        { prepare: true },
      )
      for (const { id } of rows) await settleOne(id)
      if (rows.length < versionsAtOnce) return
      after = rows.at(-1)?.id ?? after
    }
  }

  const settle: VersionGrants['settle'] = async (of = {}) => {
    await each(`${isRevoked} and ${isNeeded}`, of, reinstateOne)
    await each(`not ${isRevoked} and not ${isNeeded}`, of, revokeOne)
  }

  return {
    settle,
    trySettle: (workflowId) =>
      settle({ workflowId }).catch((error: unknown) =>
        log.warn(
          { err: error, workflowId },
          "the grants of a workflow's versions could not be revoked yet; trying again later",
        ),
      ),
    reinstate: async (versionId) => void (await reinstateOne(versionId)),
  }
}

/** Settles the grants of all workflows now and every day, for versions whose last run ends later. */
export const startSettling = (grants: VersionGrants, log: Logger): BackgroundWork =>
  startDaily(log, 'grants of workflows could not be settled', (closing) => grants.settle({ closing }))
