import { Environment, systemActor } from '@opsplane/contracts'
import type { Owned, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { Jobs } from './jobs.js'

/** Scheduled jobs, which are paused when their owner loses a right their artifacts need. */
export const ownedJobs = (
  { database: { sql }, clock }: Pick<ServiceContext, 'database' | 'clock'>,
  { missingFor, suspend }: Pick<Jobs, 'missingFor' | 'suspend'>,
): Owned => ({
  async ownersIn(workspaceId, users) {
    const rows = await sql.unsafe<{ owner: string }[]>(
      `select distinct owner_id as owner from jobs where workspace_id = $1 and owner_id is not null
         and state->>'status' = 'active' and ($2::text[] is null or owner_id = any($2::text[])) order by 1`,
      [workspaceId, users && [...users]],
    )
    return rows.map(({ owner }) => owner)
  },
  async suspend({ workspaceId, userIds, permissions: held, causationId }) {
    const rows = await sql.unsafe(
      `select id, environment, owner_id as "ownerId", artifact from jobs
       where workspace_id = $1 and state->>'status' = 'active' and owner_id = any($2::text[]) order by id`,
      [workspaceId, [...userIds]],
    )
    for (const { id, environment, ownerId, artifact } of rows.map((row) => Active.parse(row))) {
      const tenant = { workspaceId, environment }
      const owned = held[ownerId]
      const missing = owned ? await missingFor({ artifact }, owned, tenant) : ['membership']
      if (missing.length === 0) continue
      const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId }
      await suspend(id, { ownerId, missing }, meta)
    }
  },
})

const Active = z.object({
  id: z.string(),
  environment: Environment,
  ownerId: z.string(),
  artifact: z.string(),
})
