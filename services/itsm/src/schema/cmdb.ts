import { readModelTable, searchColumn, searchIndex, stateText } from '@opsplane/postgres'
import { isNotNull, sql } from 'drizzle-orm'
import { foreignKey, index, uniqueIndex } from 'drizzle-orm/pg-core'

/** Every index of a list starts with the tenant and ends with what the list is sorted by. */
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
    /** As JSON, so that a walk over thousands of items need not take each one's state apart. */
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
      // Finds text anywhere in a name, within the tenant (pg_trgm, btree_gin).
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
 * The ends are unique over all tenants, so what a graph walks on starts with them; the tenant is a condition of
 * every query all the same. The foreign keys are checked at commit: an item and its first relation cannot pass
 * each other by, and a rebuild may write them in any order.
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

/** The classes a workspace added, and what it made of the built-in ones. */
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

/** The incidents that count as open and are about an item, spelled as their index has it. */
export const openIncidentsText = `ci_id is not null and status in ('open', 'in_progress', 'on_hold')`
export const openIncidents = sql.raw(openIncidentsText)
