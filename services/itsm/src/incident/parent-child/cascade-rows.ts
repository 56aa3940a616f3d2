import { IncidentState, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

type StatementRunner = Pick<Database['sql'], 'unsafe'>

const prepared = { prepare: true }

/** Position of a walk over children. */
export interface Cursor {
  createdAt: string
  id: string
}

/** The last event of a parent that concerns its children. */
export interface LeadingEvent {
  eventId: string
  /** Position in the log. */
  position: string
  parent: IncidentState
}

/** Locks the family of this parent against other cascades until the transaction ends. */
export async function lockFamily(tx: StatementRunner, parentId: string): Promise<void> {
  await tx.unsafe('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`family/${parentId}`], prepared)
}

/** Returns the last event that children follow. Closing, canceling and waiting for the caller are ignored. */
export async function findLeadingEvent(
  tx: StatementRunner,
  tenant: TenantScope,
  parentId: string,
): Promise<LeadingEvent | undefined> {
  const [row] = await tx.unsafe<{ id: string; position: string; after: unknown }[]>(
    `select e.id, e.position::text as position, e.data->'after' as after from events e
     where e.stream_id = $1 and e.stream_type = 'incidents' and e.workspace_id = $2 and e.environment = $3
       and (e.data->'changes')::jsonb ?| array['status', 'holdReason']
       and e.data->'after'->>'status' in ('open', 'in_progress', 'on_hold', 'resolved')
       and e.data->'after'->>'holdReason' is distinct from 'awaiting_caller'
     order by e.version desc limit 1`,
    [parentId, tenant.workspaceId, tenant.environment],
    prepared,
  )
  return row && { eventId: row.id, position: row.position, parent: IncidentState.parse(row.after) }
}

/**
 * Returns children after the cursor that have not ended. Excludes children that joined the parent or took a step of
 * their own after the parent's leading event: their own later step takes precedence.
 */
export async function findChildren(
  tx: StatementRunner,
  tenant: TenantScope,
  lead: LeadingEvent,
  after: Cursor | null,
  limit: number,
): Promise<{ state: IncidentState; version: number }[]> {
  const rows = await tx.unsafe<{ state: unknown; version: number }[]>(
    `select c.state, c.version from incidents c
     where c.workspace_id = $1 and c.environment = $2 and c.parent_id = $3
       and c.status not in ('closed', 'canceled') and (c.created_at, c.id) > ($4, $5)
       and not exists (
         select 1 from events e
         where e.stream_id = c.id and e.stream_type = 'incidents' and e.position > $6::text::bigint
           and (e.data->'changes')::jsonb ?| array['status', 'parentId']
           and not exists (select 1 from events p where p.id = e.causation_id and p.stream_id = $3))
     order by c.created_at, c.id limit $7::int`,
    [
      tenant.workspaceId,
      tenant.environment,
      lead.parent.id,
      after?.createdAt ?? '',
      after?.id ?? '',
      lead.position,
      limit,
    ],
    prepared,
  )
  return rows.map(({ state, version }) => ({ state: IncidentState.parse(state), version }))
}
