import { readModelTable, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { isNotNull, sql } from 'drizzle-orm'
import { foreignKey, index, uniqueIndex } from 'drizzle-orm/pg-core'

/** Every list index starts with the tenant and ends with the sort key of the list. */
export const configurationItems = readModelTable(
  'configuration_items',
  {
    name: stateText('name', 'name'),
    class: stateText('class', 'class'),
    status: stateText('status', 'status'),
    criticality: stateText('criticality', 'criticality'),
    owner: stateText('owner', 'owner'),
    supportGroup: stateText('support_group', 'supportGroup'),
    source: stateText('source', 'source'),
    nativeKey: stateText('native_key', 'nativeKey'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    /** JSON text in a separate column, so that a walk over thousands of items need not parse each item's state. */
    redundancy: stateText('redundancy', 'redundancy'),
    search: searchColumn('search', {
      names: ['name', 'nativeKey'],
      labels: ['class'],
      text: ['description'],
    }),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('configuration_items_source_key')
        .on(workspaceId, environment, table.source, table.nativeKey)
        .where(isNotNull(table.source)),
      index('configuration_items_created_idx').on(workspaceId, environment, createdAt, id),
      index('configuration_items_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('configuration_items_name_idx').on(workspaceId, environment, table.name, id),
      index('configuration_items_class_idx').on(workspaceId, environment, table.class, createdAt, id),
      index('configuration_items_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('configuration_items_criticality_idx').on(
        ...[workspaceId, environment, table.criticality, createdAt, id],
      ),
      index('configuration_items_owner_idx')
        .on(workspaceId, environment, table.owner, createdAt, id)
        .where(isNotNull(table.owner)),
      index('configuration_items_group_idx')
        .on(workspaceId, environment, table.supportGroup, createdAt, id)
        .where(isNotNull(table.supportGroup)),
      searchIndex('configuration_items_search_idx', workspaceId, table.search),
      // Finds a substring of a name within the tenant (pg_trgm, btree_gin).
      index('configuration_items_name_text_idx').using(
        'gin',
        workspaceId,
        environment,
        table.name.op('gin_trgm_ops'),
      ),
    ]
  },
)

/**
 * Item ids are unique across tenants, so the indexes for graph walks start with them. Every query still filters by
 * tenant. The foreign keys are checked at commit: deleting an item and adding its first relation cannot both succeed,
 * and a rebuild may write the rows in any order.
 */
export const ciRelations = readModelTable(
  'ci_relations',
  {
    sourceId: stateText('source_id', 'sourceId'),
    targetId: stateText('target_id', 'targetId'),
    type: stateText('type', 'type'),
  },
  (table) => [
    uniqueIndex('ci_relations_key').on(table.sourceId, table.type, table.targetId),
    index('ci_relations_target_idx').on(table.targetId, table.type),
    index('ci_relations_created_idx').on(table.workspaceId, table.environment, table.createdAt, table.id),
    index('ci_relations_type_idx').on(
      ...[table.workspaceId, table.environment, table.type, table.createdAt, table.id],
    ),
    foreignKey({
      name: 'ci_relations_source_fkey',
      columns: [table.sourceId],
      foreignColumns: [configurationItems.id],
    }),
    foreignKey({
      name: 'ci_relations_target_fkey',
      columns: [table.targetId],
      foreignColumns: [configurationItems.id],
    }),
  ],
)

/** The classes a workspace added, and its changes to built-in ones. */
export const ciClasses = readModelTable(
  'ci_classes',
  {
    name: stateText('name', 'name'),
    search: searchColumn('search', { names: ['name'], labels: ['label'] }),
  },
  (table) => [
    uniqueIndex('ci_classes_name_key').on(table.workspaceId, table.environment, table.name),
    searchIndex('ci_classes_search_idx', table.workspaceId, table.search),
  ],
)

/** Open incidents about an item. Must be spelled exactly as in the partial index. */
export const openIncidentsText = `ci_id is not null and status in ('open', 'in_progress', 'on_hold')`
export const openIncidents = sql.raw(openIncidentsText)
