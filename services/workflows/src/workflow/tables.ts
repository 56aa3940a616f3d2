import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'

export const workflows = readModelTable(
  'workflows',
  {
    name: stateText('name', 'name'),
    status: stateText('status', 'status'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    triggerType: stateText('trigger_type', 'triggerType'),
    ownerId: stateText('owner_id', 'ownerId'),
    hookId: stateText('hook_id', 'hookId'),
    promotedName: stateText('promoted_name', 'promotedName'),
    /** Keys of the events that start the active workflow: `workspace/environment/type or pattern`, or `…/bus:topic`. */
    triggerKeys: text('trigger_keys').array().generatedAlwaysAs(sql.raw('trigger_keys(state::jsonb)')),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('workflows_created_idx').on(workspaceId, environment, createdAt, id),
      index('workflows_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('workflows_name_idx').on(workspaceId, environment, table.name, id),
      index('workflows_owner_idx').on(workspaceId, table.ownerId).where(sql`status = 'active'`),
      uniqueIndex('workflows_hook_key').on(table.hookId),
      uniqueIndex('workflows_promoted_key')
        .on(workspaceId, environment, table.promotedName)
        .where(sql`promoted_name is not null and status <> 'archived'`),
      index('workflows_trigger_idx').using('gin', table.triggerKeys).with({ fastupdate: false }),
    ]
  },
)

/** The draft of each workflow: too large for its events, so it cannot be rebuilt from them. */
export const workflowDrafts = readModelTable('workflow_drafts', {})

/**
 * Standing grants that runs act with: of a version, or of one run that another user has retried. The latest row of each
 * counts. A row is deleted when its grant is revoked.
 */
export const versionGrants = readModelTable(
  'version_grants',
  {
    versionId: stateText('version_id', 'versionId'),
    runId: stateText('run_id', 'runId'),
    place: bigint('place', { mode: 'number' }).generatedAlwaysAsIdentity(),
  },
  (table) => [index('version_grants_version_idx').on(table.versionId, table.runId, table.place)],
)

/** Contract: read only by 0.2.0, which stores the grant of a version in its row. Triggers keep both consistent. */
export const revokedVersions = pgTable('revoked_versions', { versionId: text('version_id').primaryKey() })

/** Published versions, which are immutable; number 0: a draft as tested. */
export const workflowVersions = readModelTable(
  'workflow_versions',
  {
    workflowId: stateText('workflow_id', 'workflowId'),
    number: integer('number').generatedAlwaysAs(sql.raw(`(state->>'number')::integer`)),
    /** Keys of the events its steps may wait for: `workspace/environment/type or pattern`. */
    awaitedKeys: text('awaited_keys')
      .array()
      .generatedAlwaysAs(sql.raw(`texts_of(state::jsonb->'awaitedKeys')`)),
  },
  (table) => [
    index('workflow_versions_workflow_idx')
      .on(table.workspaceId, table.environment, table.workflowId, table.number, table.id)
      .where(sql`number > 0`),
    index('workflow_versions_tests_idx').on(table.workflowId).where(sql`number = 0`),
    index('workflow_versions_awaited_idx').using('gin', table.awaitedKeys).with({ fastupdate: false }),
  ],
)
